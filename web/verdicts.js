// SPDX-License-Identifier: MIT
// The words of verdicts (cost_words.js) for the data of a page.
import { oneWord, verdictOn, wordOfChange, wordOfFunction } from "./cost_words.js";
import { stateOf } from "./filters.js";

// Word for a path that changed as its function certainly did, without being certain by itself.
export function sumWord({ header }, delta) {
	return `${oneWord(header, verdictOn(delta))}, certain only together with its other paths`;
}

// Word for a verdict on a change.
export const changeWord = ({ header }, word, delta) => wordOfChange(header, word, delta);

// Words for a function: whether it is new or gone, and whether its cost is unsure.
export const functionWord = (data, f, word, delta) => wordOfFunction(data.header,
	{ state: stateOf(data, f), presence: data.functions.presence?.[f] ?? 0 }, word, delta);
