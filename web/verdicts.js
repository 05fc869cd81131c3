// SPDX-License-Identifier: MIT
// The words of verdicts (cost_words.js) for the data of a page.
import { isHeap, oneWord, verdictOn, wordOfChange } from "./cost_words.js";
import { stateOf } from "./filters.js";
import { stateWord } from "./inferred.js";

// Word for a frame that is only on one side; "" for others. The function of such a path may be on
// both.
export function sideWord(data, { f, added, removed, wrapper }) {
	if (wrapper) return wrapper === "removed" ? "gone" : wrapper;
	if (!added && !removed) return "";
	const state = added ? "new" : "removed";
	if (stateOf(data, f) === state) return stateWord(data, f, state);
	const verb = isHeap(data.header) ? "held" : "recorded";
	return added ? `newly ${verb} here` : `no longer ${verb} here`;
}

// Word for a path that changed as its function certainly did, without being certain by itself.
export function sumWord({ header }, delta, side) {
	const word = side || oneWord(header, verdictOn(delta));
	return `${word}, certain only together with its other paths`;
}

// Word for a verdict on a change.
export const changeWord = ({ header }, word, delta, side) =>
	wordOfChange(header, word, delta, side);

// Words for a function: whether it is new or gone, and whether its cost is unsure.
export function functionWord(data, f, word, delta) {
	const state = stateOf(data, f);
	return changeWord(data, word, delta,
		state === "new" || state === "removed" ? stateWord(data, f, state) : "");
}
