// SPDX-License-Identifier: MIT
// Bars of the flame chart from runs, without a page.
"use strict";
const assert = require("node:assert/strict");
const { load } = require("./modules.js");
const { test } = require("./tap.js");

// 0 all: 1 main (2 work (3 read), 4 rest)
const place = {
	depth: [0, 1, 2, 3, 2], parent: [-1, 0, 1, 2, 1], nodeOf: (node) => node, isShown: () => true, sharedDepth: (node) => node,
};
// [from, length, node] of one thread on one level of 100 cells.
function runsOf(list) {
	const column = (k) => Uint32Array.from(list, (run) => run[k]), none = new Uint32Array(list.length);
	return { levels: [100], threads: 1, first: Uint32Array.of(0, list.length), from: column(0), length: column(1), node: column(2), mixed: none, more: none };
}

test("a call is one bar across missed samples, and ends at a longer gap or with another stack", async () => {
	const { eachBar, extentOf } = await load("chart_data.js");
	const runs = runsOf([[0, 10, 3], [12, 8, 3], [22, 8, 4], [50, 5, 4]]);
	const barsOf = (bridge) => {
		const bars = [];
		eachBar(runs, 0, 0, [0, 100], place, { bar: ({ node, from, to }) => bars.push([node, from, to]), more: () => {}, bridge });
		return bars.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
	};
	assert.deepEqual(barsOf(5), [[1, 0, 30], [1, 50, 55], [2, 0, 20], [3, 0, 20], [4, 22, 30], [4, 50, 55]]);
	assert.deepEqual(barsOf(0), [[1, 0, 10], [1, 12, 20], [1, 22, 30], [1, 50, 55], [2, 0, 10], [2, 12, 20], [3, 0, 10], [3, 12, 20], [4, 22, 30], [4, 50, 55]]);
	assert.deepEqual(extentOf(runs, 0, 0, { row: 0, node: 1, from: 12 }, place, 5), [0, 30]);
	assert.deepEqual(extentOf(runs, 0, 0, { row: 2, node: 3, from: 0 }, place, 5), [0, 20]);
	assert.deepEqual(extentOf(runs, 0, 0, { row: 2, node: 3, from: 0 }, place), [0, 10]);
});

test("ticks of an axis have one unit, and as many digits as tell them apart", async () => {
	const { ticksOf } = await load("format.js");
	const labels = (from, to, wanted) => ticksOf(from, to, wanted).map(({ text }) => text);
	assert.deepEqual(labels(0, 481e6, 90e6), ["0 ms", "100 ms", "200 ms", "300 ms", "400 ms"]);
	assert.deepEqual(labels(0, 1.01e9, 0.1e9).slice(0, 3), ["0 s", "0.1 s", "0.2 s"]);
	assert.deepEqual(labels(0, 2.3e9, 0.4e9), ["0 s", "0.5 s", "1.0 s", "1.5 s", "2.0 s"]);
	assert.deepEqual(labels(1.2e9, 1.2e9 + 3e6, 1e6), ["1.200 s", "1.201 s", "1.202 s", "1.203 s"]);
	assert.deepEqual(labels(0, 0, 0), ["0 ns"]);
	assert.ok(labels(9e18, 9e18, 1).length <= 1, "an instant that is no whole number of steps");
});
