// SPDX-License-Identifier: MIT
// Trees that are drawn, made from the leaf values of the page: filtered by thread, reduced to what
// was removed, or turned round so that leaves are the roots. Nothing here judges anything.
//
//   self values -> straight tree (totals) -> elided? -> inverted? -> shown
//
// A shown tree is {n, func, parent, end, depth, deepest, self, total, inverted}. In an inverted
// tree `total` of a node is the self time of the leaf as it was reached through this path, each
// sample counted once.
import { BASE, HEAD, selfValues } from "./data.js";

function addUp(data, self) {
	const { n, parent } = data;
	const base = Float64Array.from(self[BASE]), head = Float64Array.from(self[HEAD]);
	for (let i = n - 1; i > 0; i--) {
		const p = parent[i];
		base[p] += base[i];
		head[p] += head[i];
	}
	return [base, head];
}

function withTotals(data, self) {
	const { n, func, parent, end, depth, deepest } = data;
	return { n, func, parent, end, depth, deepest, self, total: addUp(data, self), inverted: false };
}

export function straightTree(data, threads) {
	const tree = withTotals(data, selfValues(data, threads));
	// Samples without any frame belong to the whole, but to no thread's cell.
	if (!threads) {
		for (const [side, name] of [[BASE, "base"], [HEAD, "head"]])
			tree.total[side][0] = Math.max(tree.total[side][0], data.header[name]?.sum ?? 0);
	}
	return tree;
}

export function isRemoved(tree, i) {
	return tree.total[HEAD][i] === 0 && tree.total[BASE][i] > 0;
}

// Only paths that the head no longer has; their callers keep the sum of what was removed below.
export function elidedTree(data, straight) {
	const self = [new Float64Array(data.n), new Float64Array(data.n)];
	for (let i = 1; i < data.n; i++)
		if (isRemoved(straight, i)) self[BASE][i] = straight.self[BASE][i];
	const tree = withTotals(data, self);
	tree.elided = true;
	return tree;
}

// Whether any path that had time of its own is gone.
export function hasRemoved(straight) {
	for (let i = 1; i < straight.n; i++)
		if (straight.self[BASE][i] > 0 && isRemoved(straight, i)) return true;
	return false;
}

// ---- inversion ----
//
// The leaves are one array of items; a node of the inverted tree is a range of it, whose items
// have reached the same chain of functions. Its children are that range grouped by the function
// of each item's next caller. Subtrees too narrow for any screen are not opened in large trees;
// those on the way to (and below) the zoomed path are measured against that path instead.

// Steps from leaves to roots that are always walked, and the part of the whole that is too narrow.
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

function collectLeaves(tree) {
	let n = 0, steps = 0;
	for (let i = 1; i < tree.n; i++)
		if (tree.self[BASE][i] || tree.self[HEAD][i]) {
			n++;
			steps += tree.depth[i];
		}
	const at = new Int32Array(n), base = new Float64Array(n), head = new Float64Array(n);
	for (let i = 1, k = 0; i < tree.n; i++)
		if (tree.self[BASE][i] || tree.self[HEAD][i]) {
			at[k] = i;
			base[k] = tree.self[BASE][i];
			head[k++] = tree.self[HEAD][i];
		}
	return { n, steps, at, base, head };
}

// Split items [lo, hi) of `order` by the function of the node that each stands on.
class Grouper {
	constructor(functionCount, leaves, tree) {
		this.slot = new Int32Array(functionCount).fill(-1);
		this.leaves = leaves;
		this.tree = tree;
		this.moved = new Int32Array(leaves.n);
		this.order = new Int32Array(leaves.n);
		for (let i = 0; i < leaves.n; i++) this.order[i] = i;
	}
	split(lo, hi) {
		const { slot, leaves, tree, order, moved } = this;
		const groups = [];
		for (let k = lo; k < hi; k++) {
			const item = order[k];
			const f = tree.func[leaves.at[item]];
			let g = slot[f];
			if (g < 0) {
				g = slot[f] = groups.length;
				groups.push({ func: f, n: 0, lo: 0, hi: 0, base: 0, head: 0 });
			}
			const group = groups[g];
			group.n++;
			group.base += leaves.base[item];
			group.head += leaves.head[item];
		}
		let at = lo;
		for (const group of groups) {
			group.lo = group.hi = at;
			at += group.n;
		}
		for (let k = lo; k < hi; k++) {
			const item = order[k];
			moved[groups[slot[tree.func[leaves.at[item]]]].hi++] = item;
		}
		for (let k = lo; k < hi; k++) order[k] = moved[k];
		for (const group of groups) slot[group.func] = -1;
		return groups;
	}
	// Move items to their callers; those that have none come first. Returns where the rest begins.
	climb(lo, hi, ended) {
		const { leaves, tree, order, moved } = this;
		let front = lo, rest = 0;
		for (let k = lo; k < hi; k++) {
			const item = order[k];
			const caller = tree.parent[leaves.at[item]];
			if (caller === 0) {
				ended(item);
				order[front++] = item;
			} else {
				leaves.at[item] = caller;
				moved[rest++] = item;
			}
		}
		for (let k = 0; k < rest; k++) order[front + k] = moved[k];
		return front;
	}
}

// zoomed: functions from the root to the zoomed frame, which is opened down to its own small parts.
export function invertTree(tree, functionCount, factor, zoomed = [], { openAllBelow, narrowest } = bounds) {
	const leaves = collectLeaves(tree);
	const grouper = new Grouper(functionCount, leaves, tree);
	const out = new Grower(Math.max(1024, leaves.n * 2));
	const all = Math.max(tree.total[BASE][0] * factor, tree.total[HEAD][0]);
	const weight = (g) => Math.max(g.base * factor, g.head);
	const limit = leaves.steps > openAllBelow ? all * narrowest : 0;
	const pending = [];
	const push = (groups, parent, depth, limitHere, on) => {
		groups.sort((a, b) => weight(b) - weight(a) || a.func - b.func);
		for (let i = groups.length - 1; i >= 0; i--)
			pending.push({ group: groups[i], parent, depth, limit: limitHere, on });
	};
	out.add(-1, -1, 0, tree.total[BASE][0], tree.total[HEAD][0]);
	push(grouper.split(0, leaves.n), 0, 1, limit, 0);
	while (pending.length) {
		const next = pending.pop();
		const { group, depth } = next;
		const node = out.add(group.func, next.parent, depth, group.base, group.head);
		const onPath = next.on === depth - 1 && zoomed[depth - 1] === group.func;
		let limitBelow = next.limit;
		if (onPath && depth === zoomed.length && limit) limitBelow = weight(group) * narrowest;
		else if (!onPath && weight(group) < next.limit) continue;
		const front = grouper.climb(group.lo, group.hi, (item) => {
			out.selfBase[node] += leaves.base[item];
			out.selfHead[node] += leaves.head[item];
		});
		if (front < group.hi)
			push(grouper.split(front, group.hi), node, depth + 1, limitBelow, onPath ? depth : -1);
	}
	const inverted = out.finish();
	inverted.partial = limit > 0;
	inverted.elided = tree.elided;
	return inverted;
}

// ---- sums over functions ----

// Self and total of each function; a total counts a sample once however often it recurs.
export function functionCosts(tree, functionCount) {
	const cost = {
		self: [new Float64Array(functionCount), new Float64Array(functionCount)],
		total: [new Float64Array(functionCount), new Float64Array(functionCount)],
	};
	const openUntil = new Uint32Array(functionCount);
	const { n, func, end, self, total } = tree;
	for (let i = 1; i < n; i++) {
		const f = func[i];
		cost.self[BASE][f] += self[BASE][i];
		cost.self[HEAD][f] += self[HEAD][i];
		if (i < openUntil[f]) continue;
		openUntil[f] = end[i];
		cost.total[BASE][f] += total[BASE][i];
		cost.total[HEAD][f] += total[HEAD][i];
	}
	return cost;
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
	const path = [];
	for (let i = node; i > 0; i = tree.parent[i]) path.push(tree.func[i]);
	return path.reverse();
}

// The node that a path of functions leads to, or of its longest part that exists.
export function nodeOfPath(tree, path) {
	let node = 0;
	for (const f of path) {
		let child = node + 1;
		while (child < tree.end[node] && tree.func[child] !== f) child = tree.end[child];
		if (child >= tree.end[node]) break;
		node = child;
	}
	return node;
}

// ---- places ----

// x of every node when its width is `w`: children follow each other from the parent's left edge.
export function placeNodes(tree, w) {
	const x = new Float64Array(tree.n), next = new Float64Array(tree.n);
	for (let i = 1; i < tree.n; i++) {
		const p = tree.parent[i];
		x[i] = next[i] = next[p];
		next[p] += w[i];
	}
	return x;
}
