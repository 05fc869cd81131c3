// SPDX-License-Identifier: MIT
// Windows moved by hand, without a page.
"use strict";
const assert = require("node:assert/strict");
const { load } = require("./modules.js");
const { test } = require("./tap.js");

// 0 all 100: 1 main 100 (2 a 60 (3 b 60), 4 c 40)
const picture = { all: 100, w: [100, 100, 60, 60, 40], tree: { n: 5, parent: [-1, 0, 1, 2, 1], end: [5, 5, 4, 4, 5] } };

test("a zoomed window keeps what is below the pointer, and stays inside", async () => {
	const { zoomed, panned } = await load("window.js");
	assert.deepEqual(zoomed({ left: 0, span: 100 }, 100, 0.25, 2), { left: 12.5, span: 50 });
	assert.deepEqual(zoomed({ left: 12.5, span: 50 }, 100, 0.25, 0.5), { left: 0, span: 100 });
	assert.deepEqual(zoomed({ left: 80, span: 20 }, 100, 0, 0.5), { left: 60, span: 40 });
	assert.ok(zoomed({ left: 0, span: 1e-6 }, 100, 0, 1e9).span > 0);
	assert.deepEqual(panned({ left: 10, span: 50 }, 100, 0.5), { left: 35, span: 50 });
	assert.deepEqual(panned({ left: 10, span: 50 }, 100, -3), { left: 0, span: 50 });
	assert.deepEqual(panned({ left: 10, span: 50 }, 100, 3), { left: 50, span: 50 });
});

test("the zoomed frame is the innermost that holds the window", async () => {
	const { holderOf } = await load("window.js");
	assert.equal(holderOf(picture, { left: 0, span: 100 }, 1), 0, "the whole picture is nobody's");
	assert.equal(holderOf(picture, { left: 10, span: 60 }, 0), 1);
	assert.equal(holderOf(picture, { left: 10, span: 40 }, 0), 3);
	assert.equal(holderOf(picture, { left: 61, span: 20 }, 3), 4);
	assert.equal(holderOf(picture, { left: 0, span: 60 }, 2), 2, "as wide as the frame that was zoomed");
	assert.equal(holderOf(picture, { left: 0, span: 60 }, 0), 1);
});

test("a window as a part of a frame comes back from a link", async () => {
	const { partOf, windowOfPart } = await load("window.js");
	assert.equal(partOf({ left: 20, span: 60 }, 20, 60), "");
	const part = partOf({ left: 35, span: 15 }, 20, 60);
	assert.deepEqual(windowOfPart(part, 20, 60, 100), { left: 35, span: 15 });
	assert.deepEqual(windowOfPart(part, 0, 30, 100), { left: 7.5, span: 7.5 });
	for (const nonsense of ["", "x", "1", "0 -1", "NaN 1", "0 Infinity"]) {
		const { left, span } = windowOfPart(nonsense, 20, 60, 100);
		assert.ok(left >= 0 && span > 0 && left + span <= 100, nonsense);
	}
});
