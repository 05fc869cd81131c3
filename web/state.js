// SPDX-License-Identifier: MIT
// What the reader chose, and the link that brings it back.
//
// `zoom` is the path of functions to the zoomed frame, so it survives a change of threads, of side
// or of layout; in a link it is a hash of names, so it survives a new recording too.
import { nodeOfPath, pathOf } from "./tree.js";

function initialState(data) {
	const { header } = data;
	const headEmpty = data.isDiff && !(header.head.sum > 0);
	return {
		tab: "flame",
		show: data.isDiff ? "diff" : "head",
		layout: "head",
		swapped: false,
		elided: headEmpty && header.base.sum > 0,
		inverted: header.inverted,
		up: false,
		by: "self",
		// What the table's columns are of, its order (column, "-" before it: falling) and its filter.
		cost: "self",
		sort: "",
		rows: "",
		names: "path",
		// Filters: flags of threads, names of modules, a word; null or "": all.
		threads: null,
		modules: null,
		verdict: "",
		// Patterns and what replaces them in names: transform.js.
		rules: [],
		query: "",
		// Function of the sandwich and of the source, -1: the one that matters most.
		middle: -1,
		zoom: [],
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
	return (data.functionHashes ??= Uint32Array.from({ length: functions.n },
		(_, f) => hashText(`${functions.names[f]}\n${functions.files[functions.file[f]]}`)));
}

function hashPath(data, path) {
	const own = hashFunctions(data);
	return path.reduce((h, f) => mix(h, own[f]), 1).toString(16).padStart(8, "0");
}

export function pathOfHash(data, tree, hash) {
	const own = hashFunctions(data), want = parseInt(hash, 16);
	const hashes = new Uint32Array(tree.n);
	hashes[0] = 1;
	for (let i = 1; i < tree.n; i++) {
		hashes[i] = mix(hashes[tree.parent[i]], own[tree.func[i]]);
		if (hashes[i] === want) return pathOf(tree, i);
	}
	return [];
}

// ---- links ----

export const layouts = ["head", "base", "union", "delta"];

// Parameters that are a plain value of the state, with what each may be.
const plain = {
	tab: ["flame", "sandwich", "source", "table", "matches"],
	show: ["diff", "base", "head"],
	layout: layouts,
	by: ["self", "total", "share", "surprise"],
	cost: ["self", "total"],
	verdict: ["", "changed", "unknown", "unchanged", "new", "removed"],
	names: ["path", "module"],
};
const flags = ["swapped", "elided", "inverted", "up"];
const texts = ["sort", "rows"];

export function linkOf(data, state) {
	const start = initialState(data);
	const p = new URLSearchParams();
	for (const key of Object.keys(plain)) if (state[key] !== start[key]) p.set(key, state[key]);
	for (const key of flags) if (state[key] !== start[key]) p.set(key, state[key] ? "1" : "0");
	if (state.threads)
		data.header.threads.forEach((t, i) => state.threads[i] && p.append("thread", t.label));
	for (const name of state.modules ?? []) p.append("module", name);
	for (const [pattern, text] of state.rules) p.append("rule", `${pattern}\t${text}`);
	for (const key of texts) if (state[key]) p.set(key, state[key]);
	if (state.query) p.set("q", state.query);
	if (state.middle >= 0) p.set("g", hashPath(data, [state.middle]));
	if (state.zoom.length) p.set("f", hashPath(data, state.zoom));
	return p.toString();
}

function threadsOf(data, labels) {
	if (!labels.length) return null;
	const flagsOf = Uint8Array.from(data.header.threads, (t) => (labels.includes(t.label) ? 1 : 0));
	return flagsOf.includes(1) ? flagsOf : null;
}

// Whether a link wants the sides the other way round than they are.
export function sidesOfLink(hash, data) {
	const isSwapped = new URLSearchParams(hash.replace(/^#/, "")).get("swapped") === "1";
	return data.isDiff && isSwapped !== Boolean(data.isSwapped);
}

// Rules come before everything else: they make the functions that the rest of a link names.
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
	state.modules = p.has("module") ? p.getAll("module") : null;
	state.rules = rulesOfLink(hash);
	for (const key of texts) state[key] = p.get(key) ?? "";
	if (!data.isDiff && state.tab === "matches") state.tab = "flame";
	if (!data.isDiff || (!data.verdicts && !["new", "removed"].includes(state.verdict))) state.verdict = "";
	state.query = p.get("q") ?? "";
	if (p.has("g")) state.middle = hashFunctions(data).findIndex((_, i) => hashPath(data, [i]) === p.get("g"));
	const f = p.get("f");
	return { state, zoomHash: /^[0-9a-f]{8}$/.test(f ?? "") ? f : "" };
}

export function zoomNode(tree, zoom) {
	return nodeOfPath(tree, zoom);
}
