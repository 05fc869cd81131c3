// SPDX-License-Identifier: MIT
// Where a judged diff changed: which functions are named, of a path on which all cost more.
"use strict";
const assert = require("node:assert/strict");
const { test } = require("./tap.js");
const { load } = require("./modules.js");

const UNKNOWN = 0, CHANGED = 2, WRAPPER = 2;
const loaders = ["_find_and_load", "_load"];

// paths: [["main", "js", "dumps"], base, head] are own times. certain: {self: [names], total: [names]}.
function makeDiff(paths, origins, certain, factor = 1) {
	const names = [...new Set(["", ...paths.flatMap(([path]) => path)])];
	const nodes = [{ f: 0, parent: 0, kids: new Map(), own: [0, 0] }];
	for (const [path, ...own] of paths) {
		let at = nodes[0];
		for (const name of path) {
			if (!at.kids.has(name)) at.kids.set(name, { f: names.indexOf(name), up: at, kids: new Map(), own: [0, 0] });
			at = at.kids.get(name);
		}
		at.own = own;
	}
	const tree = { func: [], parent: [], depth: [], end: [], self: [[], []], total: [[], []] };
	const visit = (node, up, depth) => {
		const i = tree.func.push(node.f) - 1;
		tree.parent.push(up);
		tree.depth.push(depth);
		for (const s of [0, 1]) tree.self[s].push(node.own[s]);
		const sums = [...node.own];
		for (const kid of node.kids.values()) visit(kid, i, depth + 1).forEach((v, s) => (sums[s] += v));
		tree.end[i] = tree.func.length;
		for (const s of [0, 1]) tree.total[s][i] = sums[s];
		return sums;
	};
	visit(nodes[0], 0, 0);
	tree.n = tree.func.length;
	tree.deepest = Math.max(...tree.depth);
	const sumOf = (list, f, s) => tree.func.reduce((sum, g, i) => sum + (g === f ? list[s][i] : 0), 0);
	const costs = Object.fromEntries(["self", "total"].map((k) => [k, [0, 1].map((s) => names.map((_, f) => sumOf(tree[k], f, s)))]));
	const word = (family) => names.map((name) => (certain[family]?.includes(name) ? CHANGED : UNKNOWN));
	const data = {
		isDiff: true, factor, func: tree.func, self: tree.self,
		functions: { n: names.length, names, loads: names.map((name) => (loaders.includes(name) ? 1 : 0)), ran: [0, 1].map((s) => costs.total[s].map((v) => v > 0)), file: names.map(() => 0), files: [""], origin: Uint8Array.from(names, (name) => origins[name] ?? (name ? 0 : 3)) },
		verdicts: { self: { word: word("self") }, total: { word: word("total") } },
	};
	return { tree, data, costs };
}

async function told(...args) {
	const { findChanges } = await load("changes.js");
	const { tree, data, costs } = makeDiff(...args);
	const found = findChanges(tree, data, costs);
	const show = ({ f, change, family, leaf }) => [data.functions.names[f], family, change.delta, leaf < 0 ? "" : data.functions.names[leaf]];
	return Object.fromEntries(Object.entries(found).filter(([, list]) => list.length).map(([g, list]) => [g, list.map(show)]));
}

test("a change in a library is told of the own function that calls it, with the hot one named", async () => {
	const paths = [[["main", "js", "dumps", "encode"], 10, 110], [["main", "js"], 5, 5], [["main", "parse"], 50, 50]];
	const library = { dumps: 1, encode: 1 };
	const all = ["main", "js", "dumps", "encode"];
	assert.deepEqual(await told(paths, library, { self: ["encode"], total: all }), { slower: [["js", "total", 100, "encode"]] });
});

test("two changes are two places, and who only sums them up is none", async () => {
	const paths = [[["main", "a"], 10, 60], [["main", "b"], 50, 10], [["main", "c"], 10, 40]];
	assert.deepEqual(await told(paths, {}, { self: ["a", "b", "c"], total: ["main", "a", "b", "c"] }),
		{ slower: [["a", "total", 50, ""], ["c", "total", 30, ""]], faster: [["b", "total", -40, ""]] });
});

test("what only its own time is certain of is listed; what no test was certain of is not", async () => {
	const paths = [[["main"], 10, 20], [["main", "a"], 50, 90]];
	assert.deepEqual(await told(paths, {}, { self: ["main"] }), { slower: [["main", "self", 10, ""]] });
	assert.deepEqual(await told(paths, {}, {}), {});
});

test("a library's change is told where no own code certainly changed, and all is own where nothing else is", async () => {
	const paths = [[["main", "dumps"], 10, 60]];
	assert.deepEqual(await told(paths, { dumps: 1 }, { self: ["dumps"], total: ["dumps"] }), { slower: [["dumps", "total", 50, ""]] });
	assert.deepEqual(await told(paths, { main: 1, dumps: 1 }, { total: ["main", "dumps"] }), { slower: [["dumps", "total", 50, ""]] });
});

test("what the run certainly became leads the groups, and the steps through them", async () => {
	const { findChanges, listChanges } = await load("changes.js");
	const paths = [[["main", "a"], 10, 60], [["main", "b"], 50, 10], [["main", "c"], 0, 9], [["main", "d"], 9, 0]];
	const { tree, data, costs } = makeDiff(paths, {}, { self: ["a", "b", "c", "d"] });
	const order = (word) => {
		const found = findChanges(tree, { ...data, header: { verdict: { word } } }, costs);
		return [Object.keys(found).join(), listChanges(found).map(({ f }) => data.functions.names[f]).join("")];
	};
	assert.deepEqual(order("slower"), ["slower,faster,new,gone", "abcd"]);
	assert.deepEqual(order("faster"), ["faster,slower,gone,new", "badc"]);
	assert.deepEqual(order("unknown"), order("slower"));
});

test("who loads modules is no place of a change: what imports is, and what its code does", async () => {
	const paths = [[["<module>", "_find_and_load", "_load", "init"], 10, 90], [["<module>", "_find_and_load"], 10, 40]];
	const all = ["<module>", "_find_and_load", "_load", "init"], origins = { _find_and_load: 1, _load: 1 };
	assert.deepEqual(await told(paths, origins, { self: ["_find_and_load"], total: all }), { slower: [["init", "total", 80, ""]] });
	assert.deepEqual(await told(paths, origins, { total: all.slice(0, 3) }), { slower: [["<module>", "total", 110, "init"]] });
	// Code of a module that is imported is called by what imports it.
	const { findChanges, listChanges, nameOfChange } = await load("changes.js");
	const { tree, data, costs } = makeDiff([[["app", "_load", "<module>"], 10, 90]], { _load: 1 }, { total: ["<module>"] });
	data.functions.files[0] = "lib/python3.11/json/__init__.py";
	const [entry] = listChanges(findChanges(tree, data, costs));
	assert.equal(nameOfChange(data, entry), "import json");
	assert.equal(nameOfChange(data, { ...entry, isImport: false }), "<module>");
});

test("a new wrapper is listed for its own time alone: what it calls was there before it", async () => {
	const { findChanges, listChanges } = await load("changes.js");
	const { tree, data, costs } = makeDiff([[["main", "wrap", "work"], 100, 101], [["main", "wrap"], 0, 3]], {}, { self: [], total: ["wrap"] });
	const wrap = data.functions.names.indexOf("wrap");
	tree.isNumbered = true;
	costs.total[0][wrap] = 0; // as it was recorded
	const listed = (marked, self) => {
		data.marks = marked ? tree.func.map((f) => (f === wrap ? WRAPPER : 0)) : null;
		data.verdicts.self.word[wrap] = self;
		return listChanges(findChanges(tree, data, costs)).map(({ f, change }) => [data.functions.names[f], change.delta]);
	};
	assert.deepEqual(listed(false, UNKNOWN), [["wrap", 104]]);
	assert.deepEqual(listed(true, UNKNOWN), []);
	assert.deepEqual(listed(true, CHANGED), [["wrap", 3]]);
});

test("new and gone are groups of their own, and a change is one against what is expected", async () => {
	const paths = [[["main", "a"], 0, 30], [["main", "b"], 20, 0], [["main", "c"], 10, 20]];
	assert.deepEqual(await told(paths, {}, { self: ["a", "b", "c"], total: ["a", "b", "c"] }, 2),
		{ new: [["a", "total", 30, ""]], gone: [["b", "total", -40, ""]] });
});

test("recursion is one place, with the whole change of the function that recurs", async () => {
	const paths = [[["main", "walk", "walk", "walk"], 10, 90], [["main", "walk"], 5, 5]];
	const found = await told(paths, {}, { self: ["walk"], total: ["main", "walk"] });
	assert.equal(found.slower.length, 1);
	assert.equal(found.slower[0][0], "walk");
});

test("each leads to the node where its function changed most, wherever others tell of it", async () => {
	const { findChanges, listChanges } = await load("changes.js");
	// deepcopy is told by copy, but for a little below main.
	const paths = [[["main", "copy", "deepcopy"], 10, 210], [["main", "deepcopy"], 1, 5], [["main", "own"], 3, 3]];
	const { tree, data, costs } = makeDiff(paths, { deepcopy: 1 }, { self: ["deepcopy"], total: ["main", "copy", "deepcopy"] });
	const found = listChanges(findChanges(tree, data, costs));
	const at = Object.fromEntries(found.map(({ f, node }) => [data.functions.names[f], tree.total[1][node]]));
	assert.deepEqual(at, { copy: 210, deepcopy: 210 });
});

test("of all changes the largest stands for the run, whichever way it went; new code only where there is no other", async () => {
	const { largestChange } = await load("changes.js");
	const entry = (f, delta) => ({ f, change: { delta } });
	const found = { slower: [entry(1, 59)], faster: [entry(2, -105), entry(3, -98)], new: [entry(4, 500)], gone: [] };
	assert.equal(largestChange(found).f, 2);
	assert.equal(largestChange({ ...found, slower: [], faster: [] }).f, 4);
	assert.equal(largestChange({ slower: [], faster: [], new: [], gone: [] }), null);
});
