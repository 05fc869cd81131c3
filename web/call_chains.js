// SPDX-License-Identifier: MIT
// Chains of functions that call each other and share one change, so that the change is listed once,
// under the outermost of them.
//
//   handle +100 > render +98 > cell +95 > a library      handle +100, most of it in the library
//
// Sums are per function, over its outermost nodes: recursion counts once, and calls that now arrive
// by another path do not change the callers above both.
import { BASE, HEAD } from "./data.js";

// Part of a change that caller and callee have in common.
const NEARLY = 0.75;
// Least part of a caller's cost that is its callee's, and of a change that is one function's own;
// functions with a larger part of the run are not listed.
const MOST = 0.5;
// Part of a change that is negligible.
const LITTLE = 0.05;

export const changed = (sides, factor, k) => sides[HEAD][k] - factor * sides[BASE][k];

const isPart = (part, whole, from) => part >= from * whole && part * from <= whole;

// The smaller of both sides' costs, and the larger.
const least = (sides, factor, k) => Math.min(factor * sides[BASE][k], sides[HEAD][k]);
const most = (sides, factor, k) => Math.max(factor * sides[BASE][k], sides[HEAD][k]);

// Callers before their callees: a caller costs at least as much, and comes first among equals.
function outermostFirst(nodes, total, factor) {
	return [...nodes.keys()].sort((a, b) => most(total, factor, b) - most(total, factor, a));
}

// The outermost nodes of functions that may be listed, and for each node the next candidate above
// it; 0: none. Functions with most of the run are skipped, since the verdict already covers them.
// Code that runs when a module is loaded does not count as part of its importer.
export function findOutermost(tree, { factor, functions: { loads } }, { total }, ways) {
	const { n, func, end } = tree, nodes = new Map(), up = new Int32Array(n);
	const isAbove = new Uint8Array(ways.length), above = [];
	const half = MOST * least(tree.total, factor, 0);
	const isWide = Uint8Array.from(ways, (_, f) => (least(total, factor, f) > half ? 1 : 0));
	for (let i = 1; i < n; i++) {
		while (above.length && i >= end[above.at(-1)]) isAbove[func[above.pop()]] = 0;
		const f = func[i];
		if (isAbove[f] || (ways[f] === 0 && !loads[f])) continue;
		if (!loads[f]) {
			const next = above.at(-1) ?? 0;
			up[i] = isWide[func[next]] ? up[next] : next;
			if (!nodes.has(f)) nodes.set(f, []);
			nodes.get(f).push(i);
			isAbove[f] = 1;
		}
		above.push(i);
	}
	return { nodes, up };
}

// Index of the first function whose value is at most `from`, in functions sorted by descending
// value.
function placeOf(sorted, values, from) {
	let low = 0, high = sorted.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (values[sorted[middle]] > from) low = middle + 1;
		else high = middle;
	}
	return low;
}

// The representative under which each function's change is listed: the outermost caller in a chain
// of callers that have nearly the same change and little other cost, or else the function itself.
// `stays`: flags of functions that represent themselves.
export function findRepresentatives(tree, data, { total }, { nodes, up }, own, stays) {
	const { factor, functions } = data, { func } = tree;
	const change = total[HEAD].map((_, f) => changed(total, factor, f));
	const size = change.map((_, f) => least(total, factor, f));
	// A necessary condition for f and g having most of each other's change.
	const fits = (f, g) => own[f] >= own[g] && isPart(size[g], size[f], MOST) &&
		isPart(change[g] / change[f], 1, NEARLY * NEARLY);
	const covers = (f, g, part) =>
		isPart(part / change[g], 1, NEARLY) && isPart(part / change[f], 1, NEARLY);
	const order = outermostFirst(nodes, total, factor);
	const bySize = [...order].sort((a, b) => size[b] - size[a]);
	const representative = Int32Array.from({ length: functions.n }, (_, f) => f);
	const rank = new Int32Array(functions.n);
	order.forEach((f, k) => (rank[f] = k));
	// The possible callers among the functions before g.
	const callersOf = (g) => {
		const found = [];
		for (let k = placeOf(bySize, size, size[g] / MOST);
			k < bySize.length && size[bySize[k]] >= MOST * size[g]; k++)
			if (rank[bySize[k]] < rank[g] && fits(bySize[k], g)) found.push(bySize[k]);
		return found;
	};
	const below = new Float64Array(functions.n); // change of g below each function
	for (const g of order) {
		const callers = stays[g] ? [] : callersOf(g);
		if (!callers.length) continue;
		for (const i of nodes.get(g)) {
			const delta = changed(tree.total, factor, i);
			for (let above = up[i]; above > 0; above = up[above]) below[func[above]] += delta;
		}
		const by = callers.filter((f) => covers(f, g, below[f])).map((f) => representative[f]);
		if (by.length) representative[g] = by.reduce((a, b) => (rank[a] <= rank[b] ? a : b));
		below.fill(0);
	}
	return representative;
}

// Functions that are not covered by another one. A function is left out if nearly all of its change
// is below a listed function and hardly any at its own places. parts: the change at a function's
// places, by function.
export function leaveOutNested(tree, data, { total }, { nodes, up }, parts) {
	const { factor } = data, { func } = tree, kept = new Set();
	const change = (f) => changed(total, factor, f), size = (f) => least(total, factor, f);
	const changeBelow = (g, covers) => {
		let sum = 0;
		for (const i of nodes.get(g)) {
			let above = up[i];
			while (above > 0 && !covers(func[above])) above = up[above];
			if (above > 0) sum += changed(tree.total, factor, i);
		}
		return sum;
	};
	for (const g of outermostFirst(nodes, total, factor)) {
		if (!parts.has(g)) continue;
		const covers = (f) => kept.has(f) && change(f) * change(g) > 0 && size(f) >= size(g);
		if (parts.get(g) / change(g) > 1 - NEARLY || changeBelow(g, covers) / change(g) < NEARLY)
			kept.add(g);
	}
	leaveOutCallers(tree, data, { total }, { nodes, up }, parts, kept);
	return kept;
}

// Also leaves out callers whose own part of the change is negligible, because listed functions that
// they call have it.
function leaveOutCallers(tree, { factor }, { total }, { nodes, up }, parts, kept) {
	const { func } = tree, listed = new Map([...kept].map((f) => [f, 0]));
	for (const g of kept)
		for (const i of nodes.get(g)) {
			let above = up[i];
			while (above > 0 && !kept.has(func[above])) above = up[above];
			if (above > 0) {
				const f = func[above];
				listed.set(f, listed.get(f) + changed(tree.total, factor, i));
			}
		}
	for (const [f, sum] of listed) {
		const change = changed(total, factor, f);
		if (parts.get(f) / change <= LITTLE && isPart(sum / change, 1, NEARLY)) kept.delete(f);
	}
}

// The function with most of the change below some nodes as its own time; -1: none, or it loads
// modules.
export function hotLeaf({ func, end, self }, { factor, functions: { loads, n } }, nodes, change) {
	const sums = new Float64Array(n), [base, head] = self;
	for (const node of nodes)
		for (let i = node; i < end[node]; i++) sums[func[i]] += head[i] - factor * base[i];
	let leaf = 0;
	for (let f = 1; f < n; f++) if (sums[f] / change > sums[leaf] / change) leaf = f;
	return sums[leaf] / change >= MOST && !loads[leaf] ? leaf : -1;
}
