// SPDX-License-Identifier: MIT
// Marks of lines (marks.js) as decorations in the open editors.
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

// Editors have no hatching: unsure marks are grey, and their text has a question mark.
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

// Path relative to its workspace folder; "" outside of all.
function insideOf(uri) {
	return vscode.workspace.getWorkspaceFolder(uri) ? vscode.workspace.asRelativePath(uri, false) : "";
}

// {marks, why} of a document; why: the reason why a file of the recording has none.
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
	// The text is shown after the first line.
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

	// report: a report of lines, or null to clear.
	show(report) {
		this.report = report;
		this.paintAll();
	}

	// Paint all visible editors, or those of one document.
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
