// SPDX-License-Identifier: MIT
// A call tree with less in it that nobody asked for; costs stay exact, since what is folded is
// added up.
//
//   main                                main
//     _find_and_load                      import json         what ran the module's code
//       _load_unlocked                      ...
//         ...                             finding modules     all other time below such frames
//           <module> json/__init__.py
//     parse            judged             parse
//     a, b, c          gone, not judged   not sampled again   one a caller: what had samples before
//     d, e             new, not judged    not sampled before  and has none now, or the other way
// round
//
// The interpreter's start-up (imports that nothing called) is one frame. A path stays when it is
// certain that it is new or gone, when the code itself is and costs something, or when something
// below it stays; own code is never part of the machinery of an import. A folded frame has a
// function of its own kind, numbered behind those of the page. Tables, lists and searches are of
// the tree as it was.
import { BASE, HEAD, MARKER_KIND, TASK_KIND } from "./data.js";
import { CHANGED } from "./colors.js";
import { AGAIN, BEFORE, FINDING, STARTUP } from "./fold_functions.js";
import { stateOf } from "./filters.js";
import { plural } from "./format.js";
import { moduleOf } from "./search.js";
import { arrange, Children } from "./transform.js";
import { isAdded, isRemoved, treeOf } from "./tree.js";

const OWN = 0, LIBRARY = 2; // src/profile/origin.h
const WRAPPER = 2; // a mark
const AS_FUNCTION = 3; // a verdict
const SEEN = 1 / 200; // of all: what is seen without looking for it
const NOT_THERE = 1; // the other side's code has no such function

export function hasImports({ functions }) {
	return functions.loads.includes(1);
}

// Of each node what it is of an import: 0 nothing, or the fold that its own time goes to, plus one.
function findImports(data) {
	const { n, func, parent, functions } = data;
	const part = new Uint8Array(n);
	const isModule = (f) => functions.names[f] === "<module>";
	for (let i = 1; i < n; i++) {
		const f = func[i], above = part[parent[i]];
		if (functions.loads[f]) part[i] = above || (parent[i] === 0 ? STARTUP : FINDING) + 1;
		else if (!above || functions.origin[f] === OWN) part[i] = 0;
		else if (above === STARTUP + 1) part[i] = functions.origin[f] === LIBRARY ? 0 : above;
		else part[i] = isModule(f) ? 0 : above;
	}
	return part;
}

// Functions of which it is certain that they are new or gone: it holds for paths without a test of
// their own.
function certainFunctions(data, { word }) {
	return word.map((w, f) => (w === CHANGED && ["new", "removed"].includes(stateOf(data, f)) ? 1 :
		0));
}

// Tells of a path whether it must be seen, whatever its neighbours are.
function staying(data, whole) {
	const { func, functions, marks, verdicts } = data;
	const families = [verdicts.self, verdicts.total].map((family) => ({
		path: family.path, certain: certainFunctions(data, family),
	}));
	const isCertain = ({ path, certain }, i) =>
		(path && path[i] !== AS_FUNCTION ? path[i] === CHANGED : certain[func[i]] === 1);
	const always = functions.kind.map((kind) =>
		(kind === MARKER_KIND || kind === TASK_KIND ? 1 : 0));
	const seen = [BASE, HEAD].map((side) => SEEN * (whole.total[side][0] || 1));
	const isSeen = (i) => whole.total[BASE][i] >= seen[BASE] || whole.total[HEAD][i] >= seen[HEAD];
	return (i) => always[func[i]] === 1 || marks?.[i] === WRAPPER ||
		(functions.presence[func[i]] === NOT_THERE && isSeen(i)) ||
		isCertain(families[0], i) || isCertain(families[1], i);
}

const isEmpty = ({ total }, i) => total[BASE][i] === 0 && total[HEAD][i] === 0;

// Of each node 0, or the fold that it goes to, plus one. A path that costs nothing on either side
// neither is noise nor keeps its callers.
function findNoise(data, whole) {
	const { n, parent } = data;
	const stays = new Uint8Array(n), out = new Uint8Array(n), mustStay = staying(data, whole);
	for (let i = n - 1; i > 0; i--) {
		if (isEmpty(whole, i)) continue;
		const fold = isRemoved(whole, i) ? AGAIN + 1 : isAdded(whole, i) ? BEFORE + 1 : 0;
		if (!fold || stays[i] || mustStay(i)) stays[parent[i]] = stays[i] = 1;
		else out[i] = fold;
	}
	return out;
}

// Where each node goes: {nodeOf, func, parent, origin} in the order of the making, callers first.
function gather(data, whole, imports, noise) {
	const { n, func, parent, functions } = data;
	const nodeOf = new Int32Array(n), children = new Children(n);
	const caller = new Int32Array(n); // where callees of a node go
	const lifted = new Uint8Array(n); // of the new nodes: the code of an imported module
	const isFolded = new Uint8Array(n);
	const isLifted = new Uint8Array(n); // or below what is: others may be laid over it
	for (let i = 1; i < n; i++) {
		const p = parent[i], up = caller[p];
		if (isFolded[p]) {
			isFolded[i] = 1;
			nodeOf[i] = caller[i] = up;
			if (!isEmpty(whole, i)) children.origin[up] = 0;
		} else if (imports?.[i]) {
			nodeOf[i] = children.find(up, functions.n + imports[i] - 1, i);
			caller[i] = up;
		} else {
			isFolded[i] = noise?.[i] ? 1 : 0;
			const f = isFolded[i] ? functions.n + noise[i] - 1 : func[i];
			isLifted[i] = imports?.[p] || isLifted[p] ? 1 : 0;
			nodeOf[i] = caller[i] = isFolded[i] || isLifted[i] ? children.find(up, f, i) :
				children.add(up, f, i);
			if (imports?.[p]) lifted[nodeOf[i]] = functions.names[func[i]] === "<module>" ? 1 : 0;
		}
	}
	for (let k = 1; k < children.n; k++) {
		// A single node says more by its own name.
		if (children.func[k] >= functions.n + AGAIN && children.func[k] <= functions.n + BEFORE &&
			children.origin[k] > 0)
			children.func[k] = func[children.origin[k]];
	}
	return { ...children.finish(), nodeOf, lifted };
}

// How the tree of data is folded: {tree, nodeOf}; nodeOf tells where each node of the page is now.
// null: nothing is. `whole` has every path that there is.
export function planFolds(data, whole, { noise, imports }) {
	const part = imports && hasImports(data) ? findImports(data) : null;
	const gone = noise && data.verdicts ? findNoise(data, whole) : null;
	if (!part && !gone?.some((fold) => fold > 0)) return null;
	const merged = gather(data, whole, part, gone);
	// The page's order is by weight; what is lifted stands where it was.
	const { tree, place } = arrange(merged, null);
	const { n } = tree, paths = new Uint32Array(n), modules = new Uint8Array(n),
		nodeOf = merged.nodeOf.map((i) => place[i]);
	for (let i = 1; i < data.n; i++) if (data.self[BASE][i] || data.self[HEAD][i])
		paths[nodeOf[i]]++;
	merged.lifted.subarray(0, n).forEach((flag, i) => (modules[place[i]] = flag));
	return { tree: { ...tree, pageNode: tree.origin, paths, modules }, nodeOf };
}

// A tree of the page's nodes, folded.
export function foldTree({ tree, nodeOf }, straight) {
	const { n, parent } = tree;
	const sums = straight.self.map((values) => {
		const own = new Float64Array(n);
		for (let i = 1; i < values.length; i++) if (values[i] !== 0) own[nodeOf[i]] += values[i];
		return own;
	});
	const total = sums.map((own, side) => {
		const all = own.slice();
		for (let i = n - 1; i > 0; i--) all[parent[i]] += all[i];
		// Samples without any frame.
		all[0] = straight.total[side][0];
		return all;
	});
	return treeOf(tree, sums, total);
}

// Of a file below a folder of modules, which recordings cut off, its dotted name.
function moduleName(file) {
	if (!/^[^/<].*\/.*\.py$/.test(file)) return moduleOf(file);
	return file.replace(/^(lib\/python[\d.]+|(site|dist)-packages)\//, "")
		.replace(/(\/__init__)?\.py$/, "").replaceAll("/", ".");
}

// What the code of a module is called where it is imported.
export function importName({ functions }, f) {
	return `import ${moduleName(functions.files[functions.file[f]])}`;
}

// What a frame is called; `name` is its function's.
export function frameName(data, { func, modules, paths }, i, name) {
	const f = func[i], { n } = data.functions;
	if (f >= n && f - n <= BEFORE) return `${name} (${plural(paths[i], "path")})`;
	return modules?.[i] ? importName(data, f) : name;
}
