// SPDX-License-Identifier: MIT
// Paths that only one side has, and of which nothing is certain, as one frame a caller.
//
//   parse        judged             parse
//   a, b, c      gone               not sampled again    at the place of a
//   d, e         new                not sampled before   at the place of d
//
// A path stays when it is certain that it is new or gone, when the code itself is and costs
// something, or when something below it stays. Nodes keep their numbers: the first of those that
// are one frame stands for all of them, the others have no function and no cost, so no picture has
// them.
import { BASE, HEAD, MARKER_KIND, TASK_KIND } from "./data.js";
import { CHANGED } from "./colors.js";
import { AGAIN, BEFORE } from "./fold_functions.js";
import { stateOf } from "./filters.js";
import { isAdded, isRemoved } from "./tree.js";

export const NOBODY = -1; // the function of a node that another one stands for

const WRAPPER = 2; // a mark
const AS_FUNCTION = 3; // a verdict
const SEEN = 1 / 200; // of all: what is seen without looking for it
const NOT_THERE = 1; // the other side's code has no such function

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

// Of each node 0, or the fold that it goes to, plus one; null: none does. A path that costs nothing
// on either side neither is noise nor keeps its callers.
function findNoise(data, whole) {
	const { n, parent } = data;
	const stays = new Uint8Array(n), out = new Uint8Array(n), mustStay = staying(data, whole);
	let isAny = false;
	for (let i = n - 1; i > 0; i--) {
		if (isEmpty(whole, i)) continue;
		const fold = isRemoved(whole, i) ? AGAIN + 1 : isAdded(whole, i) ? BEFORE + 1 : 0;
		if (!fold || stays[i] || mustStay(i)) stays[parent[i]] = stays[i] = 1;
		else {
			out[i] = fold;
			isAny = true;
		}
	}
	return isAny ? out : null;
}

// Of a caller the first callee of a fold; callers come in preorder.
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

// The frames that stand for noise: {func, nodeOf, paths}, the functions of nodes, the node that
// stands for each, and how many with time of their own such a frame stands for. null: nothing is
// noise. `except`: nodes that are folded otherwise.
export function foldNoise(data, whole, except) {
	const noise = findNoise(data, whole);
	if (!noise) return null;
	const { n, parent, depth, end, functions } = data, [base, head] = whole.self;
	const func = data.func.slice(), nodeOf = new Int32Array(n), paths = new Uint32Array(n);
	const firsts = new Firsts(data.deepest);
	for (let i = 1; i < n;) {
		if (!noise[i] || except?.[i]) {
			nodeOf[i] = i++;
			continue;
		}
		const fold = noise[i] - 1, at = firsts.of(parent[i], depth[i], fold, i);
		for (const behind = end[i]; i < behind; i++) {
			nodeOf[i] = at;
			func[i] = NOBODY;
			if (base[i] || head[i]) paths[at]++;
		}
		func[at] = functions.n + fold;
	}
	return { func, nodeOf, paths };
}

// The page's tree with that: {tree, nodeOf}.
export function treeOfNoise({ n, parent, end, depth, deepest }, { nodeOf, ...folded }) {
	return { tree: { n, parent, end, depth, deepest, ...folded }, nodeOf };
}

// A tree of the page's nodes with it: {self, total}.
export function sumNoise({ nodeOf }, straight) {
	const self = [], total = [];
	for (const side of [BASE, HEAD]) {
		const own = straight.self[side].slice(), all = straight.total[side].slice();
		for (let i = 1; i < own.length; i++) {
			const at = nodeOf[i];
			if (at === i) continue;
			own[at] += own[i];
			own[i] = all[i] = 0;
			all[at] = own[at];
		}
		self.push(own);
		total.push(all);
	}
	return { self, total };
}
