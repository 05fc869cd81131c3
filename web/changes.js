// SPDX-License-Identifier: MIT
// Where a judged diff changed, told as to somebody who knows the program: by functions of its own
// code first. Of a call path on which every function certainly costs more, one is the place: the
// innermost of the own code that the change is in, and what it calls in libraries is named with it.
//
//   main  +290   nothing that is not below
//     js  +140   the place, most of it in encode      dumps +140   a library, told by js
//     transpile +150 the place                          encode +135
//
// What changed in its own time is listed whatever is above it, libraries only where no own code is.
import { BASE, HEAD } from "./data.js";
import { CHANGED } from "./colors.js";
import { stateOf } from "./filters.js";
import { compare } from "./format.js";

// Code that others wrote, by the names that files have in a page.
const foreign = /(?:^|\/)(?:site|dist)-packages\/|(?:^|\/)lib\/python\d|^\/usr\/|^[<[~]|^$/;
// Part of a change that must be neither below in other places, nor spread.
const MOST = 0.5;

export const groups = ["slower", "faster", "new", "gone"];

// Flags of functions; where all code is foreign all of it is the program's own.
export function ownFlags(data) {
	if (data.own) return data.own;
	const { functions } = data;
	data.own = Uint8Array.from({ length: functions.n }, (_, f) => (foreign.test(functions.files[functions.file[f]]) ? 0 : 1));
	if (!data.own.includes(1)) data.own.fill(1);
	return data.own;
}

function isCertain(data, family, f) {
	return data.verdicts[family].word[f] === CHANGED && !data.unjudged?.[f];
}

// Nodes that are places of a change, of their functions' totals.
function findPlaces(tree, data, costs) {
	const { n, func, parent, total } = tree;
	const own = ownFlags(data);
	const inOwn = new Float64Array(n), inAny = new Float64Array(n); // what places below are about
	const flags = new Uint8Array(n);
	const overall = (f) => costs.total[HEAD][f] - data.factor * costs.total[BASE][f];
	for (let i = n - 1; i > 0; i--) {
		const f = func[i];
		const delta = total[HEAD][i] - data.factor * total[BASE][i];
		const rest = delta - (own[f] ? inOwn[i] : inAny[i]);
		if (isCertain(data, "total", f) && delta * overall(f) > 0 && rest / delta >= MOST) {
			flags[i] = 1;
			inAny[i] = delta;
			if (own[f]) inOwn[i] = delta;
		}
		inOwn[parent[i]] += inOwn[i];
		inAny[parent[i]] += inAny[i];
	}
	return flags;
}

// Flags of nodes below a place in the own code.
function findTold(tree, flags, own) {
	const told = new Uint8Array(tree.n);
	for (let i = 1; i < tree.n; i++) {
		const p = tree.parent[i];
		told[i] = told[p] || (p > 0 && flags[p] && own[tree.func[p]]) ? 1 : 0;
	}
	return told;
}

// The function below node i that has most of its change as its own, as far as one has; else -1.
function hotLeaf(tree, factor, i) {
	const delta = (k, sums) => sums[HEAD][k] - factor * sums[BASE][k];
	let at = i;
	while (delta(at, tree.self) / delta(at, tree.total) < MOST) {
		let next = -1;
		for (let k = at + 1; k < tree.end[at]; k = tree.end[k])
			if (delta(k, tree.total) / delta(at, tree.total) >= MOST) next = k;
		if (next < 0) return -1;
		at = next;
	}
	return tree.func[at] === tree.func[i] ? -1 : tree.func[at];
}

function groupOf(data, f, delta) {
	const state = stateOf(data, f);
	return state === "new" ? "new" : state === "removed" ? "gone" : delta > 0 ? "slower" : "faster";
}

// Functions that certainly changed: {slower, faster, new, gone}, each [{f, change, family, leaf}]
// with the largest change first. `tree` is straight, `costs` are its functions'.
export function findChanges(tree, data, costs) {
	const own = ownFlags(data);
	const flags = findPlaces(tree, data, costs), told = findTold(tree, flags, own);
	const size = (i) => Math.abs(tree.total[HEAD][i] - data.factor * tree.total[BASE][i]);
	const placeOf = new Map(); // of functions that somewhere no place tells of: the node of their largest one, 0: none
	for (let i = 1; i < tree.n; i++) {
		const f = tree.func[i];
		if (told[i] && !own[f]) continue;
		const known = placeOf.get(f) ?? 0;
		placeOf.set(f, flags[i] && (!known || size(i) > size(known)) ? i : known);
	}
	const found = Object.fromEntries(groups.map((g) => [g, []]));
	for (const [f, place] of placeOf) {
		if (!place && !isCertain(data, "self", f)) continue;
		const family = place ? "total" : "self";
		const change = compare(costs[family][BASE][f], costs[family][HEAD][f], data.factor);
		if (change.delta === 0) continue;
		found[groupOf(data, f, change.delta)].push({ f, change, family, leaf: place ? hotLeaf(tree, data.factor, place) : -1 });
	}
	for (const g of groups) found[g].sort((a, b) => Math.abs(b.change.delta) - Math.abs(a.change.delta) || a.f - b.f);
	return found;
}
