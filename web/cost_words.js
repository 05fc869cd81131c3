// SPDX-License-Identifier: MIT
// Words for a cost that grew or shrank, the same everywhere: slower and faster for time, larger and
// smaller for bytes; same, unsure; for code on one side only: new, newly recorded, gone, no
// longer recorded. The page's header and a diff's JSON have the words of their metric for the
// verdicts "slower" and "faster" (src/profile/cost_words.h); other verdicts are used as they are.
import { CHANGED, UNKNOWN } from "./colors.js";
import { formatCount } from "./format.js";

// What frames are: functions or, in the heap of a process, types and what holds their objects.
const frameWords = {
	code: {
		one: "function", many: "functions", above: "callers", below: "callees",
		sandwich: "Sandwich", leaf: "leaf functions", path: "call path",
	},
	heap: {
		one: "type or holder", many: "types and holders", above: "holders", below: "objects held",
		sandwich: "Holders", leaf: "objects", path: "path",
	},
};

export const isHeap = ({ head: { facts } }) =>
	facts.some(([key, value]) => key === "clock" && value === "heap");

export const wordsOfFrames = (header) => frameWords[isHeap(header) ? "heap" : "code"];

// "1 function", "2 more functions".
export function countFrames(header, n, more = "") {
	const { one, many } = wordsOfFrames(header);
	return `${formatCount(n)} ${more}${n === 1 ? one : many}`;
}

// For one: "slower", "larger", "more".
export const oneWord = (header, verdict) => header?.words?.[verdict]?.one ?? verdict;

// After a number: "2 slower", "2 with more".
export const manyWord = (header, verdict) => header?.words?.[verdict]?.many ?? verdict;

// The noun after "own": "own time", "own bytes", "own instructions".
export const noun = (header) => header?.noun ?? "time";

// The verdict for a changed cost.
export const verdictOn = (delta) => (delta > 0 ? "slower" : "faster");

// Word for a verdict on a change; `side`: what is only on one side is called this instead.
export function wordOfChange(header, word, delta, side = "") {
	if (side) return `${side}${word === UNKNOWN ? ", unsure" : ""}`;
	if (word === CHANGED && delta !== 0) return oneWord(header, verdictOn(delta));
	return word === UNKNOWN ? "unsure" : "same";
}

// Words for a function that only one side recorded, if it is unknown whether the other side's code
// has it, if not, and if so.
const stateWords = {
	new: ["new or newly recorded", "new", "newly recorded"],
	removed: ["gone or no longer recorded", "gone", "no longer recorded"],
};
export const wordOfState = (state, presence) => stateWords[state][presence];

// The same in place of a percentage: the word only if it is known.
export function ratioOfState(state, presence) {
	return presence === 1 ? stateWords[state][1] : state === "new" ? "from 0" : "to 0";
}
