// SPDX-License-Identifier: MIT
// Where a function is defined, as text: its file or module, and its line.
import { showName } from "./labels.js";

const LONG = 48;

// Frames that are not code have "~" or no file.
export function isFile(file) {
	return file !== "" && file !== "~";
}

function withLine(functions, f, file) {
	const line = functions.line[f];
	return showName(line > 0 ? `${file}:${line}` : file);
}

// The recorded file, independent of how names are shown.
export function filePlaceOf({ functions }, f) {
	const file = functions.files[functions.file[f]];
	return isFile(file) ? withLine(functions, f, file) : "";
}

// The path relative to the folder of a single recording, as in a comparison.
export function fromFolder({ header }, file) {
	const folder = header.kind === "profile" &&
		header.head?.facts?.find(([key]) => key === "cwd")?.[1].replace(/\/*$/, "/");
	return folder && file.startsWith(folder) ? file.slice(folder.length) : file;
}

export function placeOf({ data, modules, state }, f) {
	const { functions } = data;
	const file = functions.files[functions.file[f]];
	if (state.names !== "module")
		return isFile(file) ? withLine(functions, f, fromFolder(data, file)) : "";
	const module = modules[functions.file[f]];
	return isFile(module) ? withLine(functions, f, module) : "";
}

// The same for a label: a long path without its folders, except that of __init__.py.
export function shortPlaceOf({ data, modules, state }, f) {
	const { functions } = data;
	const file = functions.files[functions.file[f]];
	if (!isFile(file)) return "";
	if (state.names === "module") return withLine(functions, f, modules[functions.file[f]]);
	const name = fromFolder(data, file);
	return withLine(functions, f,
		name.length > LONG ? `…/${/(?:[^/]*\/__(?:init|main)__\.py|[^/]*)$/.exec(name)[0]}` : name);
}
