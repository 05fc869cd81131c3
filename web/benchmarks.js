// SPDX-License-Identifier: MIT
// Benchmarks of a counted recording: markers at the root of its tree, each with the calls of its
// body below (docs/benchmarks.md). They are independent, so a page shows one at a time as if it
// were the whole recording: shares are of that benchmark, and it has its own threshold. Decisions
// of "fizeau ci" are shown unchanged.
import { BASE, HEAD, MARKER_KIND } from "./data.js";
import { CHANGED } from "./colors.js";
import { oneWord, verdictOn } from "./cost_words.js";
import { compare, formatPercentChange } from "./format.js";
import { functionCosts, straightTree } from "./tree.js";

const UNCHANGED = 1; // a verdict

function isCounted({ header, unit }) {
	return Boolean(header.gate ?? header.bounds) ||
		(unit === "count" && header.metric !== "samples");
}

// Cost of a node and everything below it.
function costOf(data, node) {
	return [BASE, HEAD].map((side) => data.self[side].subarray(node, data.end[node])
		.reduce((sum, v) => sum + v, 0));
}

// Benchmarks as found in the tree:
function fromTree(data) {
	const names = (f) => (data.original ? data.original.functions.names[data.origins[f][0]] :
		data.functions.names[f]);
	const bounds = new Map((data.header.bounds ?? []).map((b) => [b.benchmark, b.bound]));
	const list = [];
	for (let node = 1; node < data.n; node = data.end[node]) {
		const f = data.func[node], [base, head] = costOf(data, node);
		if (data.functions.kind[f] !== MARKER_KIND) {
			// Ignore a runner's own processes. If there are other costs outside of benchmarks, show
			// no benchmarks, because these costs would be hidden.
			if (!data.header.runner && (base || head)) return [];
			continue;
		}
		const bound = bounds.get(names(f)) ?? 0;
		const { delta, ratio } = compare(base, head, data.factor);
		const verdict = !data.isDiff ? "" : base === 0 ? "new" : head === 0 ? "gone" :
			Math.abs(delta) <= bound ? "same" : verdictOn(delta);
		list.push({
			f, node, name: names(f), base, head, change: base === 0 || head === 0 ? null : ratio,
			limit: base > 0 ? bound / base : null, bound, verdict,
			word: oneWord(data.header, verdict),
		});
	}
	return list;
}

const order = ["slower", "new", "gone", "faster", "same", ""];

function byWeight(a, b) {
	return order.indexOf(a.verdict) - order.indexOf(b.verdict) ||
		Math.abs(b.change ?? 0) - Math.abs(a.change ?? 0) || b.head - a.head || a.f - b.f;
}

// All benchmarks, worst first; [] if the page has none.
export function benchmarksOf(data) {
	if (data.benchmarks) return data.benchmarks;
	const list = isCounted(data) ? fromTree(data).sort(byWeight) : [];
	const { gate } = data.header;
	if (!gate || !list.length) return (data.benchmarks = list);
	const byName = new Map(list.map((b) => [b.name, b]));
	return (data.benchmarks = gate.benchmarks.map((b) => ({
		...(!b.page && byName.get(b.name) || { f: -1, node: 0, bound: 0 }), ...b, where: b.where,
	})));
}

// "tests/test_bench.py" and "test_x" for "tests/test_bench.py::test_x"; the file is "" if a name
// has none, or if the rest is not unique.
export function shortNames(list) {
	const parts = list.map(({ name }) =>
		/^([^[]*?\.\w+)::(.+)$/s.exec(name)?.slice(1) ?? ["", name]);
	const names = new Map();
	list.forEach(({ name }, i) =>
		names.set(parts[i][1], (names.get(parts[i][1]) ?? new Set()).add(name)));
	return parts.map(([file, short], i) =>
		(names.get(short).size > 1 ? { file: "", short: list[i].name } : { file, short }));
}

// The benchmark that is shown; undefined if the page has none.
export function chosenBenchmark({ data, state }) {
	return state.bench < 0 ? undefined : benchmarksOf(data).find((b) => b.f === state.bench);
}

function judge(costs, of, bound, factor) {
	const [base, head] = costs;
	const word = Uint8Array.from({ length: of },
		(_, i) => (Math.abs(head[i] - base[i] * factor) > bound ? CHANGED : UNCHANGED));
	return {
		word, reach: new Float64Array(of).fill(bound), surprise: new Float64Array(of).fill(-1),
	};
}

// Verdicts within one benchmark, in the format of the page's: a change beyond its bound is certain.
export function verdictsWithin(data, { f, bound }) {
	data.withinBenchmark ??= new Map();
	const known = data.withinBenchmark.get(f);
	if (known) return known;
	const tree = straightTree(data, null, null, f), costs = functionCosts(tree, data.functions.n);
	const family = (key) => {
		const { word, reach, surprise } = judge(costs[key], data.functions.n, bound, data.factor);
		return {
			key, word, below: reach, above: reach, surprise,
			path: judge(tree[key], data.n, bound, data.factor).word,
		};
	};
	const verdicts = { self: family("self"), total: family("total") };
	data.withinBenchmark.set(f, verdicts);
	return verdicts;
}

// "+19.0 % of the whole benchmark", relative to the base of frame i's benchmark; "" for others.
export function benchmarkChange(data, tree, i) {
	let root = i;
	while (tree.parent[root] > 0) root = tree.parent[root];
	if (root === i || !isCounted(data) || !tree.isNumbered ||
		data.functions.kind[tree.func[root]] !== MARKER_KIND) return "";
	const cost = (node) => compare(data.isDiff ? tree.total[BASE][node] : 0, tree.total[HEAD][node],
		data.factor);
	const whole = cost(root).expected, { delta } = cost(i);
	return whole > 0 && delta !== 0 ?
		`${formatPercentChange(delta / whole)} of the whole benchmark` : "";
}
