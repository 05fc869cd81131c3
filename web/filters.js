// SPDX-License-Identifier: MIT
// Filters by module, by verdict, and by functions to show only or to hide. They keep samples whose
// path passes through matching functions. Both sides are filtered in the same way, and verdicts
// remain those of the whole run.
import { BASE, HEAD } from "./data.js";
import { CHANGED, UNKNOWN } from "./colors.js";
import { manyWord } from "./cost_words.js";

// Options of the verdict filter: [value, text, whether it needs a judged page].
export function verdictFilters({ header }) {
	const changed = `${manyWord(header, "slower")} or ${manyWord(header, "faster")}`;
	return [
		["", "all"], ["changed", changed, true], ["unknown", "unsure", true],
		["unchanged", "same", true],
		["new", "new"], ["removed", "gone"],
	];
}

// "new", "removed" (in the whole recordings), or the verdict on the function's own time.
export function stateOf(data, f) {
	const [base, head] = data.functions.ran;
	if (data.isDiff && !base[f] && head[f]) return "new";
	if (data.isDiff && base[f] && !head[f]) return "removed";
	if (!data.verdicts) return "";
	const word = data.verdicts.self.word[f];
	return word === CHANGED ? "changed" : word === UNKNOWN ? "unknown" : "unchanged";
}

// Whether a function has the chosen verdict. New or removed functions may have changed, too.
function hasVerdict(data, f, verdict) {
	if (!verdict) return true;
	if (verdict === "new" || verdict === "removed") return stateOf(data, f) === verdict;
	const word = data.verdicts?.self.word[f];
	return verdict === (word === CHANGED ? "changed" : word === UNKNOWN ? "unknown" : "unchanged");
}

// Flags of the chosen functions; null: all.
export function wantedFunctions(data, modules, { modules: chosen, verdict }) {
	if (!chosen && !verdict) return null;
	const { n, file } = data.functions;
	const names = chosen && new Set(chosen);
	return Uint8Array.from({ length: n }, (_, f) =>
		((!names || names.has(modules[file[f]])) && hasVerdict(data, f, verdict) ? 1 : 0));
}

// Bits of functions: what a path must have, and what it may not have.
const WANTED = 1, ONLY = 2, HIDDEN = 4;

// Does the state filter paths by their functions?
export function choosesPaths({ modules, verdict, only, without }) {
	return Boolean(modules || verdict || only >= 0 || without.length);
}

export function isFiltered(state) {
	return Boolean(state.threads || state.range) || choosesPaths(state);
}

// The state's path filter: bits of functions, and those that a path needs; null: all paths are
// drawn.
export function pathFilter(data, modules, state) {
	if (!choosesPaths(state)) return null;
	const wanted = wantedFunctions(data, modules, state);
	const bits = wanted ? Uint8Array.from(wanted) : new Uint8Array(data.functions.n);
	if (state.only >= 0) bits[state.only] |= ONLY;
	for (const f of state.without) bits[f] |= HIDDEN;
	return { bits, need: (wanted ? WANTED : 0) | (state.only >= 0 ? ONLY : 0) };
}

// Self values of nodes whose path passes the filter.
export function passingThrough(data, self, { bits, need }) {
	const out = [new Float64Array(data.n), new Float64Array(data.n)];
	const has = new Uint8Array(data.n);
	for (let i = 1; i < data.n; i++) {
		has[i] = has[data.parent[i]] | bits[data.func[i]];
		if ((has[i] & (need | HIDDEN)) !== need) continue;
		out[BASE][i] = self[BASE][i];
		out[HEAD][i] = self[HEAD][i];
	}
	return out;
}

// Modules by the self cost of their functions, on the side that spent more.
export function modulesByCost(data, modules) {
	const { func, factor, functions: { file } } = data;
	const [base, head] = data.self;
	const cost = new Float64Array(file.length), sums = new Map();
	for (let i = 1; i < data.n; i++) cost[func[i]] += Math.max(head[i], base[i] * factor);
	cost.forEach((value, f) => value > 0 &&
		sums.set(modules[file[f]], (sums.get(modules[file[f]]) ?? 0) + value));
	return [...sums].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}
