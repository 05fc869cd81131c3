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
// Who loads modules is none of them: what is slower is the code that imports. Nor is a wrapper by
// its total, since what it calls was there before it.
import { BASE, HEAD } from "./data.js";
import { CHANGED } from "./colors.js";
import { stateOf } from "./filters.js";
import { compare } from "./format.js";
import { importName } from "./imports.js";
import { showName } from "./labels.js";
import { pageNodeOf } from "./tree.js";

const OWN = 0; // src/profile/origin.h
const WRAPPER = 2; // a mark
// Part of a change that must be neither below in other places, nor spread.
const MOST = 0.5;

// What the run certainly became leads.
const groupsOf = ({ header }) =>
	(header?.verdict?.word === "faster" ? ["faster", "slower", "gone", "new"] :
		["slower", "faster", "new", "gone"]);

// Flags of functions; where all code is foreign all of it is the program's own.
export function ownFlags(data) {
	if (data.own) return data.own;
	const { functions } = data;
	data.own = functions.origin.map((origin) => (origin === OWN ? 1 : 0));
	if (!data.own.includes(1)) data.own.fill(1);
	return data.own;
}

function isCertain(data, family, f) {
	return data.verdicts[family].word[f] === CHANGED && !data.unjudged?.[f];
}

// Functions that only one side has between others that both have.
function findWrappers(tree, { marks }) {
	const found = new Set();
	if (!marks) return found;
	for (let i = 1; i < tree.n; i++)
		if (marks[pageNodeOf(tree, i)] === WRAPPER) found.add(tree.func[i]);
	return found;
}

// Which functions may be a place: +1 for those that cost more in all, -1 for less, 0 for none.
function waysOf(tree, data, costs) {
	const { loads } = data.functions, wrappers = findWrappers(tree, data);
	return Int8Array.from({ length: data.functions.n }, (_, f) =>
		(isCertain(data, "total", f) && !loads[f] && !wrappers.has(f) ?
			Math.sign(costs.total[HEAD][f] - data.factor * costs.total[BASE][f]) : 0));
}

// Nodes that are places of a change, of their functions' totals. What places below are about is
// summed up by row: nodes come backwards, so a row's sum is of one caller's callees.
function findPlaces(tree, data, costs) {
	const { n, func, depth, total: [base, head] } = tree, { factor } = data;
	const own = ownFlags(data), ways = waysOf(tree, data, costs);
	const inOwn = new Float64Array(tree.deepest + 2), inAny = new Float64Array(tree.deepest + 2);
	const flags = new Uint8Array(n);
	for (let i = n - 1; i > 0; i--) {
		const f = func[i], row = depth[i];
		let belowOwn = inOwn[row + 1], belowAny = inAny[row + 1];
		if (ways[f] !== 0) {
			const delta = head[i] - factor * base[i], rest = delta - (own[f] ? belowOwn : belowAny);
			if (delta * ways[f] > 0 && rest / delta >= MOST) {
				flags[i] = 1;
				belowAny = delta;
				if (own[f]) belowOwn = delta;
			}
		}
		inOwn[row + 1] = inAny[row + 1] = 0;
		inOwn[row] += belowOwn;
		inAny[row] += belowAny;
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

// The function below node i that has most of its change as its own, as far as one has and does not
// load modules; else -1.
function hotLeaf(tree, { factor }, loads, i) {
	const delta = (k, sums) => sums[HEAD][k] - factor * sums[BASE][k];
	let at = i;
	while (delta(at, tree.self) / delta(at, tree.total) < MOST) {
		let next = -1;
		for (let k = at + 1; k < tree.end[at]; k = tree.end[k])
			if (delta(k, tree.total) / delta(at, tree.total) >= MOST) next = k;
		if (next < 0) return -1;
		at = next;
	}
	return tree.func[at] === tree.func[i] || loads[tree.func[at]] ? -1 : tree.func[at];
}

function groupOf(data, f, delta) {
	const state = stateOf(data, f);
	return state === "new" ? "new" : state === "removed" ? "gone" : delta > 0 ? "slower" : "faster";
}

// Of functions the node that changed most, the first of equals; 0: none.
class Largest {
	constructor(functions, { factor }, [base, head]) {
		Object.assign(this, { factor, base, head });
		this.node = new Int32Array(functions);
		this.size = new Float64Array(functions);
	}
	add(f, i) {
		const size = Math.abs(this.head[i] - this.factor * this.base[i]);
		if (this.node[f] && size <= this.size[f]) return;
		this.node[f] = i;
		this.size[f] = size;
	}
}

// Functions that certainly changed: {slower, faster, new, gone}, in the order in which they are
// told, each [{f, change, family, node, leaf, isImport}] with the largest change first; `node` is
// where the function changed most. `tree` is straight, `costs` are its functions'.
export function findChanges(tree, data, costs) {
	const own = ownFlags(data), { loads } = data.functions;
	const flags = findPlaces(tree, data, costs), told = findTold(tree, flags, own);
	const { n } = data.functions;
	// Where to look: the place with the largest change, and the node whose own time changed most.
	const placeNode = new Largest(n, data, tree.total), ownNode = new Largest(n, data, tree.self);
	// The largest place of functions that somewhere no other place tells of.
	const untold = new Largest(n, data, tree.total), isListed = new Uint8Array(n);
	for (let i = 1; i < tree.n; i++) {
		const f = tree.func[i], isOpen = !told[i] || own[f];
		ownNode.add(f, i);
		if (isOpen) isListed[f] = 1;
		if (!flags[i]) continue;
		placeNode.add(f, i);
		if (isOpen) untold.add(f, i);
	}
	const found = Object.fromEntries(groupsOf(data).map((g) => [g, []]));
	for (let f = 0; f < n; f++) {
		const place = untold.node[f];
		if (!isListed[f] || (!place && (!isCertain(data, "self", f) || loads[f]))) continue;
		const family = place ? "total" : "self";
		const change = compare(costs[family][BASE][f], costs[family][HEAD][f], data.factor);
		if (change.delta === 0) continue;
		const node = (place ? placeNode : ownNode).node[f];
		found[groupOf(data, f, change.delta)].push({
			f, change, family, node,
			leaf: place ? hotLeaf(tree, data, loads, place) : -1,
			isImport: data.functions.names[f] === "<module>" &&
				loads[tree.func[tree.parent[node]]] === 1,
		});
	}
	for (const list of Object.values(found))
		list.sort((a, b) => Math.abs(b.change.delta) - Math.abs(a.change.delta) || a.f - b.f);
	return found;
}

// What it is called: code of a module says what imports it.
export function nameOfChange(data, { f, isImport }) {
	return isImport ? importName(data, f) : showName(data.functions.names[f]);
}

// All of them in the order in which they are listed.
export function listChanges(found) {
	return Object.values(found).flat();
}

// The one that says most of a run: of what both sides have, else of what is new or gone.
export function largestChange({ slower, faster, new: added, gone }) {
	const size = ({ change }) => Math.abs(change.delta);
	const first = (entries) => entries.reduce((a, b) => (a && size(a) >= size(b) ? a : b), null);
	return first([...slower, ...faster]) ?? first([...added, ...gone]);
}
