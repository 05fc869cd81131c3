// SPDX-License-Identifier: MIT
// Trees to draw, computed from the page's self values: filtered, reduced to removed paths, or
// inverted. Nothing here judges a change.
//
//   self values -> straight tree (totals) -> elided? -> inverted? -> shown
//
// A shown tree is {n, func, parent, end, depth, deepest, self, total, inverted}. In an inverted
// tree, `total` of a node is the self time of the leaf when called through this path, each sample
// counted once. `isNumbered`: nodes have the page's numbers, or `pageNode` has them (0 for a merged
// frame), so marks and path verdicts of the page apply. Frames that stand for `paths` (folds.js)
// are merged, too: use ownTime() for them, not `self`. `ofTotals`: an inverted tree of a function's
// totals. `line`: of the call in its caller, `step`: what a path has instead of `func`, `split`:
// which nodes are parts of the page's (all three: call_lines.js).
import { BASE, HEAD, selfValues } from "./data.js";
import { passingThrough } from "./filters.js";

// Sums of values over subtrees, of both sides.
function addUp({ n, parent }, [ownBase, ownHead]) {
	const base = ownBase.slice(), head = ownHead.slice();
	for (let i = n - 1; i > 0; i--) {
		const p = parent[i];
		base[p] += base[i];
		head[p] += head[i];
	}
	return [base, head];
}

// of: the page's data, or a folded tree (folds.js).
export function treeOf(of, self, total) {
	const { n, func, parent, end, depth, deepest, pageNode, paths, modules } = of;
	const { line, step, split } = of;
	return {
		n, func, parent, end, depth, deepest, pageNode, paths, modules, line, step, split,
		self, total, inverted: false, isNumbered: true,
	};
}

// The page's number of a node; 0: none.
export function pageNodeOf(tree, i) {
	return !tree.isNumbered || tree.paths?.[i] ? 0 : tree.pageNode ? tree.pageNode[i] : i;
}

// Self values below roots of one function.
function below({ n, func, end }, self, f) {
	const out = [new Float64Array(n), new Float64Array(n)];
	for (let i = 1; i < n; i = end[i])
		if (func[i] === f) for (const side of [BASE, HEAD])
			out[side].set(self[side].subarray(i, end[i]), i);
	return out;
}

// The filtered tree. threads: flags; filter: what paths must have (filters.js); null: all. bench:
// function of a benchmark; -1: all. range: of time; null: all.
export function straightTree(data, threads, filter, bench = -1, range = null) {
	const every = selfValues(data, threads, range);
	const all = bench < 0 ? every : below(data, every, bench);
	const self = filter ? passingThrough(data, all, filter) : all;
	const tree = treeOf(data, self, addUp(data, self));
	// Samples without frames belong to the whole, but not to a thread's cell or a function.
	if (!threads && !filter && bench < 0 && !range) {
		for (const [side, name] of [[BASE, "base"], [HEAD, "head"]])
			tree.total[side][0] = Math.max(tree.total[side][0], data.header[name]?.sum ?? 0);
	}
	return tree;
}

export function isRemoved(tree, i) {
	return tree.total[HEAD][i] === 0 && tree.total[BASE][i] > 0;
}

export function isAdded(tree, i) {
	return tree.total[BASE][i] === 0 && tree.total[HEAD][i] > 0;
}

// Own time of a frame. A merged frame of paths has nothing below it.
export function ownTime(tree, side, i) {
	return (tree.inverted || tree.paths?.[i] ? tree.total : tree.self)[side][i];
}

// Is node i gone, and does it count? With `saved` (saved_time.js), only its functions, and
// everything below them, count.
function goneBy({ func, parent, total: [before, after] }, saved) {
	if (!saved) return (i) => after[i] === 0 && before[i] > 0;
	const flags = new Uint8Array(func.length);
	for (let i = 1; i < func.length; i++)
		flags[i] = after[i] === 0 && before[i] > 0 && (saved[func[i]] || flags[parent[i]]) ? 1 : 0;
	return (i) => flags[i] === 1;
}

// Only paths that the head no longer has; their callers keep the sum of what was removed below.
// Drawing needs no self values, so these are computed on demand.
export function elidedTree(data, straight, saved = null) {
	const { n, parent } = data;
	const sums = new Float64Array(n), none = new Float64Array(n);
	const before = straight.total[BASE], isGone = goneBy(straight, saved);
	for (let i = n - 1; i > 0; i--) {
		const p = parent[i];
		if (isGone(i)) sums[i] = before[i];
		// Everything below a gone frame is part of it.
		if (sums[i] !== 0 && !(p > 0 && isGone(p))) sums[p] += sums[i];
	}
	let self = null;
	return {
		...treeOf(data, null, [sums, none]), elided: true, isGone,
		get self() {
			return (self ??= [sums.map((_, i) => (isGone(i) ? ownTime(straight, BASE, i) : 0)),
				none]);
		},
	};
}

// Is any path with own time gone?
export function hasRemoved(straight) {
	const base = straight.self[BASE], after = straight.total[HEAD];
	for (let i = 1; i < straight.n; i++)
		if (base[i] > 0 && after[i] === 0) return true;
	return false;
}

// The base's time on gone paths: all, or those counted (saved_time.js). Everything below a gone
// frame is part of it.
export function removedSum({ func, end, total: [before, after] }, saved = null) {
	let sum = 0;
	for (let i = after.indexOf(0, 1), next; i > 0; i = after.indexOf(0, next)) {
		const counts = !saved || saved[func[i]];
		if (counts) sum += before[i];
		next = counts ? end[i] : i + 1;
	}
	return sum;
}

// ---- inversion ----
//
// The leaves are one array of items; a node of the inverted tree is a range of it, whose items
// have reached the same chain of functions. Its children are that range grouped by the function
// of each item's next caller. Subtrees too narrow for any screen are not opened in large trees;
// those on the way to (and below) the zoomed path are measured against that path instead.

// Number of steps from leaves to roots below which everything is opened, and the part of the whole
// that is too narrow.
const bounds = { openAllBelow: 3e6, narrowest: 1 / 20000 };

class Grower {
	constructor(capacity) {
		this.n = 0;
		this.func = new Int32Array(capacity);
		this.parent = new Int32Array(capacity);
		this.depth = new Uint32Array(capacity);
		this.base = new Float64Array(capacity);
		this.head = new Float64Array(capacity);
		this.selfBase = new Float64Array(capacity);
		this.selfHead = new Float64Array(capacity);
	}
	add(func, parent, depth, base, head) {
		if (this.n === this.func.length) this.grow();
		const i = this.n++;
		this.func[i] = func;
		this.parent[i] = parent;
		this.depth[i] = depth;
		this.base[i] = base;
		this.head[i] = head;
		return i;
	}
	grow() {
		for (const key of ["func", "parent", "depth", "base", "head", "selfBase", "selfHead"]) {
			const bigger = new this[key].constructor(this.n * 2);
			bigger.set(this[key]);
			this[key] = bigger;
		}
	}
	finish() {
		const { n } = this;
		const end = new Uint32Array(n);
		let deepest = 0;
		for (let i = n - 1; i >= 0; i--) {
			end[i] = Math.max(end[i], i + 1);
			if (i > 0 && end[this.parent[i]] < end[i]) end[this.parent[i]] = end[i];
			deepest = Math.max(deepest, this.depth[i]);
		}
		return {
			n, end, deepest,
			func: this.func.subarray(0, n), parent: this.parent.subarray(0, n),
			depth: this.depth.subarray(0, n),
			self: [this.selfBase.subarray(0, n), this.selfHead.subarray(0, n)],
			total: [this.base.subarray(0, n), this.head.subarray(0, n)],
			inverted: true,
		};
	}
}

// Items of leaves: the current node of each, and its values; `steps`: to the roots, in sum.
function collectLeaves(tree) {
	const [base, head] = tree.self;
	let n = 0;
	for (let i = 1; i < tree.n; i++) if (base[i] || head[i]) n++;
	const nodes = new Int32Array(n);
	for (let i = 1, k = 0; i < tree.n; i++) if (base[i] || head[i]) nodes[k++] = i;
	return leavesOf(tree, nodes, tree.self);
}

function leavesOf(tree, nodes, [base, head]) {
	const n = nodes.length;
	const leaves = {
		n, steps: 0, at: Int32Array.from(nodes), base: new Float64Array(n),
		head: new Float64Array(n),
	};
	for (let k = 0; k < n; k++) {
		leaves.steps += tree.depth[nodes[k]];
		leaves.base[k] = base[nodes[k]];
		leaves.head[k] = head[nodes[k]];
	}
	return leaves;
}

// Splits ranges of items by the function of their current node. Items are moved instead of
// referenced, because contiguous ranges are fast to walk.
class Grouper {
	constructor(functionCount, leaves, tree) {
		this.slot = new Int32Array(functionCount).fill(-1);
		this.leaves = leaves;
		this.tree = tree;
		this.group = new Int32Array(leaves.n);
		this.spare = {
			at: new Int32Array(leaves.n), base: new Float64Array(leaves.n),
			head: new Float64Array(leaves.n),
		};
	}
	split(lo, hi) {
		const { slot, group, leaves: { at, base, head }, tree: { func } } = this;
		const groups = [];
		for (let k = lo; k < hi; k++) {
			const f = func[at[k]];
			let g = slot[f];
			if (g < 0) {
				g = slot[f] = groups.length;
				groups.push({ func: f, n: 0, lo: 0, hi: 0, base: 0, head: 0 });
			}
			const to = groups[g];
			to.n++;
			to.base += base[k];
			to.head += head[k];
			group[k] = g;
		}
		let first = lo;
		for (const g of groups) {
			g.lo = g.hi = first;
			first += g.n;
			slot[g.func] = -1;
		}
		if (groups.length === 1) groups[0].hi = hi;
		else this.gather(groups, lo, hi);
		return groups;
	}
	// Move each item to its group's range.
	gather(groups, lo, hi) {
		const { group, leaves, spare } = this;
		for (let k = lo; k < hi; k++) {
			const to = groups[group[k]].hi++;
			spare.at[to] = leaves.at[k];
			spare.base[to] = leaves.base[k];
			spare.head[to] = leaves.head[k];
		}
		for (let k = lo; k < hi; k++) {
			leaves.at[k] = spare.at[k];
			leaves.base[k] = spare.base[k];
			leaves.head[k] = spare.head[k];
		}
	}
	// Move items to their callers and to the end of the range. Those without a caller end here
	// and are added to sums. Returns the start of the rest.
	climb(lo, hi, sums) {
		const { leaves: { at, base, head }, tree: { parent } } = this;
		let to = hi;
		for (let k = hi - 1; k >= lo; k--) {
			const caller = parent[at[k]];
			if (caller === 0) {
				sums.base += base[k];
				sums.head += head[k];
				continue;
			}
			to--;
			at[to] = caller;
			base[to] = base[k];
			head[to] = head[k];
		}
		return to;
	}
}

// The inverted tree. zoomed: functions from the root to the zoomed frame, which is opened down to
// its own small parts.
export function invertTree(tree, functionCount, factor, zoomed = [], limits = bounds) {
	const [base, head] = tree.total;
	const inverted = invertLeaves(tree, collectLeaves(tree), [base[0], head[0]], functionCount,
		factor, zoomed, limits);
	inverted.elided = tree.elided;
	return inverted;
}

// The paths to nodes, with their values, which add up to `all`.
export function callersTree(tree, nodes, values, all, functionCount, factor) {
	return invertLeaves(tree, leavesOf(tree, nodes, values), all, functionCount, factor, [],
		bounds);
}

function invertLeaves(tree, leaves, sums, functionCount, factor, zoomed,
	{ openAllBelow, narrowest }) {
		const grouper = new Grouper(functionCount, leaves, tree);
		const out = new Grower(Math.max(1024, leaves.n));
		const all = Math.max(sums[BASE] * factor, sums[HEAD]);
		const weight = (g) => Math.max(g.base * factor, g.head);
		const limit = leaves.steps > openAllBelow ? all * narrowest : 0;
		const pending = [], ended = { base: 0, head: 0 };
		const push = (groups, parent, depth, limitHere, on) => {
			if (groups.length > 1) groups.sort((a, b) => weight(b) - weight(a) || a.func - b.func);
			for (let i = groups.length - 1; i >= 0; i--)
				pending.push({ group: groups[i], parent, depth, limit: limitHere, on });
		};
		out.add(-1, -1, 0, sums[BASE], sums[HEAD]);
		push(grouper.split(0, leaves.n), 0, 1, limit, 0);
		while (pending.length) {
			const next = pending.pop();
			const { group, depth } = next;
			const node = out.add(group.func, next.parent, depth, group.base, group.head);
			const onPath = next.on === depth - 1 && zoomed[depth - 1] === group.func;
			let limitBelow = next.limit;
			if (onPath && depth === zoomed.length && limit) limitBelow = weight(group) * narrowest;
			else if (!onPath && weight(group) < next.limit) continue;
			ended.base = ended.head = 0;
			const rest = grouper.climb(group.lo, group.hi, ended);
			out.selfBase[node] = ended.base;
			out.selfHead[node] = ended.head;
			if (rest < group.hi)
				push(grouper.split(rest, group.hi), node, depth + 1, limitBelow,
					onPath ? depth : -1);
		}
		const inverted = out.finish();
		inverted.partial = limit > 0;
		return inverted;
	}

// ---- sums over functions ----

// Self and total of each function; a total counts a sample once, even in recursion.
export function functionCosts(tree, functionCount) {
	const cost = {
		self: [new Float64Array(functionCount), new Float64Array(functionCount)],
		total: [new Float64Array(functionCount), new Float64Array(functionCount)],
	};
	const openUntil = new Uint32Array(functionCount);
	const { n, func, end, self: [ownBase, ownHead], total: [base, head] } = tree;
	const [selfBase, selfHead] = cost.self, [totalBase, totalHead] = cost.total;
	for (let i = 1; i < n; i++) {
		const f = func[i];
		selfBase[f] += ownBase[i];
		selfHead[f] += ownHead[i];
		if (i < openUntil[f]) continue;
		openUntil[f] = end[i];
		totalBase[f] += base[i];
		totalHead[f] += head[i];
	}
	return cost;
}

// Sum of all functions' changes, more and less alike.
export function changeOf(costs, { isDiff, factor }) {
	const [base, head] = costs.self;
	let sum = 0;
	if (isDiff) for (let f = 0; f < base.length; f++) sum += Math.abs(head[f] - base[f] * factor);
	return sum;
}

// Total of all samples whose stack has a matched function, each once.
export function matchedTotal(tree, matched) {
	let base = 0, head = 0;
	for (let i = 1; i < tree.n;) {
		if (matched[tree.func[i]]) {
			base += tree.total[BASE][i];
			head += tree.total[HEAD][i];
			i = tree.end[i];
		} else {
			i++;
		}
	}
	return [base, head];
}

// ---- paths ----

export function pathOf(tree, node) {
	const path = [], steps = tree.step ?? tree.func;
	for (let i = node; i > 0; i = tree.parent[i]) path.push(steps[i]);
	return path.reverse();
}

// The node of a path of functions, or of its longest existing part.
export function nodeOfPath(tree, path) {
	const steps = tree.step ?? tree.func;
	let node = 0;
	for (const f of path) {
		let child = node + 1;
		while (child < tree.end[node] && steps[child] !== f) child = tree.end[child];
		if (child >= tree.end[node]) break;
		node = child;
	}
	return node;
}
