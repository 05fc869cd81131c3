// SPDX-License-Identifier: MIT
// Which file of a recording a document is, and whether its text is still the same.
"use strict";
const path = require("node:path");

// The absolute path of a recorded file, "" if unknown; relative ones are below the program's folder.
function recordedPath(file, cwd) {
	if (path.isAbsolute(file)) return path.normalize(file);
	return cwd && file && !file.startsWith("<") ? path.join(cwd, file) : "";
}

const cwdOf = (report) => report.head.facts.cwd ?? "";

// {file, moved} of a document, or null. `paths`: its paths here, with links resolved and not; `inside`:
// its path in its workspace folder, "" if in none. A moved workspace is matched by that path, unless
// several files end with it.
function findFile(report, paths, inside) {
	const cwd = cwdOf(report);
	const exact = report.files.find((file) => paths.includes(recordedPath(file.file, cwd)));
	if (exact) return { file: exact, moved: false };
	if (!inside) return null;
	const alike = report.files.filter((file) => recordedPath(file.file, cwd).endsWith(`/${inside}`));
	return alike.length === 1 ? { file: alike[0], moved: true } : null;
}

// The inverse: where a recorded path is in these folders, by the longest suffix that `exists`.
function findHere(recorded, folders, exists) {
	if (path.isAbsolute(recorded) && exists(recorded)) return recorded;
	const parts = recorded.split("/").filter(Boolean);
	for (let i = 0; i < parts.length; i++) {
		const found = folders.map((folder) => path.join(folder, ...parts.slice(i))).filter(exists);
		if (found.length) return found.length === 1 ? found[0] : null;
	}
	return null;
}

// Lines whose text was recorded: [number from 1, text].
function* recordedTexts(file) {
	for (const line of file.lines ?? []) if (line.text !== undefined) yield [line.line, line.text];
	for (const place of file.places ?? [])
		for (let i = 0; i < place.text.length; i++) yield [place.line + i, place.text[i]];
}

const bare = (text) => text.replace(/^\uFEFF/, "").replace(/\r$/, "");

// Why a document's lines cannot be coloured; "" if they can. `textOf(number)` returns a line of it or
// undefined, `modified` is when its file was last written (seconds, NaN: unsaved).
function obstacle(report, { file, moved }, textOf, modified) {
	if (file.aligned === false) return "its text was not recorded on both sides, so lines cannot be compared";
	let any = false;
	for (const [number, text] of recordedTexts(file)) {
		any = true;
		const here = textOf(number);
		if (here === undefined || bare(here) !== bare(text)) return "changed since it was recorded";
	}
	// Text is recorded for every line that ran, or for none.
	if (any) return (file.lines ?? []).some((line) => line.text === undefined) ? "changed while it was recorded" : "";
	if (file.places) return "";
	if (moved) return "its text was not recorded, so it may be another file of that name";
	const { started } = report.head;
	if (started === undefined) return "its text was not recorded, so it may have changed";
	return modified < started ? "" : "changed since it was recorded";
}

module.exports = { cwdOf, findFile, findHere, obstacle, recordedPath };
