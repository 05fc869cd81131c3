// SPDX-License-Identifier: MIT
// Benchmarks of a counted recording: markers at the root of its tree, each with what its body called
// below (docs/benchmarks.md). They are listed beside the picture, and a frame tells what its change is
// of its whole benchmark.
import { BASE, HEAD, MARKER_KIND } from "./data.js";
import { el, section } from "./dom.js";
import { compare, formatChange, formatPair, formatPercentChange, formatValue } from "./format.js";
import { showName } from "./labels.js";
import { pathOf } from "./tree.js";

// A smaller change is written in no colour.
const SMALL = 0.01;

function isBenchmark(data, tree, i) {
	return data.unit === "count" && data.header.metric !== "samples" && tree.isNumbered && tree.parent[i] === 0 && data.functions.kind[tree.func[i]] === MARKER_KIND;
}

const costOf = (data, tree, i) => compare(data.isDiff ? tree.total[BASE][i] : 0, tree.total[HEAD][i], data.factor);

// "+19.0 % of the whole benchmark": of the base's benchmark that frame i belongs to; "" for others.
export function benchmarkChange(data, tree, i) {
	let root = i;
	while (tree.parent[root] > 0) root = tree.parent[root];
	if (root === i || !isBenchmark(data, tree, root)) return "";
	const whole = costOf(data, tree, root).expected, { delta } = costOf(data, tree, i);
	return whole > 0 && delta !== 0 ? `${formatPercentChange(delta / whole)} of the whole benchmark` : "";
}

// What "fizeau ci" decided of a benchmark; undefined on other pages.
function verdictOf(data, name) {
	return data.header.benchmark_verdicts?.find((v) => v.benchmark === name);
}

function item(app, tree, i) {
	const { data } = app;
	const { unit } = data;
	const c = costOf(data, tree, i);
	const state = c.base === 0 ? "new" : c.head === 0 ? "gone" : c.delta === 0 ? "same" : formatPercentChange(c.ratio);
	const isSmall = c.ratio !== null && Math.abs(c.ratio) < SMALL;
	const detail = data.isDiff ? formatPair(c, unit) : "";
	const name = showName(data.functions.names[tree.func[i]]);
	const verdict = verdictOf(data, data.functions.names[tree.func[i]]);
	return el("li", {}, el("button", { class: "spot", title: "Show this benchmark alone", onclick: () => app.zoomTo(pathOf(tree, i)) },
		el("span", { class: "pair" }, el("span", { class: "what" }, name),
			el("span", { class: `much ${!data.isDiff || isSmall ? "" : c.delta > 0 ? "more" : "less"}` },
				data.isDiff ? state : formatValue(c.head, unit))),
		data.isDiff && el("span", { class: "pair" }, el("span", { class: "detail" }, detail),
			el("span", { class: "detail" }, formatChange(c.delta, unit))),
		verdict && el("span", { class: "verdict" }, [verdict.word, verdict.reasons].filter(Boolean).join(": "))));
}

// The list, those that changed most first; null when nothing is a benchmark.
export function buildBenchmarks(app) {
	const { data } = app;
	const tree = app.trees.whole();
	const roots = [];
	for (let i = 1; i < tree.n; i = tree.end[i]) if (isBenchmark(data, tree, i)) roots.push(i);
	if (!roots.length) return null;
	const part = (i) => Math.abs(costOf(data, tree, i).ratio ?? Infinity);
	roots.sort((a, b) => (data.isDiff ? part(b) - part(a) : tree.total[HEAD][b] - tree.total[HEAD][a]) || a - b);
	return section("benchmarks", "Benchmarks", el("ol", { class: "spots" }, ...roots.map((i) => item(app, tree, i))));
}
