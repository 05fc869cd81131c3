// SPDX-License-Identifier: MIT
// Removed lines beside the new lines that replaced them.
"use strict";
const assert = require("node:assert/strict");
const { load } = require("./modules.js");
const { test } = require("./tap.js");

test("a removed line is beside a similar new line, never beside an unrelated one", async () => {
	const { replacedPairs } = await load("line_pairs.js");
	const pairs = (gone, added) => replacedPairs(gone, added).map(([i, j]) => [gone[i], added[j]]);
	assert.deepEqual(pairs(["total += parse(line)"], ["if not line:", "continue", "total += parse_fast(line)"]),
		[["total += parse(line)", "total += parse_fast(line)"]]);
	assert.deepEqual(pairs(["return total"], ["for total in items:"]), []);
	// A line without words resembles none.
	assert.deepEqual(pairs([")", ""], ["])", ""]), []);
	assert.deepEqual(pairs([], ["a"]), []);
});

test("pairs of replaced lines keep the order of both versions, and the most similar ones win", async () => {
	const { replacedPairs } = await load("line_pairs.js");
	assert.deepEqual(replacedPairs(["open(a)", "close(a)"], ["close(a, b)", "open(a, b)"]).length, 1);
	assert.deepEqual(replacedPairs(["x = read(a)"], ["x = 1", "x = read(a, b)"]), [[0, 1]]);
	assert.deepEqual(replacedPairs(Array(300).fill("a"), Array(300).fill("a")), []);
});
