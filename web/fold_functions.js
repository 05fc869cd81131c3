// SPDX-License-Identifier: MIT
// Functions that no program has: what frames are of into which others were folded (folds.js). They
// stand behind those of the page.
const OTHER = 3; // src/profile/origin.h

// What stands for what was folded: the functions behind those of the page, in this order.
export const foldNames = ["not sampled again", "not sampled before", "finding modules",
	"interpreter start-up"];
export const AGAIN = 0;
export const BEFORE = 1;
export const FINDING = 2;
export const STARTUP = 3;

// Which switch folds it, and why.
export const foldWords = [
	["noise",
		"Paths that had samples before and have none now: of none is it certain that it is gone"],
	["noise",
		"Paths that have samples now and had none before: of none is it certain that it is new"],
	["imports", "What Python does to find and load modules, without the modules' own code"],
	["imports", "What Python does before the program runs"],
];

// Which of foldNames a function of a shown tree is; -1: it is one of the page.
export function foldOf({ functions }, f) {
	return f - functions.n >= 0 ? f - functions.n : -1;
}

// Entries for them behind those of the functions; `n` stays that of the page.
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
