// SPDX-License-Identifier: MIT
// Where a judged diff changed: which functions on a path that costs more are listed.
"use strict";
const assert = require("node:assert/strict");
const { test } = require("./tap.js");
const { load } = require("./modules.js");

const UNKNOWN = 0, CHANGED = 2, WRAPPER = 2, MARKER = 3;
const loaders = ["_find_and_load", "_load"];

// paths: [["main", "js", "dumps"], base, head] are own times. certain: {self: [names], total: [names]}.
function makeDiff(paths, origins, certain, factor = 1) {
	// As in a page: what appears most often is function 0, and the root is none.
	const all = paths.flatMap(([path]) => path), often = (name) => all.filter((other) => other === name).length;
	const names = [...new Set(all)].sort((a, b) => often(b) - often(a));
	const nodes = [{ f: -1, parent: 0, kids: new Map(), own: [0, 0] }];
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
	const isBelow = (f, i) => i > 0 && (tree.func[i] === f || isBelow(f, tree.parent[i]));
	const sumOf = (list, f, s) => tree.func.reduce((sum, g, i) => sum + (g === f && (list === tree.self || !isBelow(f, tree.parent[i])) ? list[s][i] : 0), 0);
	const costs = Object.fromEntries(["self", "total"].map((k) => [k, [0, 1].map((s) => names.map((_, f) => sumOf(tree[k], f, s)))]));
	const word = (family) => names.map((name) => (certain[family]?.includes(name) ? CHANGED : UNKNOWN));
	const data = {
		isDiff: true, factor, func: tree.func, self: tree.self,
		functions: { n: names.length, names, loads: names.map((name) => (loaders.includes(name) ? 1 : 0)), movedImport: names.map(() => 0), ran: [0, 1].map((s) => costs.total[s].map((v) => v > 0)), file: names.map(() => 0), files: [""], kind: names.map((name) => (name.startsWith("<") && name !== "<module>" ? MARKER : 0)), origin: Uint8Array.from(names, (name) => origins[name] ?? (name ? 0 : 3)) },
		verdicts: { self: { word: word("self") }, total: { word: word("total") } },
	};
	return { tree, data, costs };
}

async function told(...args) {
	const { findChanges } = await load("listed_changes.js");
	const { tree, data, costs } = makeDiff(...args);
	const found = findChanges(tree, data, () => costs);
	const show = ({ f, change, family, leaf }) => [data.functions.names[f], family, change.delta, leaf < 0 ? "" : data.functions.names[leaf]];
	return Object.fromEntries(Object.entries(found).filter(([, list]) => list.length).map(([g, list]) => [g, list.map(show)]));
}

test("a change in a library is listed for the own function that calls it, naming the hot one", async () => {
	const paths = [[["main", "js", "dumps", "encode"], 10, 110], [["main", "js"], 5, 5], [["main", "parse"], 50, 50]];
	const library = { dumps: 1, encode: 1 };
	const all = ["main", "js", "dumps", "encode"];
	assert.deepEqual(await told(paths, library, { self: ["encode"], total: all }), { slower: [["js", "total", 100, "encode"]] });
});

test("the function that appears most often can be the one with most of a change", async () => {
	const paths = [[["main", "parse", "parse"], 10, 60], [["main", "a", "parse"], 1, 20], [["main", "b", "parse"], 1, 20]];
	assert.deepEqual(await told(paths, { parse: 1, a: 1, b: 1 }, { self: ["parse"], total: ["main"] }), { slower: [["main", "total", 88, "parse"]] });
});

test("two changes are two places, and a caller that only sums them up is none", async () => {
	const paths = [[["main", "a"], 10, 60], [["main", "b"], 50, 10], [["main", "c"], 10, 40]];
	assert.deepEqual(await told(paths, {}, { self: ["a", "b", "c"], total: ["main", "a", "b", "c"] }),
		{ slower: [["a", "total", 50, ""], ["c", "total", 30, ""]], faster: [["b", "total", -40, ""]] });
});

test("entries other than code are last in their group, whatever their size", async () => {
	const paths = [[["main", "a"], 10, 60], [["main", "b"], 10, 20], [["main", "<GC>"], 10, 90], [["main", "c"], 20, 10]];
	assert.deepEqual(await told(paths, {}, { self: ["a", "b", "c", "<GC>"] }),
		{ slower: [["a", "self", 50, ""], ["b", "self", 10, ""], ["<GC>", "self", 80, ""]], faster: [["c", "self", -10, ""]] });
});

test("functions certain only by own time are listed; uncertain ones are not", async () => {
	const paths = [[["main"], 10, 20], [["main", "a"], 50, 90]];
	assert.deepEqual(await told(paths, {}, { self: ["main"] }), { slower: [["main", "self", 10, ""]] });
	assert.deepEqual(await told(paths, {}, {}), {});
});

test("a library's change is listed if no own code certainly changed, and all is own if nothing is", async () => {
	const paths = [[["main", "dumps"], 10, 60]];
	assert.deepEqual(await told(paths, { dumps: 1 }, { self: ["dumps"], total: ["dumps"] }), { slower: [["dumps", "total", 50, ""]] });
	assert.deepEqual(await told(paths, { main: 1, dumps: 1 }, { total: ["main", "dumps"] }), { slower: [["dumps", "total", 50, ""]] });
});

test("the run's certain verdict leads the groups, and the steps through them", async () => {
	const { findChanges, listChanges } = await load("listed_changes.js");
	const paths = [[["main", "a"], 10, 60], [["main", "b"], 50, 10], [["main", "c"], 0, 9], [["main", "d"], 9, 0]];
	const order = (word, more = []) => {
		const { tree, data, costs } = makeDiff([...paths, ...more], {}, { self: ["a", "b", "c", "d", "e"] });
		const found = findChanges(tree, { ...data, header: { verdict: { word } } }, () => costs);
		return [Object.keys(found).join(), listChanges(found).map(({ f }) => data.functions.names[f]).join("")];
	};
	assert.deepEqual(order("slower"), ["slower,faster,new,gone", "abcd"]);
	assert.deepEqual(order("faster"), ["faster,slower,gone,new", "badc"]);
	assert.deepEqual(order("unknown"), order("slower"));
	// New code with more of it comes first.
	assert.deepEqual(order("slower", [[["main", "e"], 0, 70]]), ["new,slower,faster,gone", "ecabd"]);
	assert.deepEqual(order("faster", [[["main", "e"], 70, 0]]), ["gone,faster,slower,new", "edbac"]);
	assert.deepEqual(order("unknown", [[["main", "e"], 0, 70]])[0], "slower,faster,new,gone");
});

test("module loading is no place of a change: the importer is, and the module's code", async () => {
	const paths = [[["<module>", "_find_and_load", "_load", "init"], 10, 90], [["<module>", "_find_and_load"], 10, 40]];
	const all = ["<module>", "_find_and_load", "_load", "init"], origins = { _find_and_load: 1, _load: 1 };
	assert.deepEqual(await told(paths, origins, { self: ["_find_and_load"], total: all }), { slower: [["init", "total", 80, ""]] });
	assert.deepEqual(await told(paths, origins, { total: all.slice(0, 3) }), { slower: [["<module>", "total", 110, "init"]] });
	// Code of a module that is imported is called by what imports it.
	const { findChanges, listChanges, nameOfChange } = await load("listed_changes.js");
	const { tree, data, costs } = makeDiff([[["app", "_load", "<module>"], 10, 90]], { _load: 1 }, { total: ["<module>"] });
	data.functions.files[0] = "lib/python3.11/json/__init__.py";
	const [entry] = listChanges(findChanges(tree, data, () => costs));
	assert.equal(nameOfChange(data, entry), "import json");
	assert.equal(nameOfChange(data, { ...entry, isImport: false }), "<module>");
});

test("a new wrapper is listed only for its own time: its callees were there before", async () => {
	const { findChanges, listChanges } = await load("listed_changes.js");
	const { tree, data, costs } = makeDiff([[["main", "wrap", "work"], 100, 101], [["main", "wrap"], 0, 3]], {}, { self: [], total: ["wrap"] });
	const wrap = data.functions.names.indexOf("wrap");
	tree.isNumbered = true;
	costs.total[0][wrap] = 0; // as it was recorded
	const listed = (marked, self) => {
		data.marks = marked ? tree.func.map((f) => (f === wrap ? WRAPPER : 0)) : null;
		data.verdicts.self.word[wrap] = self;
		return listChanges(findChanges(tree, data, () => costs)).map(({ f, change }) => [data.functions.names[f], change.delta]);
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

test("each leads to the node where its function changed most", async () => {
	const { findChanges, listChanges } = await load("listed_changes.js");
	// deepcopy is told by copy, but for most of it below main.
	const paths = [[["main", "copy", "deepcopy"], 10, 110], [["main", "deepcopy"], 1, 65], [["main", "load", "deepcopy"], 1, 65], [["main", "own"], 3, 3]];
	const { tree, data, costs } = makeDiff(paths, { deepcopy: 1 }, { self: ["deepcopy"], total: ["copy", "deepcopy"] });
	const found = listChanges(findChanges(tree, data, () => costs));
	const at = Object.fromEntries(found.map(({ f, node }) => [data.functions.names[f], tree.total[1][node]]));
	assert.deepEqual(at, { copy: 110, deepcopy: 110 });
});

test("a library is not listed for a small change that no own code covers", async () => {
	const paths = [[["main", "copy", "deepcopy"], 10, 210], [["main", "deepcopy"], 1, 5]];
	assert.deepEqual(await told(paths, { deepcopy: 1 }, { self: ["deepcopy"], total: ["main", "copy", "deepcopy"] }),
		{ slower: [["copy", "total", 200, "deepcopy"]] });
	// Nor where what it calls back has most of it, but for a place without weight.
	const back = [[["main", "dumps", "encode"], 10, 90], [["other", "dumps"], 0, 1]];
	assert.deepEqual(await told(back, { dumps: 1 }, { self: ["encode"], total: ["dumps", "encode"] }), { slower: [["encode", "total", 80, ""]] });
});

const rest = [["main", "rest"], 900, 900];

test("a chain of own functions with one change is listed once, by the outermost below the run", async () => {
	const paths = [rest, [["main", "page", "table", "row", "dumps"], 50, 150], [["main", "page", "table", "row"], 5, 5], [["main", "page"], 20, 20]];
	const all = ["main", "page", "table", "row", "dumps"];
	assert.deepEqual(await told(paths, { dumps: 1 }, { self: ["dumps"], total: all }), { slower: [["page", "total", 100, "dumps"]] });
	// If no function has most of it as self cost, the innermost common one is named.
	const spread = [rest, ...["a", "b", "c"].map((name) => [["main", "page", "table", "row", name], 20, 54]), [["main", "page"], 9, 9]];
	assert.deepEqual(await told(spread, { a: 1, b: 1, c: 1 }, { total: all }), { slower: [["page", "total", 102, "row"]] });
	const more = [...spread, ...["d", "e", "f"].map((name) => [["main", "page", "x", "table", name], 8, 16])];
	assert.deepEqual(await told(more, { a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 }, { total: all }), { slower: [["page", "total", 126, "row"]] });
});

test("recursion through several functions is one chain, however its paths moved", async () => {
	const deep = ["main", "parse", "expr", "term", "factor", "expr", "term", "factor"];
	const paths = [rest, [[...deep, "advance"], 40, 90], [["main", "parse", "expr", "term", "factor", "advance"], 40, 0], [["main", "parse", "newer", "expr", "term", "factor", "advance"], 0, 70], [["main", "parse"], 4, 4]];
	const certain = { self: ["advance"], total: ["main", "parse", "expr", "term", "factor", "newer", "advance"] };
	const found = await told(paths, { advance: 1 }, certain);
	assert.deepEqual(found.slower, [["parse", "total", 80, "advance"]]);
});

test("in a chain a function whose own time certainly changed is listed itself", async () => {
	const paths = [rest, [["main", "page", "cell", "get"], 50, 100], [["main", "page", "cell"], 10, 70], [["main", "page"], 9, 9]];
	const all = ["page", "cell", "get"];
	assert.deepEqual(await told(paths, {}, { self: ["cell", "get"], total: all }), { slower: [["cell", "total", 110, ""], ["get", "total", 50, ""]] });
	assert.deepEqual(await told(paths, {}, { self: ["get"], total: all }), { slower: [["page", "total", 110, "cell"], ["get", "total", 50, ""]] });
});

test("no caller is listed for a change of which it has little, or little of its own", async () => {
	const all = ["page", "left", "right"], library = { a: 1, b: 1 };
	// Two changes below one function.
	const two = [rest, [["main", "page", "left", "a"], 50, 110], [["main", "page", "right", "b"], 50, 90]];
	assert.deepEqual(await told(two, library, { total: all }), { slower: [["left", "total", 60, "a"], ["right", "total", 40, "b"]] });
	// What calls left does much else; left is called from elsewhere, too.
	const wide = [rest, [["main", "page", "left", "a"], 50, 110], [["main", "page"], 200, 200]];
	assert.deepEqual(await told(wide, library, { total: all }), { slower: [["left", "total", 60, "a"]] });
	const elsewhere = [rest, [["main", "page", "left", "a"], 50, 110], [["main", "right", "left", "a"], 50, 110]];
	assert.deepEqual(await told(elsewhere, library, { total: all }), { slower: [["left", "total", 120, "a"]] });
	const partly = [rest, [["main", "page", "left", "a"], 50, 110], [["main", "page"], 60, 60], [["main", "right", "left", "a"], 20, 45]];
	assert.deepEqual(await told(partly, library, { total: ["page", "left"] }), { slower: [["left", "total", 85, "a"]] });
	// It was there before, and left is new.
	const added = [rest, [["main", "page", "left", "a"], 0, 60], [["main", "page"], 90, 90]];
	assert.deepEqual(await told(added, library, { total: all }), { new: [["left", "total", 60, "a"]] });
});

test("below a listed function no other is listed for a small change of its own", async () => {
	const paths = [rest, [["main", "page", "a"], 10, 90], [["main", "page", "cell", "get"], 20, 80], [["main", "page", "x", "cell"], 1, 6], [["main", "page"], 100, 100]];
	const get = ["get", "total", 60, ""];
	assert.deepEqual(await told(paths, { a: 1 }, { self: ["get"], total: ["page", "cell", "get"] }), { slower: [["page", "total", 145, "a"], get] });
	assert.deepEqual(await told(paths, { a: 1 }, { self: ["get"], total: ["cell", "get"] }), { slower: [["cell", "total", 65, "get"], get] });
	// Who only sums it up is not listed.
	const sums = paths.filter(([path]) => path[2] !== "a");
	assert.deepEqual(await told(sums, {}, { self: ["get"], total: ["page", "cell", "get"] }), { slower: [["cell", "total", 65, "get"], get] });
	// Own time that certainly changed, faster below slower, and what is still there below what is gone.
	assert.deepEqual(await told(paths, { a: 1 }, { self: ["get", "cell"], total: ["page", "cell", "get"] }),
		{ slower: [["page", "total", 145, "a"], ["cell", "total", 65, "get"], get] });
	const faster = [...paths, [["main", "page", "y", "q"], 40, 8], [["main", "page", "z", "y"], 3, 1]];
	assert.deepEqual((await told(faster, { a: 1 }, { self: ["q"], total: ["page", "y", "q"] })).faster, [["y", "total", -34, "q"], ["q", "total", -32, ""]]);
	const gone = [rest, [["main", "old"], 120, 0], [["main", "old", "cell", "get"], 90, 0], [["main", "old", "x", "cell"], 5, 0], [["main", "cell"], 10, 11]];
	assert.deepEqual((await told(gone, {}, { self: ["get"], total: ["old", "cell", "get"] })).faster, [["cell", "total", -94, "get"]]);
});

test("a caller of a listed function with the change is not listed for a tiny own change", async () => {
	const paths = [rest, [["main", "x", "ensure", "collect"], 30, 90], [["main", "y", "ensure"], 1, 3]];
	const certain = { self: ["collect"], total: ["ensure", "collect"] };
	assert.deepEqual(await told(paths, {}, certain), { slower: [["collect", "total", 60, ""]] });
	// Where a tenth of it is its own, it is.
	paths[2][2] = 7;
	assert.deepEqual(await told(paths, {}, certain), { slower: [["ensure", "total", 66, "collect"], ["collect", "total", 60, ""]] });
});

test("an importer is not listed for what a module does when loaded", async () => {
	const paths = [rest, [["main", "start", "_load", "init", "compile"], 30, 90], [["main", "start"], 2, 2]];
	assert.deepEqual(await told(paths, { _load: 1, compile: 1 }, { total: ["start", "_load", "init"] }), { slower: [["init", "total", 60, "compile"]] });
});

test("\"most of it in\" is over all paths, not one", async () => {
	const paths = [rest, [["main", "page", "a"], 10, 40], [["main", "page", "b"], 10, 60], [["main", "page", "c", "a"], 10, 40], [["main", "page", "d", "a"], 10, 40]];
	const library = { a: 1, b: 1, c: 1, d: 1 };
	assert.deepEqual(await told(paths, library, { total: ["page"] }), { slower: [["page", "total", 140, "a"]] });
	const calls = [rest, ...["x", "y", "z"].map((caller, k) => [["main", caller, "page", k ? "a" : "b"], 10, 50 + 10 * !k])];
	assert.deepEqual(await told(calls, library, { total: ["page"] }), { slower: [["page", "total", 130, "a"]] });
	// Half of the largest path's, and little of all.
	const one = [rest, [["main", "page", "c", "b"], 10, 50], [["main", "page", "d", "a"], 10, 40], [["main", "page", "e"], 10, 40]];
	assert.deepEqual(await told(one, { ...library, e: 1 }, { total: ["page"] }), { slower: [["page", "total", 100, ""]] });
});

test("the largest change represents the run, in either direction; new code only without another", async () => {
	const { largestChange } = await load("listed_changes.js");
	const entry = (f, delta) => ({ f, change: { delta } });
	const found = { slower: [entry(1, 59)], faster: [entry(2, -105), entry(3, -98)], new: [entry(4, 500)], gone: [] };
	assert.equal(largestChange(found).f, 2);
	assert.equal(largestChange({ ...found, slower: [], faster: [] }).f, 4);
	assert.equal(largestChange({ slower: [], faster: [], new: [], gone: [] }), null);
});

test("an entry leads to the path that certainly changed, even if another changed more", async () => {
	const { findChanges, listChanges } = await load("listed_changes.js");
	const paths = [[["main", "a", "work"], 10, 50], [["main", "b", "work"], 20, 45], [["main", "c", "work"], 5, 8]];
	const { tree, data, costs } = makeDiff(paths, {}, { total: ["work"] });
	const callerOf = () => {
		const [{ node }] = listChanges(findChanges(tree, data, () => costs));
		return data.functions.names[tree.func[tree.parent[node]]];
	};
	assert.equal(callerOf(), "a", "no path was tested");
	const certain = tree.func.findIndex((f, i) => data.functions.names[f] === "work" && data.functions.names[tree.func[tree.parent[i]]] === "b");
	data.verdicts.total.path = Uint8Array.from(tree.func, (_, i) => (i === certain ? CHANGED : UNKNOWN));
	assert.equal(callerOf(), "b");
});

test("imports whose cost only moved are one line, from two of them on", async () => {
	const { splitMovedImports } = await load("listed_changes.js");
	const data = { marks: [], moved: Uint8Array.of(0, 1, 1, 1), func: [], self: [[], []], functions: { n: 4 } };
	const entry = (f, isImport) => ({ f, isImport }), [own, moved, one, two] = [entry(0, false), entry(1, false), entry(2, true), entry(3, true)];
	assert.deepEqual(splitMovedImports(data, [one, own, two, moved]), [[own, moved], [one, two]]);
	assert.deepEqual(splitMovedImports(data, [one, own, moved]), [[one, own, moved], []]);
	assert.deepEqual(splitMovedImports({ ...data, marks: null, moved: undefined }, [one, two]), [[one, two], []]);
});

test("a script that only calls a library hides none of its changes; one with functions of its own does", async () => {
	const paths = [[["<module>", "parse", "match"], 100, 160], [["<module>", "parse"], 50, 50], [["<module>", "render"], 80, 40], [["<module>"], 5, 5]];
	const library = { parse: 1, match: 1, render: 1 }, certain = { self: ["match", "render"], total: ["<module>", "parse", "match", "render"] };
	assert.deepEqual(await told(paths, library, certain),
		{ slower: [["match", "total", 60, ""]], faster: [["render", "total", -40, ""]] });
	const collecting = [...paths, [["<GC>"], 40, 60]];
	assert.deepEqual(await told(collecting, library, { ...certain, self: [...certain.self, "<GC>"] }),
		{ slower: [["match", "total", 60, ""], ["<GC>", "self", 20, ""]], faster: [["render", "total", -40, ""]] });
	const inFunction = paths.map(([[script, ...callees], ...own]) => [[script, "main", ...callees], ...own]);
	assert.deepEqual(await told(inFunction, library, { self: [], total: ["<module>", "main", "parse", "match"] }), { slower: [["main", "total", 20, "match"]] });
});
