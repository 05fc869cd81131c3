// SPDX-License-Identifier: MIT
// Intervals of changes, also with sides swapped.
"use strict";
const assert = require("node:assert/strict");
const { load } = require("./modules.js");
const { test } = require("./tap.js");

const about = (ends, wanted) => {
	assert.equal(ends.length, 2);
	ends.forEach((end, i) => assert.ok(Math.abs(end - wanted[i]) < 1e-9, `${ends} ${wanted}`));
};

// 100 -> 150, of which the factor lies between 1.3 and 1.8.
const family = { below: [20, -1, 60, 30], above: [30, -1, 5, 40] };

test("an interval of a ratio becomes that of its inverse when the sides are exchanged", async () => {
	const { intervalOf } = await load("interval_text.js");
	const { compare } = await load("format.js");
	about(intervalOf(family, 0, compare(100, 150, 1), { factor: 1 }), [30, 80]);
	about(intervalOf(family, 0, compare(150, 100, 1), { factor: 1, isSwapped: true }), [150 / 1.8 - 150, 150 / 1.3 - 150]);
	about(intervalOf(family, 0, compare(300, 100, 0.5), { factor: 0.5, isSwapped: true }), [150 / 1.65 - 150, 150 / 1.4 - 150]);
});

test("no ratio: no interval, new code, and at most all is gone", async () => {
	const { intervalOf } = await load("interval_text.js");
	const { compare } = await load("format.js");
	assert.equal(intervalOf(family, 1, compare(100, 150, 1), { factor: 1 }), null);
	about(intervalOf(family, 2, compare(50, 10, 1), { factor: 1 }), [-50, -35]);
	about(intervalOf(family, 3, compare(0, 50, 1), { factor: 1 }), [20, 90]);
	about(intervalOf(family, 3, compare(50, 0, 1), { factor: 1, isSwapped: true }), [-50, -20]);
	// Of something that may have been nothing there may be any multiple.
	assert.equal(intervalOf(family, 2, compare(10, 50, 1), { factor: 1, isSwapped: true }), null);
});

test("percentages from a thousand on are whole and grouped, in a headline as in a table", async () => {
	const { formatPart, formatPercentChange, formatShare } = await load("format.js");
	assert.deepEqual([formatShare(16.278), formatPart(16.278), formatPercentChange(16.278)], ["1,628 %", "+1,628 %", "+1,628 %"]);
	assert.deepEqual([formatShare(0.1628), formatPart(0.1628), formatPart(0.001628)], ["16.3 %", "+16.3 %", "+0.16 %"]);
});

test("a change by a factor of a hundred is a factor, as on the command line", async () => {
	const { compare, formatRatio } = await load("format.js");
	const textOf = (base, head) => formatRatio(compare(base, head, 1));
	assert.deepEqual([textOf(1, 656), textOf(1, 100), textOf(0, 5), textOf(0, 0)], ["656 x", "+9,900 %", "from 0", "–"]);
});

// tests/unit/test_base_str.c has the same values for the command line.
test("numbers are rounded as on the command line", async () => {
	const { formatShare, formatValue } = await load("format.js");
	for (const [value, unit, text] of [
		[1625e6, "ns", "1.62 s"], [112.5e6, "ns", "112 ms"], [999.6e6, "ns", "1.00 s"], [99.97e6, "ns", "100 ms"],
		[9.997e6, "ns", "10.0 ms"], [1.5, "ns", "2 ns"], [1.25 * 2 ** 40, "bytes", "1.25 TiB"], [5, "bytes", "5 B"],
		[0, "bytes", "0 B"], [2.375, "samples", "2.4"], [100.5, "samples", "100"], [1234567, "samples", "1,234,567"],
	]) assert.equal(formatValue(value, unit), text);
	assert.deepEqual([formatShare(0.06125), formatShare(9.997)], ["6.1 %", "1,000 %"]);
});

test("a change has its interval next to it; if ± would contain 0, its certain end", async () => {
	const { intervalText } = await load("interval_text.js"), { CHANGED, UNKNOWN } = await load("colors.js");
	const { compare } = await load("format.js");
	const textOf = (word, base, head, below, above) =>
		intervalText({ word: [word], below: [below], above: [above] }, 0, compare(base, head, 1), { factor: 1, unit: "ns" });
	assert.equal(textOf(CHANGED, 100e6, 150e6, 20e6, 30e6), "±30.0 ms");
	assert.equal(textOf(CHANGED, 100e6, 2100e6, 1354e6, 3781e6), "≥+646 ms");
	assert.equal(textOf(CHANGED, 5000e6, 4000e6, 2000e6, 900e6), "≤−100 ms");
	assert.equal(textOf(UNKNOWN, 100e6, 2100e6, 1354e6, 3781e6), "±3.78 s");
	assert.equal(textOf(CHANGED, 100e6, 150e6, -1, -1), "");
});

test("a scale that rounds to 1.00 is not shown", async () => {
	const { compare, formatPair, scaleHint } = await load("format.js");
	for (const [factor, isShown] of [[1, false], [1.0049, false], [0.9951, false], [1.0051, true], [0.9949, true]]) {
		assert.equal(scaleHint(factor, "window") !== "", isShown, `hint of ${factor}`);
		assert.equal(/expected/.test(formatPair(compare(1e9, 2e9, factor), "ns")), isShown, `pair of ${factor}`);
	}
	assert.doesNotMatch(formatPair(compare(0, 2e9, 2), "ns"), /expected/);
});
