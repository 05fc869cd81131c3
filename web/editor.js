// SPDX-License-Identifier: MIT
// Links that open a place in the reader's editor. Text from a profile is encoded, and a custom
// scheme must not run or fetch anything in the browser.
const TEMPLATE = "fizeau-editor", FOLDER = "fizeau-folder";

// {path} is absolute, and encoded except for its slashes.
export const editors = [
	["vscode", "VS Code", "vscode://file{path}:{line}"],
	["idea", "JetBrains", "idea://open?file={path}&line={line}"],
	["txmt", "TextMate", "txmt://open?url=file://{path}&line={line}"],
];

const refused = /^(?:javascript|data|blob|file|https?|ftp|about|view-source):/i;

// Why the reader's template is invalid; "" if it is valid.
export function faultOf(template) {
	if (!/^[a-z][a-z0-9+.-]*:/i.test(template))
		return "The link must start with a scheme, such as editor://…";
	if (refused.test(template)) return "This scheme cannot open an editor.";
	return template.includes("{path}") ? "" :
		"The link must contain {path}; {line} is the line number.";
}

export function uriOf(template, path, line) {
	const encoded = path.split("/").map(encodeURIComponent).join("/");
	return template.replaceAll("{path}", () => encoded)
		.replaceAll("{line}", String(line > 0 ? line : 1));
}

const isAbsolute = (path) => /^(?:\/|[A-Za-z]:)/.test(path);

// Absolute path of a file. In a comparison, file names are relative to the program's folder, which
// the reader must enter.
export function placeIn(folder, path) {
	if (isAbsolute(path)) return path;
	return isAbsolute(folder) ? `${folder.replace(/\/+$/, "")}/${path}` : null;
}

// The choices; without storage, as in some pages from disk, they last as long as the page.
const chosen = new Map();

function read(key) {
	if (chosen.has(key)) return chosen.get(key);
	try {
		return localStorage.getItem(key) ?? "";
	} catch {
		return "";
	}
}

function write(key, value) {
	chosen.set(key, value);
	try {
		localStorage.setItem(key, value);
	} catch {
		// See above.
	}
}

// {template, folder}, each "" if not chosen.
export function chosenEditor() {
	const template = read(TEMPLATE);
	return { template: faultOf(template) ? "" : template, folder: read(FOLDER) };
}

export function chooseEditor(template, folder) {
	write(TEMPLATE, template);
	write(FOLDER, folder);
}
