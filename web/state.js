// SPDX-License-Identifier: MIT
// The reader's choices, and the link that restores them.
//
// `zoom` is the path of functions to the zoomed frame, so it survives a change of threads, side or
// layout. In a link it is a hash of names, so it also survives a new recording.
import { functionOfStep, ordinalOfStep } from "./call_lines.js";
import { benchmarksOf } from "./benchmarks.js";
import { isHeap } from "./cost_words.js";
import { hasChart, rangeOfText, textOfRange } from "./strip_data.js";
import { nodeOfPath, pathOf } from "./tree.js";
import { hasWaits } from "./waits_data.js";

function initialState(data) {
	const { header } = data;
	const benchmarks = benchmarksOf(data);
	const headEmpty = data.isDiff && !(header.head.sum > 0);
	return {
		tab: header.opens_source ? "source" : benchmarks.length > 1 ? "benchmarks" : "flame",
		// Function of the shown benchmark; -1: the page has none.
		bench: benchmarks.find((b) => b.f >= 0)?.f ?? -1,
		show: data.isDiff ? "diff" : "head",
		layout: "head",
		swapped: false,
		elided: headEmpty && header.base.sum > 0,
		inverted: header.inverted,
		up: false,
		by: "",
		// The table: cost of its columns, sort order (column, "-" before it: descending)
		// and filter.
		cost: "self",
		sort: "",
		rows: "",
		names: "path",
		// Folding: folds.js.
		noise: true,
		imports: true,
		// One frame per calling line: call_lines.js.
		calls: false,
		// Filters: flags of threads, buckets of time, names of modules, a word; null or "": all.
		threads: null,
		range: null,
		modules: null,
		verdict: "",
		// Filters by function: the one that samples must contain (-1: any), and those that
		// they must not.
		only: -1,
		without: [],
		// Restrict lists and tables to the program's own code.
		own: false,
		// Name rules: patterns and replacements (transform.js).
		rules: [],
		query: "",
		regex: false,
		// Function of the sandwich and source views, -1: the costliest.
		middle: -1,
		// The source view: what it lists, the cost that colours lines, whether cold lines are
		// hidden and instructions shown, and the highlighted line ("12", of the base "12b").
		code: header.opens_source ? "files" : "function",
		lines: header.opens_source ? "self" : "total",
		hot: false,
		ops: false,
		line: "",
		zoom: [],
		// The window, as parts of the zoomed frame: window.js.
		part: "",
		// The chart's window, "from-to" in ns: chart.js.
		at: "",
	};
}

// ---- hashes of paths ----

function hashText(text) {
	let h = 0x811c9dc5;
	for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
	return h >>> 0;
}

function mix(above, own) {
	let h = Math.imul(above ^ own, 0x85ebca6b);
	h ^= h >>> 13;
	h = Math.imul(h, 0xc2b2ae35);
	return (h ^ (h >>> 16)) >>> 0;
}

function hashFunctions(data) {
	const { functions } = data;
	return (data.functionHashes ??= Uint32Array.from({ length: functions.names.length },
		(_, f) => hashText(`${functions.names[f]}\n${functions.files[functions.file[f]]}`)));
}

// Calls from several lines have different hashes.
const hashOfStep = (own, step) => own[functionOfStep(step)] + ordinalOfStep(step);

function hashPath(data, path) {
	const own = hashFunctions(data);
	return path.reduce((h, step) => mix(h, hashOfStep(own, step)), 1).toString(16).padStart(8, "0");
}

export function pathOfHash(data, tree, hash) {
	const own = hashFunctions(data), want = parseInt(hash, 16);
	const hashes = new Uint32Array(tree.n), steps = tree.step ?? tree.func;
	hashes[0] = 1;
	for (let i = 1; i < tree.n; i++) {
		hashes[i] = mix(hashes[tree.parent[i]], hashOfStep(own, steps[i]));
		if (hashes[i] === want) return pathOf(tree, i);
	}
	return [];
}

// ---- links ----

export const layouts = ["head", "base", "union", "delta"];

// Parameters that are plain values of the state, with their valid values.
const plain = {
	tab: ["benchmarks", "flame", "chart", "sandwich", "source", "table", "waits",
		"matches"],
	show: ["diff", "base", "head"],
	layout: layouts,
	by: ["", "self", "total", "share", "surprise"],
	cost: ["self", "total"],
	verdict: ["", "changed", "unknown", "unchanged", "new", "removed"],
	names: ["path", "module"],
	code: ["files", "file", "function"],
	lines: ["total", "self", "special"],
};
const flags = ["regex", "swapped", "elided", "inverted", "up", "noise", "imports", "calls", "own",
	"hot", "ops"];
const texts = ["sort", "rows", "part", "at", "line"];

export function linkOf(data, state) {
	const start = initialState(data);
	const p = new URLSearchParams();
	for (const key of Object.keys(plain)) if (state[key] !== start[key]) p.set(key, state[key]);
	for (const key of flags) if (state[key] !== start[key]) p.set(key, state[key] ? "1" : "0");
	if (state.threads)
		data.header.threads.forEach((t, i) => state.threads[i] && p.append("thread", t.label));
	if (state.range) p.set("time", textOfRange(data.time, state.range));
	for (const name of state.modules ?? []) p.append("module", name);
	for (const [pattern, text] of state.rules) p.append("rule", `${pattern}\t${text}`);
	for (const key of texts) if (state[key]) p.set(key, state[key]);
	if (state.bench !== start.bench)
		p.set("bench", benchmarksOf(data).find((b) => b.f === state.bench).name);
	if (state.query) p.set("q", state.query);
	if (state.only >= 0) p.set("only", hashPath(data, [state.only]));
	for (const f of state.without) p.append("without", hashPath(data, [f]));
	if (state.middle >= 0) p.set("g", hashPath(data, [state.middle]));
	if (state.zoom.length) p.set("f", hashPath(data, state.zoom));
	return p.toString();
}

function threadsOf(data, labels) {
	if (!labels.length) return null;
	const flagsOf = Uint8Array.from(data.header.threads, (t) => (labels.includes(t.label) ? 1 : 0));
	return flagsOf.includes(1) ? flagsOf : null;
}

// Does a link need the sides swapped?
export function sidesOfLink(hash, data) {
	const isSwapped = new URLSearchParams(hash.replace(/^#/, "")).get("swapped") === "1";
	return data.isDiff && isSwapped !== Boolean(data.isSwapped);
}

// Rules come before everything else, because the rest of a link refers to the functions that they
// create.
export function rulesOfLink(hash) {
	return new URLSearchParams(hash.replace(/^#/, "")).getAll("rule").map((rule) => {
		const at = rule.indexOf("\t");
		return at < 0 ? [rule, ""] : [rule.slice(0, at), rule.slice(at + 1)];
	});
}

// The state of a link; `f` is resolved by the caller, once the tree is known.
export function stateOfLink(data, hash) {
	const p = new URLSearchParams(hash.replace(/^#/, ""));
	const state = initialState(data);
	for (const [key, values] of Object.entries(plain))
		if (values.includes(p.get(key))) state[key] = p.get(key);
	if (!data.isDiff) state.show = "head";
	else if (!["diff", "base", "head"].includes(state.show)) state.show = "diff";
	for (const key of flags) if (p.has(key)) state[key] = p.get(key) === "1";
	if (!data.isDiff) state.elided = state.swapped = false;
	state.threads = threadsOf(data, p.getAll("thread"));
	state.range = rangeOfText(data.time, p.get("time"));
	state.modules = p.has("module") ? p.getAll("module") : null;
	state.rules = rulesOfLink(hash);
	for (const key of texts) state[key] = p.get(key) ?? "";
	if ((!data.isDiff && state.tab === "matches") ||
		(state.tab === "benchmarks" && benchmarksOf(data).length < 2) ||
		(state.tab === "chart" && !hasChart(data)) ||
		(state.tab === "source" && isHeap(data.header)) ||
		(state.tab === "waits" && !hasWaits(data))) state.tab = "flame";
	const benchmark = benchmarksOf(data).find((b) => !b.page && b.name === p.get("bench"));
	if (p.has("bench")) state.bench = benchmark?.f ?? state.bench;
	if (!data.isDiff || (!data.verdicts && !["new", "removed"].includes(state.verdict)))
		state.verdict = "";
	state.query = p.get("q") ?? "";
	const functionOf = (wanted) => hashFunctions(data)
		.findIndex((_, i) => hashPath(data, [i]) === wanted);
	if (p.has("g")) state.middle = functionOf(p.get("g"));
	if (p.has("only")) state.only = functionOf(p.get("only"));
	state.without = p.getAll("without").map(functionOf).filter((f) => f >= 0);
	const f = p.get("f");
	return { state, zoomHash: /^[0-9a-f]{8}$/.test(f ?? "") ? f : "" };
}

export function zoomNode(tree, zoom) {
	return nodeOfPath(tree, zoom);
}
