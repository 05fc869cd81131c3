// SPDX-License-Identifier: MIT
// Where a function is defined, as text: its file or module, and its line.
import { showName } from "./labels.js";

const LONG = 48;

// Frames that are no code have "~" or nothing for a file.
function isFile(file) {
	return file !== "" && file !== "~";
}

function withLine(functions, f, file) {
	const line = functions.line[f];
	return showName(line > 0 ? `${file}:${line}` : file);
}

// The file as it was recorded, however names are shown.
export function filePlaceOf({ functions }, f) {
	const file = functions.files[functions.file[f]];
	return isFile(file) ? withLine(functions, f, file) : "";
}

export function placeOf({ data, modules, state }, f) {
	const { functions } = data;
	if (state.names !== "module") return filePlaceOf(data, f);
	const module = modules[functions.file[f]];
	return isFile(module) ? withLine(functions, f, module) : "";
}

// The same for a label: without the folders of a long path.
export function shortPlaceOf({ data, modules, state }, f) {
	const { functions } = data;
	const file = functions.files[functions.file[f]];
	if (!isFile(file)) return "";
	const short = file.length > LONG ? `…/${file.slice(file.lastIndexOf("/") + 1)}` : file;
	return withLine(functions, f, state.names === "module" ? modules[functions.file[f]] : short);
}
