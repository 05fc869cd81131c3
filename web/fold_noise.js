// SPDX-License-Identifier: MIT
// Folding noise: paths that only one side has, none of them certain, as one frame per caller.
//
//   parse        judged             parse
//   a, b, c      gone               not sampled again    at the place of a
//   d, e         new                not sampled before   at the place of d
//
// A path is kept if it is certainly new or gone, if its code is certainly new or gone and costs
// enough to be seen, or if a path below it is kept. Nodes keep their numbers: the first node of a
// merged frame stands for all; the others have no function and no cost, so they are not drawn.
import { HEAD, MARKER_KIND, TASK_KIND } from "./data.js";
import { CHANGED } from "./colors.js";
import { AGAIN, BEFORE } from "./fold_functions.js";
import { stateOf } from "./filters.js";

export const NOBODY = -1; // the function of a node that was merged into another

const WRAPPER = 2; // a mark
const AS_FUNCTION = 3; // a verdict
const SEEN = 1 / 200; // fraction of the whole from which on a frame is easily seen
const NOT_THERE = 1; // the other side's code has no such function

// Bits of functions: their paths are always shown; shown if large enough; shown unless the path was
// tested itself, by self or by total.
const ALWAYS = 1, IF_SEEN = 2, BY_SELF = 4, BY_TOTAL = 8;

// Finds functions that are certainly new or gone, which makes their paths certain, too.
function bitsOfFunctions(data) {
	const { n, kind, presence } = data.functions, { self, total } = data.verdicts;
	const bits = new Uint8Array(n);
	for (let f = 0; f < n; f++) {
		if (kind[f] === MARKER_KIND || kind[f] === TASK_KIND) bits[f] = ALWAYS;
		if (presence[f] === NOT_THERE) bits[f] |= IF_SEEN;
		const certain = (self.word[f] === CHANGED ? BY_SELF : 0) |
			(total.word[f] === CHANGED ? BY_TOTAL : 0);
		if (certain && ["new", "removed"].includes(stateOf(data, f))) bits[f] |= certain;
	}
	return bits;
}

// Must a path be shown? By its own test, else its function's.
function isCertain({ path }, i, ofFunction) {
	return path && path[i] !== AS_FUNCTION ? path[i] === CHANGED : ofFunction !== 0;
}

// The nodes that are noise, in reverse order. A path without cost on either side is not noise and
// does not keep its callers. A path with cost on both sides is not noise, and neither are its
// callers.
function findNoise(data, whole) {
	const { n, parent, func, marks, verdicts: { self, total } } = data;
	const [base, head] = whole.total, bits = bitsOfFunctions(data);
	const seenBase = SEEN * (base[0] || 1), seenHead = SEEN * (head[0] || 1);
	const stays = new Uint8Array(n), noise = [];
	for (let i = n - 1; i > 0; i--) {
		const before = base[i], after = head[i];
		if ((before !== 0) === (after !== 0)) continue;
		const bit = bits[func[i]];
		if (stays[i] !== 0 || (bit & ALWAYS) !== 0 || marks?.[i] === WRAPPER ||
			((bit & IF_SEEN) !== 0 && (before >= seenBase || after >= seenHead)) ||
			isCertain(self, i, bit & BY_SELF) || isCertain(total, i, bit & BY_TOTAL)) {
			stays[parent[i]] = 1;
			continue;
		}
		noise.push(i);
	}
	return noise;
}

// The first callee of each fold, by caller; callers come in preorder.
class Firsts {
	constructor(deepest) {
		this.caller = new Int32Array(2 * (deepest + 1)).fill(-1);
		this.callee = new Int32Array(2 * (deepest + 1));
	}
	of(caller, depth, fold, callee) {
		const at = 2 * depth + fold;
		if (this.caller[at] !== caller) {
			this.caller[at] = caller;
			this.callee[at] = callee;
		}
		return this.callee[at];
	}
}

// The frames of folded noise: {func, paths, runs}: functions of nodes, number of paths with own
// time that a frame stands for, and runs of merged nodes: [frame, first node, node after the last,
// ...]. null: no noise. `except`: nodes that are folded for other reasons.
export function foldNoise(data, whole, except) {
	const noise = findNoise(data, whole);
	if (!noise.length) return null;
	const { n, parent, depth, end, functions } = data, [base, head] = whole.self;
	const func = data.func.slice(), paths = new Uint32Array(n), runs = [];
	const firsts = new Firsts(data.deepest), after = whole.total[HEAD];
	let behind = 0;
	for (let k = noise.length - 1; k >= 0; k--) {
		const first = noise[k];
		if (first < behind || except?.[first]) continue;
		const fold = after[first] === 0 ? AGAIN : BEFORE;
		const at = firsts.of(parent[first], depth[first], fold, first);
		behind = end[first];
		runs.push(at, first, behind);
		func.fill(NOBODY, first, behind);
		for (let i = first; i < behind; i++) if (base[i] !== 0 || head[i] !== 0) paths[at]++;
		func[at] = functions.n + fold;
	}
	return { func, paths, runs };
}

// The node into which each node was merged.
export function standing(n, { runs }) {
	const nodeOf = new Int32Array(n);
	for (let i = 1; i < n; i++) nodeOf[i] = i;
	for (let k = 0; k < runs.length; k += 3) nodeOf.fill(runs[k], runs[k + 1], runs[k + 2]);
	return nodeOf;
}

// The page's tree with folded noise: {tree, runs, nodeOf}. nodeOf is computed on demand.
export function treeOfNoise({ n, parent, end, depth, deepest }, { runs, func, paths }) {
	let nodeOf = null;
	return {
		tree: { n, parent, end, depth, deepest, func, paths }, runs,
		get nodeOf() {
			return (nodeOf ??= standing(n, { runs }));
		},
	};
}

// Values of the tree with folded noise: {self, total}. A merged frame's cost is all in its total
// (ownTime in tree.js), so own times are not copied.
export function sumNoise({ runs }, straight) {
	const total = straight.total.map((values) => values.slice());
	for (const all of total) {
		// A run consists of whole subtrees.
		for (let k = 0; k < runs.length; k += 3) {
			const first = runs[k + 1], sum = all[first];
			all.fill(0, first, runs[k + 2]);
			all[runs[k]] += sum;
		}
	}
	return { self: straight.self, total };
}
