// SPDX-License-Identifier: MIT
// Fizeau in Visual Studio Code: commands, the editor for recordings, and the report that is shown.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");
const { Painter } = require("./lib/paint.js");
const { placeOf, withHost } = require("./lib/page.js");
const { findHere } = require("./lib/places.js");
const fizeau = require("./lib/program.js");

const VIEW = "fizeau.recording";

const setting = (name, scope) => vscode.workspace.getConfiguration("fizeau", scope).get(name);
const program = () => setting("program");

// The folder whose store of recordings is used: the workspace folder of the active editor.
function folderOf(uri = vscode.window.activeTextEditor?.document.uri) {
	const folders = vscode.workspace.workspaceFolders ?? [];
	const folder = (uri && vscode.workspace.getWorkspaceFolder(uri)) ?? folders[0];
	return folder?.uri.fsPath ?? (uri?.scheme === "file" ? path.dirname(uri.fsPath) : undefined);
}

// Run a command; an error becomes a message that says what to do.
async function reportErrors(action) {
	try {
		return await action();
	} catch (error) {
		if (!(error instanceof fizeau.ProgramError)) throw error;
		const settings = "Open Settings";
		const chosen = await vscode.window.showErrorMessage(`Fizeau: ${error.message}`, ...(error.notFound ? [settings] : []));
		if (chosen === settings) await vscode.commands.executeCommand("workbench.action.openSettings", "fizeau.program");
		return undefined;
	}
}

const busy = (title, task) =>
	vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: `Fizeau: ${title}` }, task);

// ---- which recording ----

async function chooseFile() {
	const [uri] = await vscode.window.showOpenDialog({
		title: "Open Recording", filters: { Recordings: ["fz"], "All files": ["*"] },
	}) ?? [];
	return uri && recordingOf(uri);
}

// {file, label}
function recordingOf(uri) {
	return { file: uri.fsPath, label: path.basename(uri.fsPath) };
}

// "@1" names another recording after the next run, so keep the file, and the time for its label.
async function storedOne({ name, about }, cwd) {
	return { file: await fizeau.fileOf(program(), name, cwd), label: about.split("  ")[0] };
}

// Let the user choose a recording of the store, or a file; without a store, directly a file.
async function choose(placeHolder) {
	const cwd = folderOf();
	const stored = cwd ? await fizeau.list(program(), cwd) : [];
	if (!stored.length) return chooseFile();
	const file = { label: "$(folder-opened) A file…", description: "" };
	/** @type {vscode.QuickPickItem[]} */
	const items = [...stored.map(({ name, about }) => ({ label: name, description: about })), file];
	const item = await vscode.window.showQuickPick(items, { placeHolder, matchOnDescription: true });
	if (item === file) return chooseFile();
	return item && storedOne(stored[items.indexOf(item)], cwd);
}

// ---- what is shown ----

class Shown {
	constructor() {
		this.painter = new Painter();
		this.status = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left);
		this.status.name = "Fizeau";
		this.recording = null;
	}

	set(report, recording, { text, tooltip, alarm = false }) {
		this.recording = recording;
		this.status.text = text;
		this.status.tooltip = tooltip;
		this.status.command = "fizeau.hide";
		this.status.backgroundColor = alarm ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
		this.status.show();
		this.painter.show(report);
		vscode.commands.executeCommand("setContext", "fizeau.shown", true);
	}

	hide() {
		this.recording = null;
		this.painter.show(null);
		this.status.hide();
		vscode.commands.executeCommand("setContext", "fizeau.shown", false);
	}

	dispose() {
		this.painter.dispose();
		this.status.dispose();
	}
}

function showReport(shown, report, recording) {
	const { samples, calls, facts } = report.head;
	const counted = calls === undefined ? `${samples} samples` : `${calls} calls`;
	shown.set(report, recording, {
		text: `$(flame) ${recording.label}`,
		tooltip: `Heat of ${facts.command ?? recording.label}: ${counted} of ${report.metric}. Click to hide.`,
	});
}

async function showHeat(shown, recording) {
	showReport(shown, await busy("reading", () => fizeau.lines(program(), recording.file)), recording);
}

const icons = { slower: "$(arrow-up)", faster: "$(arrow-down)", same: "$(check)", unknown: "$(question)" };

async function showChange(shown, base, head) {
	const { report, regressed } = await busy("comparing", () => fizeau.diffLines(program(), base.file, head.file));
	const { verdict, warnings } = report;
	shown.set(report, head, {
		text: `${icons[verdict.word] ?? ""} ${verdict.text}`,
		tooltip: [
			`${base.label} → ${head.label}: ${verdict.text}`, verdict.power, ...verdict.notes, ...warnings,
			regressed ? "'fizeau diff --fail-on regression' fails (status 1)." :
				"'fizeau diff --fail-on regression' passes (status 0).",
			"Click to hide.",
		].filter(Boolean).join("\n"),
		alarm: regressed,
	});
}

// ---- commands ----

async function openRecording() {
	const recording = await choose("Recording to open");
	if (!recording) return;
	await vscode.commands.executeCommand("vscode.openWith", vscode.Uri.file(recording.file), VIEW);
}

async function heat(shown, uri) {
	const recording = uri ? recordingOf(uri) : await choose("Recording to show");
	if (recording) await showHeat(shown, recording);
}

// Two selected files are compared in the order of their modification times.
async function compare(shown, uri, uris = []) {
	if (uris.length === 2) {
		const made = (u) => fs.statSync(u.fsPath).mtimeMs;
		const [base, head] = [...uris].sort((a, b) => made(a) - made(b)).map(recordingOf);
		await showChange(shown, base, head);
		return;
	}
	const head = uri ? recordingOf(uri) : shown.recording ?? await choose("Newer recording to compare");
	const base = head && await choose(`Earlier recording to compare ${head.label} with`);
	if (base) await showChange(shown, base, head);
}

// Resolves when the task ends; its terminal stays open with the program's output.
async function runTask(task) {
	const over = new Set();
	let wake = () => {};
	const listener = vscode.tasks.onDidEndTask(({ execution }) => {
		over.add(execution);
		wake();
	});
	try {
		const execution = await vscode.tasks.executeTask(task);
		while (!over.has(execution)) await new Promise((resolve) => {
			wake = () => resolve(undefined);
		});
	} finally {
		listener.dispose();
	}
}

async function record(shown) {
	const document = vscode.window.activeTextEditor?.document;
	if (document?.uri.scheme !== "file") throw new fizeau.ProgramError("Open the file to record first.");
	if (document.isDirty) await document.save();
	const cwd = folderOf(document.uri), file = document.uri.fsPath;
	const args = setting("run", document.uri).map((word) => word.replaceAll("${file}", () => file));
	await fizeau.run(program(), ["--version"], cwd); // gives a better error than a task if the program is missing
	const began = Date.now() / 1000;
	const task = new vscode.Task({ type: "fizeau" }, vscode.TaskScope.Workspace, `run ${path.basename(file)}`, "fizeau",
		new vscode.ProcessExecution(program(), ["run", ...args], { cwd }));
	await runTask(task);
	const [latest] = await fizeau.list(program(), cwd);
	const made = latest && await storedOne(latest, cwd);
	const report = made && await fizeau.lines(program(), made.file);
	if (!(report?.head.started >= began - 1)) // an earlier run's
		throw new fizeau.ProgramError("Nothing was recorded; see the terminal.");
	showReport(shown, report, made);
}

// ---- the page ----

const isFile = (name) => {
	try {
		return fs.statSync(name).isFile();
	} catch {
		return false;
	}
};

async function goTo({ path: recorded, line }) {
	const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
	const found = findHere(recorded, folders, isFile);
	if (!found) throw new fizeau.ProgramError(`'${recorded}' not found. Open the folder that contained the program.`);
	const at = new vscode.Position(line - 1, 0);
	const editor = await vscode.window.showTextDocument(vscode.Uri.file(found), {
		viewColumn: vscode.ViewColumn.Beside, selection: new vscode.Range(at, at),
	});
	editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenter);
}

const { ColorThemeKind } = vscode;
const isDark = () => [ColorThemeKind.Dark, ColorThemeKind.HighContrast].includes(vscode.window.activeColorTheme.kind);

const recordings = {
	openCustomDocument: (uri) => ({ uri, dispose() {} }),

	async resolveCustomEditor({ uri }, panel) {
		panel.webview.options = { enableScripts: true, localResourceRoots: [] };
		panel.webview.onDidReceiveMessage((message) => reportErrors(async () => {
			const place = placeOf(message);
			if (place) await goTo(place);
		}));
		await reportErrors(async () => {
			const [html, report] = await busy("drawing", () =>
				Promise.all([fizeau.page(program(), uri.fsPath), fizeau.lines(program(), uri.fsPath)]));
			panel.webview.html = withHost(html, {
				folder: report.head.facts.cwd ?? "", theme: isDark() ? "dark" : "light",
			});
		});
	},
};

function activate(context) {
	const shown = new Shown();
	const command = (name, action) =>
		vscode.commands.registerCommand(`fizeau.${name}`, (...args) => reportErrors(() => action(...args)));
	context.subscriptions.push(shown,
		command("open", openRecording),
		command("heat", (uri) => heat(shown, uri)),
		command("compare", (uri, uris) => compare(shown, uri, uris)),
		command("record", () => record(shown)),
		command("hide", () => shown.hide()),
		vscode.window.registerCustomEditorProvider(VIEW, recordings, { webviewOptions: { retainContextWhenHidden: true } }),
		vscode.window.onDidChangeVisibleTextEditors(() => shown.painter.paintAll()),
		vscode.workspace.onDidChangeTextDocument(({ document }) => shown.painter.paintAll(document)),
		vscode.workspace.onDidChangeConfiguration((event) =>
			event.affectsConfiguration("fizeau.cost") && shown.painter.paintAll()));
}

module.exports = { activate };
