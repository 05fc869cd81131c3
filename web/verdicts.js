// SPDX-License-Identifier: MIT
// The words for what is known of a change, the same wherever they stand: slower, faster, same,
// unsure; of what only one side has new, newly called, gone, no longer called.
import { CHANGED, UNKNOWN } from "./colors.js";
import { stateOf } from "./filters.js";
import { stateWord } from "./inferred.js";

// Of a verdict and the change that it is about.
export function changeWord(word, delta) {
	return word === CHANGED ? (delta > 0 ? "slower" : delta < 0 ? "faster" : "same") :
		word === UNKNOWN ? "unsure" : "same";
}

// Of a function: whether it is new or gone, and if its cost cannot be told, that.
export function functionWord(data, f, word, delta) {
	const state = stateOf(data, f);
	if (state !== "new" && state !== "removed") return changeWord(word, delta);
	return `${stateWord(data, f, state)}${word === UNKNOWN ? ", unsure" : ""}`;
}
