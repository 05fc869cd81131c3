// SPDX-License-Identifier: MIT
// Marks of lines (marks.js) as decorations of the editors that are open.
"use strict";
const fs = require("node:fs");
const vscode = require("vscode");
const { colors, wash } = require("./colors.js");
const { marksOf } = require("./marks.js");
const { findFile, obstacle } = require("./places.js");

const alpha = (percent) => Math.round(percent * 2.55).toString(16).padStart(2, "0");

function decoration(pair, washes) {
	const [light, dark] = pair, [lightWash, darkWash] = washes;
	const side = (color, percent) => ({ backgroundColor: color + alpha(percent), overviewRulerColor: color });
	return vscode.window.createTextEditorDecorationType({
		isWholeLine: true, overviewRulerLane: vscode.OverviewRulerLane.Right,
		rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
		light: side(light, lightWash), dark: side(dark, darkWash),
	});
}

// Hatching is not to be had in an editor: what is unsure is grey, and its text has a question mark.
function allDecorations() {
	const { hatch, ...kinds } = colors;
	const made = new Map();
	for (const [kind, pair] of Object.entries(kinds)) made.set(kind, decoration(pair, wash));
	return made.set("unsure", decoration(hatch, [16, 16]))
		.set("note", vscode.window.createTextEditorDecorationType({ isWholeLine: true }));
}

function linked(path) {
	try {
		return fs.realpathSync(path);
	} catch {
		return path;
	}
}

function modifiedAt(document) {
	if (document.isDirty) return NaN;
	try {
		return fs.statSync(document.uri.fsPath).mtimeMs / 1000;
	} catch {
		return NaN;
	}
}

// Below its workspace folder; "" outside of all.
function insideOf(uri) {
	return vscode.workspace.getWorkspaceFolder(uri) ? vscode.workspace.asRelativePath(uri, false) : "";
}

// {marks, why} of a document: why there are none, where the recording knows the file.
function marksOfDocument(report, document, cost) {
	if (document.uri.scheme !== "file") return { marks: [], why: "" };
	const path = document.uri.fsPath;
	const found = findFile(report, [path, linked(path)], insideOf(document.uri));
	if (!found) return { marks: [], why: "" };
	const textOf = (number) => (number <= document.lineCount ? document.lineAt(number - 1).text : undefined);
	const why = obstacle(report, found, textOf, modifiedAt(document));
	return { marks: why ? [] : marksOf(report, found.file, cost), why };
}

function optionOf(document, { line, lines, text, hover }) {
	const first = Math.min(line, document.lineCount) - 1;
	const last = Math.min(first + lines, document.lineCount) - 1;
	const after = (contentText) => ({ after: {
		contentText, margin: "0 0 0 3ch", color: new vscode.ThemeColor("editor.foreground"), fontStyle: "italic",
	} });
	// A text stands behind the first of its lines.
	/** @type {vscode.DecorationOptions[]} */
	const options = [{
		range: document.lineAt(first).range, hoverMessage: hover, renderOptions: after(text),
	}];
	if (last > first)
		options.push({ range: new vscode.Range(first + 1, 0, last, document.lineAt(last).text.length), hoverMessage: hover });
	return options;
}

class Painter {
	constructor() {
		this.decorations = allDecorations();
		this.report = null;
	}

	// A report of lines, or null for none.
	show(report) {
		this.report = report;
		this.paintAll();
	}

	// What is visible; of one document if it is named.
	paintAll(document = null) {
		for (const editor of vscode.window.visibleTextEditors)
			if (!document || editor.document === document) this.paint(editor);
	}

	paint(editor) {
		const { document } = editor;
		const cost = vscode.workspace.getConfiguration("fizeau", document.uri).get("cost");
		const { marks, why } = this.report ? marksOfDocument(this.report, document, cost) : { marks: [], why: "" };
		const all = why ? [{ kind: "note", line: 1, lines: 1, text: `Fizeau: ${why}`, hover: "" }] : marks;
		for (const [kind, type] of this.decorations)
			editor.setDecorations(type, all.filter((mark) => mark.kind === kind).flatMap((mark) => optionOf(document, mark)));
	}

	dispose() {
		this.decorations.forEach((type) => type.dispose());
	}
}

module.exports = { Painter };
