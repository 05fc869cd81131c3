// SPDX-License-Identifier: MIT
// What the colour of a frame means, by its verdict and its cost.
"use strict";
const assert = require("node:assert/strict");
const { test } = require("./tap.js");
const { load } = require("./modules.js");

const UNKNOWN = 0, UNCHANGED = 1, CHANGED = 2, AS_FUNCTION = 3;

// One frame below the root; base and head are its own time and all of it.
const treeOf = (base, head, more = {}) => ({
	isNumbered: true, inverted: false, func: [0, 1], parent: [0, 0], self: [[0, base], [0, head]], total: [[100, base], [100, head]], ...more,
});
const whatOf = (self, total, more = {}) => ({
	isDiff: true, by: "self", factor: 1, isTachyonPalette: false, removedHere: () => true, addedHere: () => true,
	verdicts: { self: { word: [0, self] }, total: { word: [0, total] } }, ...more,
});

test("a frame within noise is neither unchanged nor coloured, however large its change", async () => {
	const { nodeClass } = await load("frame_colour.js"), c = await load("colors.js");
	assert.notEqual(c.UNSURE, c.SAME);
	assert.equal(nodeClass(treeOf(10, 30), 1, whatOf(UNKNOWN, CHANGED)), c.UNSURE);
	assert.equal(nodeClass(treeOf(10, 30), 1, whatOf(UNCHANGED, CHANGED)), c.SAME);
	assert.equal(nodeClass(treeOf(10, 30), 1, whatOf(CHANGED, UNKNOWN)), c.MORE + 3);
	assert.equal(nodeClass(treeOf(30, 10), 1, whatOf(CHANGED, UNKNOWN)), c.LESS + 2);
	assert.equal(nodeClass(treeOf(0, 0), 1, whatOf(UNKNOWN, UNKNOWN)), c.SAME);
});

test("certain changes are coloured, even small ones; nothing unchanged is", async () => {
	const { nodeClass } = await load("frame_colour.js"), c = await load("colors.js");
	assert.equal(nodeClass(treeOf(100, 101), 1, whatOf(CHANGED, UNKNOWN)), c.MORE);
	assert.equal(nodeClass(treeOf(100, 99), 1, whatOf(CHANGED, UNKNOWN)), c.LESS);
	assert.equal(nodeClass(treeOf(100, 100), 1, whatOf(CHANGED, UNKNOWN)), c.SAME);
});

test("each meaning goes by the verdict of its family, and a path by its own where it was tested", async () => {
	const { nodeClass } = await load("frame_colour.js"), c = await load("colors.js");
	assert.equal(nodeClass(treeOf(10, 30), 1, whatOf(CHANGED, UNKNOWN, { by: "total" })), c.UNSURE);
	assert.equal(nodeClass(treeOf(10, 30), 1, whatOf(UNKNOWN, CHANGED, { by: "total" })), c.MORE + 3);
	for (const [own, expected] of [[UNKNOWN, c.UNSURE], [UNCHANGED, c.SAME], [CHANGED, c.MORE + 3], [AS_FUNCTION, c.UNSURE]]) {
		const what = whatOf(UNKNOWN, UNKNOWN);
		what.verdicts.self.path = [0, own];
		assert.equal(nodeClass(treeOf(10, 30), 1, what), expected);
	}
});

test("changes certain only as a sum of paths are coloured and hatched, neither certain nor unsure", async () => {
	const { frameVerdict, nodeClass, ownChange } = await load("frame_colour.js"), c = await load("colors.js");
	const SUM = 4; // added to a path's verdict
	const of = (tree, code) => {
		const what = whatOf(UNKNOWN, CHANGED, { by: "total" });
		what.verdicts.total.path = [0, code];
		return nodeClass(tree, 1, what);
	};
	const solid = [c.MORE + 3, c.LESS + 2, c.NEW];
	[[10, 30], [30, 10], [0, 30]].forEach(([base, head], k) => {
		const shown = of(treeOf(base, head), UNKNOWN | SUM);
		assert.ok(c.isTogether(shown) && ![c.UNSURE, c.NEW_UNSURE, c.SAME, ...solid].includes(shown), `${base} ${head} ${shown}`);
		assert.equal(c.solidOf(shown), solid[k]);
		assert.equal(c.glyphOf(shown), c.glyphOf(solid[k]));
	});
	assert.equal(of(treeOf(10, 30), UNKNOWN), c.UNSURE, "a path that goes against the sum, or beside one that is certain by itself");
	assert.equal(of(treeOf(10, 30), CHANGED), c.MORE + 3);
	assert.equal(c.solidOf(of(treeOf(100, 101), UNKNOWN | SUM)), c.MORE);
	assert.equal(of(treeOf(100, 101), UNCHANGED | SUM), c.SAME, "by itself the same, and by little");
	assert.equal(of(treeOf(10, 30), UNCHANGED | SUM), c.togetherOf(c.MORE + 3), "small, but three times as much");
	const what = whatOf(CHANGED, UNKNOWN, { by: "total" });
	what.verdicts.self.path = [0, UNKNOWN | SUM];
	assert.deepEqual(ownChange(treeOf(10, 30), 1, what), { delta: 20, colour: c.togetherOf(c.MORE + 3) });
	assert.equal(frameVerdict(treeOf(10, 30), 1, what.verdicts.self), UNKNOWN);
});

test("new code is solid only when it certainly costs; the base is scaled", async () => {
	const { nodeClass } = await load("frame_colour.js"), c = await load("colors.js");
	assert.equal(nodeClass(treeOf(0, 30), 1, whatOf(CHANGED, UNKNOWN)), c.NEW);
	assert.equal(nodeClass(treeOf(0, 30), 1, whatOf(UNKNOWN, CHANGED)), c.NEW);
	assert.equal(nodeClass(treeOf(0, 30), 1, whatOf(UNKNOWN, UNKNOWN)), c.NEW_UNSURE);
	assert.equal(nodeClass(treeOf(30, 0), 1, whatOf(UNKNOWN, UNKNOWN)), c.REMOVED);
	assert.equal(nodeClass(treeOf(10, 20), 1, whatOf(CHANGED, UNKNOWN, { factor: 2 })), c.SAME);
	assert.equal(nodeClass(treeOf(10, 10), 1, whatOf(CHANGED, UNKNOWN, { factor: 2 })), c.LESS + 1);
});

test("without verdicts the numbers decide, by steps of 15, 30, 50 and 100 %", async () => {
	const { nodeClass } = await load("frame_colour.js"), c = await load("colors.js");
	for (const [head, step] of [[114, -1], [115, 0], [130, 0], [131, 1], [150, 1], [151, 2], [199, 2], [200, 3]]) {
		assert.equal(nodeClass(treeOf(100, head), 1, whatOf(0, 0, { verdicts: null })), step < 0 ? c.SAME : c.MORE + step, `${head}`);
		assert.equal(nodeClass(treeOf(100, 200 - head), 1, whatOf(0, 0, { verdicts: null, removedHere: () => false })), step < 0 ? c.SAME : c.LESS + step, `${200 - head}`);
	}
});

test("the page of one recording names files from its folder, a comparison as they are", async () => {
	const { filePlaceOf, placeOf, shortPlaceOf } = await load("source_places.js");
	const places = (kind, cwd, file) => {
		const data = { header: { kind, head: { facts: [["cwd", cwd]] } }, functions: { files: [file], file: [0], line: [7] } };
		return [filePlaceOf, (d, f) => placeOf({ data: d, state: {} }, f), (d, f) => shortPlaceOf({ data: d, state: {} }, f)].map((of) => of(data, 0));
	};
	const long = `${"folder/".repeat(8)}work.py`;
	assert.deepEqual(places("profile", "/srv/app", "/srv/app/lib/work.py"), ["/srv/app/lib/work.py:7", "lib/work.py:7", "lib/work.py:7"]);
	assert.deepEqual(places("profile", "/srv/app/", `/srv/app/${long}`), [`/srv/app/${long}:7`, `${long}:7`, "…/work.py:7"]);
	assert.deepEqual(places("profile", "/srv/app", "/srv/application/work.py"), Array(3).fill("/srv/application/work.py:7"));
	assert.deepEqual(places("diff", "/srv/app", "/srv/app/work.py"), Array(3).fill("/srv/app/work.py:7"));
	for (const base of ["__init__.py", "__main__.py"]) { // its folder is its name
		const all = `${"folder/".repeat(8)}faker/${base}`;
		assert.equal(places("diff", "", all)[2], `…/faker/${base}:7`);
	}
});
