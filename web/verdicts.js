// SPDX-License-Identifier: MIT
// The words of verdicts, the same everywhere: slower, faster (larger, smaller for bytes;
// cost_words.js), same, unsure; for code on one side only: new, newly called, gone, no longer
// called.
import { CHANGED, UNKNOWN } from "./colors.js";
import { oneWord, verdictOn } from "./cost_words.js";
import { stateOf } from "./filters.js";
import { stateWord } from "./inferred.js";

// Word for a path that changed as its function certainly did, without being certain by itself.
export function sumWord({ header }, delta) {
	return `${oneWord(header, verdictOn(delta))}, certain only together with its other paths`;
}

// Word for a verdict on a change.
export function changeWord({ header }, word, delta) {
	if (word === CHANGED && delta !== 0) return oneWord(header, verdictOn(delta));
	return word === UNKNOWN ? "unsure" : "same";
}

// Words for a function: whether it is new or gone, and whether its cost is unsure.
export function functionWord(data, f, word, delta) {
	const state = stateOf(data, f);
	if (state !== "new" && state !== "removed") return changeWord(data, word, delta);
	return `${stateWord(data, f, state)}${word === UNKNOWN ? ", unsure" : ""}`;
}
