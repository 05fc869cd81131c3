// SPDX-License-Identifier: MIT
// Folding: what is folded, what never is, and that sums stay exact.
"use strict";
const assert = require("node:assert/strict");
const { test } = require("./tap.js");
const { load } = require("./modules.js");

const BOOT = "lib/python3/importlib/_bootstrap.py";
const files = { main: "/srv/app/main.py", boot: BOOT, json: "lib/python3/json/__init__.py", conf: "/srv/app/conf.py", yaml: "yaml/__init__.py" };
const origins = { main: 0, boot: 1, json: 1, conf: 0, yaml: 2 };

// Whether a function, or a callee, has time on a side.
function ranOn(node, f, side, isBelow = false) {
	const here = isBelow || node.f === f;
	return (here && node.own[side] > 0) || [...node.kids.values()].some((kid) => ranOn(kid, f, side, here));
}

// Paths "file:name>file:name" with [base, head] of their own time; words: verdicts of functions.
async function dataOf(paths, words = {}) {
	const { addFolds } = await load("fold_functions.js");
	const names = [], nodes = [{ f: -1, kids: new Map(), own: [0, 0] }];
	const root = nodes[0];
	const functionOf = (text) => (names.includes(text) ? names.indexOf(text) : names.push(text) - 1);
	for (const [path, own] of Object.entries(paths)) {
		let at = root;
		for (const step of path.split(/>(?=[a-z]+:)/)) {
			const f = functionOf(step);
			if (!at.kids.has(f)) at.kids.set(f, { f, kids: new Map(), own: [0, 0] });
			at = at.kids.get(f);
		}
		at.own = own;
	}
	const d = { func: [], parent: [], depth: [], end: [], self: [[], []] };
	const visit = (node, up, depth) => {
		const i = d.func.push(node.f) - 1;
		d.parent.push(up);
		d.depth.push(depth);
		[0, 1].forEach((s) => d.self[s].push(node.own[s]));
		for (const kid of node.kids.values()) visit(kid, i, depth + 1);
		d.end[i] = d.func.length;
	};
	visit(root, -1, 0);
	const fileNames = [...Object.values(files)], keys = Object.keys(files), n = names.length;
	const file = names.map((t) => keys.indexOf(t.split(":")[0]));
	const word = Uint8Array.from(names, (t) => words[t] ?? 0);
	const family = { word, path: null, surprise: new Float64Array(n) };
	return {
		n: d.func.length, func: Int32Array.from(d.func), parent: Int32Array.from(d.parent), depth: Uint32Array.from(d.depth), end: Uint32Array.from(d.end),
		deepest: Math.max(...d.depth), self: d.self.map((v) => Float64Array.from(v)), isDiff: true, factor: 1, header: {}, wrappers: { func: [], total: [[], []] },
		verdicts: { self: family, total: family },
		functions: addFolds({ n, names: names.map((t) => t.split(":")[1]), files: fileNames, file: Uint32Array.from(file), line: new Int32Array(n), kind: new Uint8Array(n),
			origin: Uint8Array.from(file, (k) => origins[keys[k]]), presence: new Uint8Array(n), loads: Uint8Array.from(file, (k) => (keys[k] === "boot" ? 1 : 0)),
			ran: [0, 1].map((s) => Uint8Array.from(names, (_, f) => (ranOn(root, f, s) ? 1 : 0))), source: [new Uint32Array(n), new Uint32Array(n)] }),
	};
}

async function folded(data, { noise = true, imports = true } = {}) {
	const { foldTree, frameName, planFolds } = await load("folds.js"), { ownTime, straightTree } = await load("tree.js"), { NOBODY } = await load("fold_noise.js");
	const straight = straightTree(data, null, null), plan = planFolds(data, straight, { noise, imports });
	if (!plan) return null;
	const tree = foldTree(plan, straight), out = {}, keys = [""];
	for (let i = 1; i < tree.n; i++) {
		if (tree.func[i] === NOBODY) {
			assert.deepEqual(tree.total.map((values) => values[i]), [0, 0], "another frame stands for it");
			continue;
		}
		keys[i] = `${keys[tree.parent[i]]}>${frameName(data, tree, i, data.functions.names[tree.func[i]])}`;
		out[keys[i].slice(1)] = [ownTime(tree, 0, i), ownTime(tree, 1, i), tree.total[1][i]];
	}
	assert.deepEqual([tree.total[0][0], tree.total[1][0]], [straight.total[0][0], straight.total[1][0]], "no cost is lost");
	return out;
}

test("an import is one frame, its machinery another, the start-up a third; own code in it stays", async () => {
	const load1 = "boot:_find_and_load>boot:_load_unlocked";
	const data = await dataOf({
		"main:<module>": [1, 1], [`main:<module>>${load1}`]: [3, 4], [`main:<module>>${load1}>json:<module>`]: [5, 6], [`main:<module>>${load1}>json:<module>>json:loads`]: [2, 2],
		[`main:<module>>${load1}>json:<module>>${load1}>yaml:<module>`]: [7, 7], [`main:<module>>${load1}>main:hook`]: [8, 8], [`main:<module>>${load1}>json:decode`]: [1, 1],
		[`main:<module>>boot:_handle_fromlist>${load1}>json:<module>`]: [1, 1], [`main:<module>>boot:_handle_fromlist>${load1}>json:<module>>json:loads`]: [1, 3], [`${load1}>json:<module>`]: [9, 9], [`${load1}>conf:<module>`]: [4, 4],
	});
	assert.deepEqual(await folded(data), {
		"<module>": [1, 1, 33], "<module>>import json": [6, 7, 19], "<module>>import json>import yaml": [7, 7, 7], "<module>>import json>loads": [3, 5, 5], "<module>>import json>finding modules": [0, 0, 0],
		"<module>>hook": [8, 8, 8], "<module>>finding modules": [4, 5, 5], "interpreter start-up": [9, 9, 9], "import conf": [4, 4, 4],
	});
	assert.equal(await folded(data, { imports: false, noise: true }), null, "nothing is folded then");
});

test("a module is called what an import can call it", async () => {
	const { importName } = await load("fold_imports.js");
	const cases = {
		"lib/python3/json/decoder.py": "json.decoder", "site-packages/rich/__init__.py": "rich", "app/util.py": "app.util",
		".cache/my-app/pkg/util.py": "pkg.util", "2nd/_a1/été.py": "_a1.été", "my-app/util.py": "util",
	};
	for (const [file, name] of Object.entries(cases))
		assert.equal(importName({ functions: { files: [file], file: [0] } }, 0), `import ${name}`);
});

test("paths of one side without a verdict are one frame a caller; what is certain is seen", async () => {
	const paths = { "main:<module>": [1, 1], "main:<module>>main:work": [50, 60] };
	for (const k of [1, 2, 3]) {
		paths[`main:<module>>main:old${k}`] = [k, 0];
		paths[`main:<module>>main:work>main:fresh${k}>main:deep${k}`] = [0, k];
	}
	paths["main:<module>>main:lone"] = [0, 1];
	paths["main:<module>>main:work>main:wrap>main:sure"] = [0, 40];
	paths["main:<module>>main:work>main:gone"] = [40, 0];
	const data = await dataOf(paths, { "main:sure": 2, "main:gone": 2, "main:work": 2 });
	assert.deepEqual(await folded(data), {
		"<module>": [1, 1, 108], "<module>>work": [50, 60, 106], "<module>>work>not sampled before (3 paths)": [0, 6, 6], "<module>>work>wrap": [0, 0, 40],
		"<module>>work>wrap>sure": [0, 40, 40], "<module>>work>gone": [40, 0, 0], "<module>>not sampled again (3 paths)": [6, 0, 0], "<module>>lone": [0, 1, 1],
	});
	paths["main:<module>>main:idle>main:never"] = [0, 0];
	paths["main:<module>>main:old1>main:idle"] = [0, 0];
	const more = await folded(await dataOf(paths, { "main:sure": 2, "main:gone": 2, "main:work": 2 }));
	assert.deepEqual(more["<module>>not sampled again (3 paths)"], [6, 0, 0], "what costs nothing keeps nothing");
	assert.equal(await folded({ ...data, verdicts: null }), null, "where nothing was judged nothing is noise");
});

// A tree of about so many frames, of copies of a small one.
function repeated(small, frames) {
	const copies = Math.ceil(frames / (small.n - 1)), n = 1 + copies * (small.n - 1);
	const data = { ...small, n };
	for (const key of ["func", "parent", "depth", "end"]) {
		data[key] = new small[key].constructor(n);
		data[key][0] = key === "end" ? n : small[key][0];
	}
	data.self = [new Float64Array(n), new Float64Array(n)];
	for (let c = 0, at = 1; c < copies; c++)
		for (let i = 1; i < small.n; i++, at++) {
			data.func[at] = small.func[i];
			data.depth[at] = small.depth[i] + (c % 7);
			data.parent[at] = small.parent[i] === 0 ? 0 : at - i + small.parent[i];
			data.end[at] = at - i + small.end[i];
			data.self.forEach((v, s) => (v[at] = small.self[s][i]));
		}
	return data;
}

// The same values in arrays that count how often an element is read.
function counting(values, reads) {
	const read = (array, key) => {
		if (typeof key === "string" && /^\d+$/.test(key)) reads.n++;
		const value = array[key];
		return typeof value === "function" ? value.bind(array) : value;
	};
	return new Proxy(values, { get: read });
}

test("ten times the frames are folded with ten times the work", async () => {
	const boot = ["boot:_find_and_load", "boot:_load_unlocked"], paths = {};
	for (let k = 0; k < 40; k++) paths[`main:<module>>${k % 2 ? "" : `${boot.join(">")}>`}main:f${k}`] = [k % 3, k % 5];
	const small = await dataOf(paths);
	const { foldTree, planFolds } = await load("folds.js"), { straightTree } = await load("tree.js");
	const readsFor = (frames) => {
		const reads = { n: 0 }, data = repeated(small, frames), straight = straightTree(data, null, null);
		const arrays = (object) => Object.fromEntries(Object.entries(object).map(([key, value]) => [key,
			ArrayBuffer.isView(value) ? counting(value, reads) : Array.isArray(value) && ArrayBuffer.isView(value[0]) ? value.map((v) => counting(v, reads)) : value]));
		const counted = arrays(straight);
		const tree = foldTree(planFolds(arrays(data), counted, { noise: true, imports: true }), counted);
		assert.equal(tree.total[1][0], straight.total[1][0]);
		return reads.n / data.n;
	};
	const [few, many] = [readsFor(2e3), readsFor(2e4)];
	assert.ok(few > 1, `${few} reads of each frame are too few to measure the work`);
	assert.ok(many < 1.1 * few, `${few} reads of each frame, and ${many} where there are ten times as many`);
});
