// SPDX-License-Identifier: MIT
// Filters by module and by verdict: only samples that pass through a function that has both. A path
// has the same functions on both sides, so both are filtered alike, and nothing is judged anew.
import { BASE, HEAD } from "./data.js";
import { CHANGED, UNKNOWN } from "./colors.js";

// What the verdict filter offers; needs: a judged page.
export const verdictFilters = [
	["", "all"], ["changed", "changed", true], ["unknown", "cannot tell", true], ["unchanged", "unchanged", true],
	["new", "new"], ["removed", "removed"],
];

// Which functions each side has at all, of the whole recording.
function presence(data) {
	if (data.original) {
		const had = presence(data.original);
		return had.map((has) => Uint8Array.from(data.origins, (list) => (list.some((f) => has[f]) ? 1 : 0)));
	}
	const at = [new Uint8Array(data.functions.n), new Uint8Array(data.functions.n)];
	for (const side of [BASE, HEAD]) {
		const self = data.self[side], has = new Uint8Array(data.n);
		for (let i = data.n - 1; i > 0; i--) {
			if (!has[i] && !(self[i] > 0)) continue;
			at[side][data.func[i]] = 1;
			has[data.parent[i]] = 1;
		}
		data.wrappers.func.forEach((f, k) => (at[side][f] = data.wrappers.total[side][k] > 0 ? 1 : 0));
	}
	return at;
}

// new, removed, or the verdict of the function's own time.
export function stateOf(data, f) {
	data.presence ??= presence(data);
	const [base, head] = data.presence;
	if (data.isDiff && !base[f] && head[f]) return "new";
	if (data.isDiff && base[f] && !head[f]) return "removed";
	if (!data.verdicts) return "";
	const word = data.verdicts.self.word[f];
	return word === CHANGED ? "changed" : word === UNKNOWN ? "unknown" : "unchanged";
}

// Whether a function has the verdict that is asked for. What is new or removed may have changed, too.
function hasVerdict(data, f, verdict) {
	if (!verdict) return true;
	if (verdict === "new" || verdict === "removed") return stateOf(data, f) === verdict;
	const word = data.verdicts?.self.word[f];
	return verdict === (word === CHANGED ? "changed" : word === UNKNOWN ? "unknown" : "unchanged");
}

// Flags of functions that are asked for; null: all are.
export function wantedFunctions(data, modules, { modules: chosen, verdict }) {
	if (!chosen && !verdict) return null;
	const { n, file } = data.functions;
	const names = chosen && new Set(chosen);
	return Uint8Array.from({ length: n }, (_, f) =>
		((!names || names.has(modules[file[f]])) && hasVerdict(data, f, verdict) ? 1 : 0));
}

// Self values of nodes whose path has a wanted function.
export function passingThrough(data, self, wanted) {
	const out = [new Float64Array(data.n), new Float64Array(data.n)];
	const passes = new Uint8Array(data.n);
	for (let i = 1; i < data.n; i++) {
		passes[i] = passes[data.parent[i]] | wanted[data.func[i]];
		if (!passes[i]) continue;
		out[BASE][i] = self[BASE][i];
		out[HEAD][i] = self[HEAD][i];
	}
	return out;
}

// Modules by what their functions cost themselves, on the side that spent more.
export function modulesByCost(data, modules) {
	const { func, factor, functions: { file } } = data;
	const [base, head] = data.self;
	const cost = new Float64Array(file.length), sums = new Map();
	for (let i = 1; i < data.n; i++) cost[func[i]] += Math.max(head[i], base[i] * factor);
	cost.forEach((value, f) => value > 0 && sums.set(modules[file[f]], (sums.get(modules[file[f]]) ?? 0) + value));
	return [...sums].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}
