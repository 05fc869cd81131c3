// SPDX-License-Identifier: MIT
// Placeholder functions for folded frames (folds.js), numbered after the page's own functions.
const OTHER = 3; // src/profile/origin.h

// Names of the placeholder functions, in this order after the page's functions.
const foldNames = ["not sampled again", "not sampled before", "finding modules",
	"interpreter start-up"];
export const AGAIN = 0;
export const BEFORE = 1;
export const FINDING = 2;
export const STARTUP = 3;

// For each: the switch that folds it, and why.
export const foldWords = [
	["noise",
		"Paths sampled before but not after; none of them is certainly gone"],
	["noise",
		"Paths sampled after but not before; none of them is certainly new"],
	["imports", "Python finding and loading modules, without the modules' own code"],
	["imports", "Python starting up, before the program runs"],
];

// Index in foldNames of a function of a shown tree; -1: it is one of the page's.
export function foldOf({ functions }, f) {
	return f - functions.n >= 0 ? f - functions.n : -1;
}

// Append entries for them to those of the functions; `n` remains the page's number.
export function addFolds(functions) {
	const more = (values, value) => {
		const out = new values.constructor(functions.n + foldNames.length).fill(value);
		out.set(values);
		return out;
	};
	return {
		...functions, names: [...functions.names, ...foldNames], files: [...functions.files, ""],
		file: more(functions.file, functions.files.length), line: more(functions.line, 0),
		kind: more(functions.kind, 0),
		origin: more(functions.origin, OTHER), presence: more(functions.presence, 0),
		source: functions.source.map((side) => more(side, 0)),
	};
}
