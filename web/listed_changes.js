// SPDX-License-Identifier: MIT
// The changes of a judged diff, listed by functions of the program's own code.
//
// On a path where every function certainly costs more, the place is the innermost own function that
// contains the change. It is listed under the outermost own function with the same change
// (call_chains.js), which also names the library function that has most of it.
//
//   main  +290   not listed: its change is in functions below
//     js  +140   listed, most of it in encode         dumps +140   a library, listed with js
//     transpile +150   listed for its callee
//       parse   +145   the place
//
// Own functions whose own time changed are always listed; library functions only if no own function
// covers them, or only a script's. Not listed: code that loads modules (the importing code is
// listed), modules whose import only moved, and wrappers by their total, because their callees were
// there before.
import {
	changed, findOutermost, findRepresentatives, hotLeaf, leaveOutNested,
} from "./call_chains.js";
import { CHANGED } from "./colors.js";
import { noun, verdictOn } from "./cost_words.js";
import { BASE, HEAD, MARKER_KIND } from "./data.js";
import { stateOf } from "./filters.js";
import { movedFunctions } from "./inferred.js";
import { compare, formatChange, formatPair } from "./format.js";
import { importName } from "./fold_imports.js";
import { showName } from "./labels.js";
import { isPartOfSum } from "./frame_colour.js";

const OWN = 0; // src/profile/origin.h
const WRAPPER = 2; // a mark
// Minimum part of a change that is not below other places, and in one place.
const MOST = 0.5;
// A script has at least this part of the run.
const NEARLY_ALL = 0.9;

// Groups in order: the run's certain direction first.
const groupsOf = ({ header }) =>
	(header?.verdict?.word === "faster" ? ["faster", "slower", "gone", "new"] :
		["slower", "faster", "new", "gone"]);

// Flags of the program's own functions; all if all code is foreign.
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

// Functions that are wrappers: only on one side, between functions on both.
function findWrappers({ func }, { marks }) {
	const found = new Set();
	if (!marks) return found;
	for (let i = marks.indexOf(WRAPPER, 1); i > 0; i = marks.indexOf(WRAPPER, i + 1))
		found.add(func[i]);
	return found;
}

// Directions of functions that may be a place: +1 costs more in all, -1 less, 0 for others.
function waysOf(tree, data, costs) {
	const { loads } = data.functions, wrappers = findWrappers(tree, data);
	return Int8Array.from({ length: data.functions.n }, (_, f) =>
		(isCertain(data, "total", f) && !loads[f] && !wrappers.has(f) ?
			Math.sign(costs.total[HEAD][f] - data.factor * costs.total[BASE][f]) : 0));
}

// Finds the nodes that are places of a change in total, and how much of it is at own functions'
// places. The changes at places below are summed by row: nodes are visited backwards, so a row's
// sum belongs to one caller's callees.
function findPlaces(tree, data, ways, own) {
	const { n, func, depth, total } = tree, { factor } = data;
	const parts = new Float64Array(data.functions.n);
	const inOwn = new Float64Array(tree.deepest + 2), inAny = new Float64Array(tree.deepest + 2);
	const flags = new Uint8Array(n);
	for (let i = n - 1; i > 0; i--) {
		const f = func[i], row = depth[i];
		let belowOwn = inOwn[row + 1], belowAny = inAny[row + 1];
		if (ways[f] !== 0) {
			const delta = changed(total, factor, i), rest = delta - (own[f] ? belowOwn : belowAny);
			if (delta * ways[f] > 0 && rest / delta >= MOST) {
				flags[i] = 1;
				parts[f] += rest;
				belowAny = delta;
				if (own[f]) belowOwn = delta;
			}
		}
		inOwn[row + 1] = inAny[row + 1] = 0;
		inOwn[row] += belowOwn;
		inAny[row] += belowAny;
	}
	return { flags, parts };
}

// Changes of functions outside of own code that already covers them: below neither a place (flags
// of nodes) nor a representative (flags of functions).
function sumUncovered({ n, func, parent, self, total }, { factor, functions }, { nodes }, own,
	places, representatives) {
	const uncovered = { self: new Float64Array(functions.n), total: new Float64Array(functions.n) };
	const covered = new Uint8Array(n), [base, head] = self;
	for (let i = 1; i < n; i++) {
		const p = parent[i], f = func[i];
		if (p > 0 && (covered[p] !== 0 || (own[func[p]] !== 0 &&
			(places[p] !== 0 || representatives[func[p]] !== 0)))) covered[i] = 1;
		else uncovered.self[f] += head[i] - factor * base[i];
	}
	for (const [f, list] of nodes)
		for (const i of list) if (!covered[i]) uncovered.total[f] += changed(total, factor, i);
	return uncovered;
}

// Library code: leave it out of the functions listed by own time where listed own code covers its
// change; add it by total where nothing covers it.
function settleForeign(tree, data, costs, outermost, { flags, parts, own },
	{ byTotal, byOwn, add }) {
	const { factor, functions } = data;
	if (!own.subarray(0, functions.n).includes(0)) return;
	const representatives = new Uint8Array(functions.n);
	for (const f of byTotal.keys()) representatives[f] = 1;
	const uncovered = sumUncovered(tree, data, outermost, own, flags, representatives);
	const isMost = (part, family, f) => part[f] / changed(costs[family], factor, f) >= MOST;
	for (const f of outermost.nodes.keys())
		if (!own[f] && isMost(parts, "total", f) && isMost(uncovered.total, "total", f))
			add(f);
	byOwn.forEach((yes, f) => {
		if (yes && !own[f] && !isMost(uncovered.self, "self", f)) byOwn[f] = 0;
	});
}

// The functions to list: by total, a map to the places that each represents; by own time, flags.
function chooseFunctions(tree, data, costs, outermost, ways, own) {
	const { factor, functions } = data, { func } = tree;
	const byOwn = Uint8Array.from({ length: functions.n }, (_, f) =>
		(isCertain(data, "self", f) && !functions.loads[f] ? 1 : 0));
	const representative = findRepresentatives(tree, data, costs, outermost, own, byOwn);
	const { flags, parts } = findPlaces(tree, data, ways, own);
	const byTotal = new Map(), isPlace = new Uint8Array(functions.n);
	const add = (f) => byTotal.set(representative[f],
		(byTotal.get(representative[f]) ?? new Set()).add(f));
	for (let i = flags.indexOf(1, 1); i > 0; i = flags.indexOf(1, i + 1)) isPlace[func[i]] = 1;
	isPlace.forEach((yes, f) => yes && own[f] && add(f));
	const partOf = (f) => (byOwn[f] ? changed(costs.total, factor, f) :
		[...byTotal.get(f)].reduce((sum, g) => sum + parts[g], 0));
	const kept = leaveOutNested(tree, data, costs, outermost,
		new Map([...byTotal.keys()].map((f) => [f, partOf(f)])));
	for (const f of byTotal.keys()) if (!kept.has(f)) byTotal.delete(f);
	settleForeign(tree, data, costs, outermost, { flags, parts, own }, { byTotal, byOwn, add });
	return { byTotal, byOwn };
}

// The cost of the run without roots that are not code (<GC>).
function codeOf({ functions: { kind } }, { n, func, end, total }, side) {
	let sum = total[side][0];
	for (let i = 1; i < n; i = end[i])
		if (kind[func[i]] === MARKER_KIND && end[i] === i + 1) sum -= total[side][i];
	return sum;
}

// Is it top-level code of a module that makes up nearly the whole run? Its name is not informative.
export function isScript(data, tree, { total }, f) {
	return data.functions.names[f] === "<module>" &&
		[BASE, HEAD].every((side) => total[side][f] >= NEARLY_ALL * codeOf(data, tree, side));
}

// Like chooseFunctions. If the only own function listed is a script, libraries are listed like own
// code: otherwise the script would stand for all of their changes.
function chooseBeyondScript(tree, data, costs, outermost, ways) {
	const own = ownFlags(data), chosen = chooseFunctions(tree, data, costs, outermost, ways, own);
	const { kind } = data.functions;
	const listed = (f) => own[f] && kind[f] !== MARKER_KIND &&
		(chosen.byTotal.has(f) || chosen.byOwn[f]);
	const all = [...own.keys()].filter(listed);
	return all.length && all.every((f) => isScript(data, tree, costs, f)) ?
		chooseFunctions(tree, data, costs, outermost, ways, own.map(() => 1)) : chosen;
}

function groupOf(data, f, delta) {
	const state = stateOf(data, f);
	return state === "new" ? "new" : state === "removed" ? "gone" : verdictOn(delta);
}

// The cost of a function with its callees; null if it would be printed like its own.
export function wholeOf({ factor, unit }, { total }, { f, change }) {
	const whole = compare(total[BASE][f], total[HEAD][f], factor);
	return formatPair(whole, unit) === formatPair(change, unit) ? null : whole;
}

// A function that changed, {f, change, family, node, leaf, isImport}. Node and leaf are computed on
// demand, since most are never needed.
class Change {
	// places: those represented by its total; none for a change of own time.
	constructor(of, f, places) {
		const { costs, data: { factor } } = of, family = places ? "total" : "self";
		const change = compare(costs[family][BASE][f], costs[family][HEAD][f], factor);
		Object.assign(this, { of, f, family, places, change });
	}
	// The node where it changed most, preferably one whose path certainly changed, else one that
	// did together with others.
	get node() {
		const { f, family, of: { tree, data: { factor, verdicts }, nodes } } = this;
		const { path } = verdicts[family];
		let best = 0, size = -1, surest = -1;
		const look = (i) => {
			const much = Math.abs(changed(tree[family], factor, i));
			const sure = path?.[i] === CHANGED ? 2 : isPartOfSum(path?.[i] ?? 0) ? 1 : 0;
			if (sure > surest || (sure === surest && much > size))
				[best, size, surest] = [i, much, sure];
		};
		if (family === "total") nodes.get(f).forEach(look);
		else for (let i = tree.func.indexOf(f, 1); i > 0; i = tree.func.indexOf(f, i + 1)) look(i);
		return best;
	}
	// The function with most of the change of its total: by own time, or else the innermost of the
	// places that it represents; -1: itself, or none.
	get leaf() {
		const { f, places, change: { delta }, of: { tree, data, costs, nodes } } = this;
		if (!places) return -1;
		const leaf = hotLeaf(tree, data, nodes.get(f), delta);
		if (leaf >= 0) return leaf === f ? -1 : leaf;
		const part = (g) => changed(costs.total, data.factor, g) / delta;
		return [...places].filter((g) => g !== f && part(g) >= MOST)
			.sort((a, b) => part(a) - part(b) || a - b)[0] ?? -1;
	}
	// The change of its leaf's own time.
	get ofLeaf() {
		return this.leaf < 0 ? null : new Change(this.of, this.leaf, null);
	}
	// Its total, if only its own time changed and that is less; else null.
	get whole() {
		return this.places ? null : wholeOf(this.of.data, this.of.costs, this);
	}
	// How much of its change arrives at the root. If a caller changed by less, other callees offset
	// the rest, for example the code that a new function replaced.
	get net() {
		const { f, family, change: { delta }, of: { tree, data: { factor }, nodes } } = this;
		const way = Math.sign(delta), arrives = new Float64Array(tree.n);
		const outermost = family === "total" && new Set(nodes.get(f));
		for (let i = tree.n - 1; i > 0; i--) {
			if (outermost ? outermost.has(i) : tree.func[i] === f)
				arrives[i] += way * changed(tree[family], factor, i);
			arrives[tree.parent[i]] +=
				Math.max(0, Math.min(arrives[i], way * changed(tree.total, factor, i)));
		}
		return way * arrives[0];
	}
	// Is it code of a module that is loaded?
	get isImport() {
		const { of: { tree, data: { functions } } } = this;
		return functions.names[this.f] === "<module>" &&
			functions.loads[tree.func[tree.parent[this.node]]] === 1;
	}
}

// Moves the group with most of the run's change to the front.
function leadWithMost(found, data) {
	const word = data.header?.verdict?.word, isSure = word === "slower" || word === "faster";
	const most = isSure ? mostOfRun(found, word) : null;
	const first = Object.keys(found).find((g) => found[g].includes(most?.entry));
	return first ? { [first]: found[first], ...found } : found;
}

// Functions that certainly changed: {slower, faster, new, gone} in display order, each a list of
// Changes, largest first; entries that are not code (<GC>) last. `tree` is straight; costsOf()
// computes the costs of its functions.
export function findChanges(tree, data, costsOf) {
	const found = Object.fromEntries(groupsOf(data).map((g) => [g, []]));
	if (!Object.values(data.verdicts).some(({ word }) => word.includes(CHANGED))) return found;
	const costs = costsOf(), ways = waysOf(tree, data, costs);
	const outermost = findOutermost(tree, data, costs, ways);
	const { byTotal, byOwn } = chooseBeyondScript(tree, data, costs, outermost, ways);
	const of = { tree, data, costs, nodes: outermost.nodes };
	for (let f = 0; f < data.functions.n; f++) {
		const places = byTotal.get(f);
		if ((!places && !byOwn[f]) || data.functions.movedImport[f]) continue;
		const entry = new Change(of, f, places);
		const { delta } = entry.change;
		if (delta !== 0) found[groupOf(data, f, delta)].push(entry);
	}
	const isMarker = ({ f }) => (data.functions.kind[f] === MARKER_KIND ? 1 : 0);
	for (const list of Object.values(found))
		list.sort((a, b) => isMarker(a) - isMarker(b) ||
			Math.abs(b.change.delta) - Math.abs(a.change.delta) || a.f - b.f);
	return leadWithMost(found, data);
}

// Splits a list into changes and imports whose cost only moved, if there are several: these are one
// line of the list.
export function splitMovedImports(data, list) {
	const moved = movedFunctions(data);
	const isMoved = ({ f, isImport }) => Boolean(isImport && moved?.[f]);
	const imports = list.filter(isMoved);
	return imports.length > 1 ? [list.filter((entry) => !isMoved(entry)), imports] : [list, []];
}

// Name of a change: for code of a module, its import.
export function nameOfChange(data, { f, isImport }) {
	return isImport ? importName(data, f) : showName(data.functions.names[f]);
}

// The change's name, and by how much it changed.
export function sayChange(data, entry) {
	const change = `${nameOfChange(data, entry)} ${formatChange(entry.change.delta, data.unit)}`;
	return entry.whole ? `${change} of own ${noun(data.header)}` : change;
}

// All changes, in the order of the list.
export function listChanges(found) {
	return Object.values(found).flat();
}

// The largest change: of functions on both sides, else of new or gone ones.
export function largestChange({ slower, faster, new: added, gone }) {
	const first = (entries) => entries.reduce((a, b) =>
		(a && Math.abs(a.change.delta) >= Math.abs(b.change.delta) ? a : b), null);
	return first([...slower, ...faster]) ?? first([...added, ...gone]);
}

// The change with most of that of a run that is slower or faster: {entry, net}; null if none has
// any of it.
export function mostOfRun({ slower, faster, new: added, gone }, word) {
	const entries = word === "slower" ? [...slower, ...added] : [...faster, ...gone];
	let best = null;
	entries.sort((a, b) => Math.abs(b.change.delta) - Math.abs(a.change.delta));
	for (const entry of entries) {
		if (best && Math.abs(entry.change.delta) <= Math.abs(best.net)) break;
		const { net } = entry;
		if (net !== 0 && (!best || Math.abs(net) > Math.abs(best.net))) best = { entry, net };
	}
	return best;
}
