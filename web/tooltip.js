// SPDX-License-Identifier: MIT
// The box beside a frame: what it is, what it cost, what changed, and its source.
import { benchmarkChange } from "./benchmarks.js";
import { BASE, HEAD, TASK_KIND } from "./data.js";
import { CHANGED } from "./colors.js";
import { el } from "./dom.js";
import { compare, formatChange, formatPercentChange, formatShare, formatValue, plural } from "./format.js";
import { stateOf } from "./filters.js";
import { howWords, linksByFunction, shiftOf, stateWord, wrapperState } from "./inferred.js";
import { marginOf } from "./intervals.js";
import { showName } from "./labels.js";
import { frameVerdict, isMoved } from "./meaning.js";
import { opcodeBox } from "./opcodes.js";
import { filePlaceOf } from "./places.js";

const SOURCE_AROUND = 3;

// Lines of a function's source around `line`, as one side's recording stored them.
function sourceAround(data, f, line, side) {
	const { functions, chunks } = data;
	const number = functions.source[side][f];
	const list = number ? chunks[number - 1] : null;
	if (!list || !(line > 0)) return null;
	const chunk = list.find((c) => line >= c.start && line < c.start + c.lines.length);
	if (!chunk) return null;
	const first = Math.max(chunk.start, line - SOURCE_AROUND);
	const last = Math.min(chunk.start + chunk.lines.length - 1, line + SOURCE_AROUND);
	return { first, lines: chunk.lines.slice(first - chunk.start, last - chunk.start + 1) };
}

// The line of a function where most of one side's time was spent; its first line when unknown.
function hottestLine(data, f, side) {
	const { lines, functions } = data;
	let best = functions.line[f], most = 0;
	for (const values of [lines.self[side], lines.total[side]]) {
		for (let i = lines.first[f]; i < lines.end[f]; i++)
			if (values[i] > most) {
				most = values[i];
				best = lines.number[i];
			}
		if (most > 0) break;
	}
	return best;
}

// How much of the function's self time each line has, by line number.
function lineShares(data, f, side) {
	const { lines } = data;
	const shares = new Map();
	let sum = 0;
	for (let i = lines.first[f]; i < lines.end[f]; i++) sum += lines.self[side][i];
	for (let i = lines.first[f]; i < lines.end[f]; i++)
		if (lines.self[side][i] > 0) shares.set(lines.number[i], lines.self[side][i] / sum);
	return shares;
}

function sourceBox(data, f, side) {
	const line = hottestLine(data, f, side);
	const source = sourceAround(data, f, line, side);
	if (!source) return null;
	const shares = lineShares(data, f, side);
	return el("pre", { class: "source", title: "self time of the function's lines" }, ...source.lines.map((text, k) => {
		const share = shares.get(source.first + k);
		return el("span", { class: source.first + k === line ? "line hot" : "line" },
			el("b", {}, String(source.first + k)), el("code", {}, text || " "),
			el("em", {}, share >= 0.005 ? `${(share * 100).toFixed(0)} %` : ""));
	}));
}

function plainTable(facts) {
	const { self, total, all, zoomed, unit } = facts;
	const row = (name, v) => el("tr", {}, el("th", {}, name), el("td", {}, formatValue(v, unit)),
		el("td", {}, formatShare(v / all)), zoomed !== all && el("td", {}, formatShare(v / zoomed)));
	return el("table", {},
		el("tr", {}, el("td", {}), el("td", {}), el("th", {}, "of all"), zoomed !== all && el("th", {}, "of zoomed")),
		row("Self", self), row("Total", total));
}

function diffTable(facts) {
	const { unit, isScaled } = facts;
	const row = (name, c, isNoise) => el("tr", { class: isNoise ? "" : c.delta > 0 ? "up" : c.delta < 0 ? "down" : "" },
		el("th", {}, name), el("td", {}, formatValue(c.base, unit)), isScaled && el("td", { class: "quiet" }, formatValue(c.expected, unit)),
		el("td", {}, formatValue(c.head, unit)), el("td", { class: "delta" }, formatChange(c.delta, unit)),
		el("td", { class: "delta" }, formatPercentChange(c.ratio)));
	return el("table", {},
		el("tr", {}, el("td", {}), ...["Before", isScaled && "Expected", "After", facts.change].filter(Boolean).map((h) => el("th", {}, h)), el("td", {})),
		row("Self", facts.self, facts.noise?.self), row("Total", facts.total, facts.noise?.total));
}

export const verdictWords = ["cannot tell", "unchanged", "changed"];

const pathWords = ["this path cannot be told", "this path did not change", "this path changed"];

// Of the function as a whole, whatever is filtered or zoomed; and of this path where it was tested.
function verdictLines(app, facts) {
	const { verdicts, unit, unjudged } = app.data;
	const { f, path } = facts;
	if (!verdicts) return [];
	if (unjudged?.[f]) return [el("p", { class: "note verdict" }, "Made by a rule for names: it was not judged")];
	const of = (title, family, costs) => {
		const reach = marginOf(family, f, compare(costs[BASE][f], costs[HEAD][f], app.data.factor), app.data);
		const margin = reach === null ? "" : ` (±${formatValue(reach, unit)})`;
		return `${title} ${verdictWords[family.word[f]]}${margin}`;
	};
	return [el("p", { class: "note verdict" },
		`Function in the whole run: ${of("self", verdicts.self, app.costs.self)}, ${of("total", verdicts.total, app.costs.total)}${path === null ? "" : `; ${pathWords[path]}`}`)];
}

// The path's own word: changed by self or by total is changed. null: not tested.
function pathWord({ verdicts }, tree, i) {
	if (!verdicts?.self.path || !tree.isNumbered) return null;
	const words = [verdicts.self.path[i], verdicts.total.path[i]].filter((word) => word < verdictWords.length);
	return words.length ? Math.max(...words) : null;
}

// What was inferred about the frame: another name before, a wrapper, cost that only moved.
function inferredLines(app, facts) {
	const { data } = app;
	const { f, shift, wrapper } = facts;
	const link = facts.isDiff ? linksByFunction(data).get(f) : null;
	const { functions, factor, unit } = data;
	return [
		link && `Taken for ${showName(link.from_name)}${link.from_file ? ` in ${link.from_file}` : ""} of the base: ${howWords[link.how] ?? link.how}, score ${link.score.toFixed(2)}`,
		wrapper === "new" && "New wrapper: what it calls was called without it before",
		wrapper === "removed" && "Removed wrapper: what it called is called without it now",
		shift && `Moved cost: below ${showName(functions.names[shift.caller])}, ${plural(shift.shift.head_callees, "new callee")} cost what ${plural(shift.shift.base_callees, "removed one")} did, ${formatChange(shift.shift.head_total - shift.shift.base_total * factor, unit)} in all`,
	].filter(Boolean).map((text) => el("p", { class: "note" }, text));
}

// A path that only one side has may well be of a function that both ran.
function markWord(data, { f, wrapper }, state) {
	if (wrapper || (state !== "new" && state !== "removed")) return state;
	if (stateOf(data, f) === state) return stateWord(data, f, state);
	return state === "new" ? "newly called here" : "no longer called here";
}

function shares(facts) {
	const words = [`${formatShare(facts.width / facts.all)} of ${facts.allName}`];
	if (facts.zoomed !== facts.all && facts.zoomed > 0)
		words.push(`${formatShare(facts.width / facts.zoomed)} of the zoomed frame`);
	if (facts.ofBenchmark) words.unshift(facts.ofBenchmark);
	return el("p", { class: "shares" }, words.join(" · "));
}

// What a width is a share of, in layouts that are neither side.
const wholes = { union: "both sides", delta: "all change" };

// Everything the box says about node i of the picture, or of what stands beside it.
export function nodeFacts(app, i, isAside = false, flame = app.flame) {
	const { data } = app;
	const { tree, what } = flame.picture;
	const { w, all, tree: drawn } = isAside ? flame.aside : flame.picture;
	const f = tree.func[i];
	const facts = {
		f, unit: data.unit, all, width: w[i], zoomed: w[flame.focus],
		allName: drawn.elided ? "what was removed" : what.isDiff ? wholes[what.widths] ?? "all" : "all", isDiff: what.isDiff,
	};
	const own = tree.inverted ? tree.total : tree.self;
	if (what.isDiff) {
		facts.isScaled = data.factor !== 1;
		facts.change = data.header.scale.mode === "share" ? "By share" : "Change";
		facts.self = compare(own[BASE][i], own[HEAD][i], data.factor);
		facts.total = compare(tree.total[BASE][i], tree.total[HEAD][i], data.factor);
		facts.removed = tree.total[HEAD][i] === 0 && tree.total[BASE][i] > 0;
		facts.added = tree.total[BASE][i] === 0 && tree.total[HEAD][i] > 0;
	} else {
		facts.self = own[what.side][i];
		facts.total = tree.total[what.side][i];
	}
	facts.ofBenchmark = what.isDiff ? benchmarkChange(data, tree, i) : "";
	facts.path = what.isDiff ? pathWord(data, tree, i) : null;
	if (what.verdicts)
		facts.noise = { self: frameVerdict(tree, i, tree.ofTotals ? what.verdicts.total : what.verdicts.self) !== CHANGED, total: frameVerdict(tree, i, what.verdicts.total) !== CHANGED };
	facts.wrapper = what.isDiff ? wrapperState(tree, i, data.marks, data.isSwapped) : "";
	facts.shift = tree.isNumbered && isMoved(tree, i, what) ? shiftOf(data, tree, i) : null;
	facts.leaf = tree.inverted ? leafOf(tree, i) : -1;
	facts.callees = countChildren(tree, i);
	return facts;
}

function leafOf(tree, i) {
	let at = i;
	while (tree.parent[at] > 0) at = tree.parent[at];
	return at === i ? -1 : tree.func[at];
}

function countChildren(tree, i) {
	let n = 0;
	for (let c = i + 1; c < tree.end[i]; c = tree.end[c]) n++;
	return n;
}

export class Tooltip {
	constructor(app, box) {
		this.app = app;
		this.box = box;
		this.node = -1;
	}

	show(i, at, isAside = false, flame = this.app.flame) {
		if (i !== this.node || isAside !== this.isAside || flame !== this.flame) {
			this.flame = flame;
			this.node = i;
			this.isAside = isAside;
			this.fill(i);
		}
		this.box.hidden = false;
		this.place(at);
	}

	hide() {
		this.node = -1;
		this.box.hidden = true;
	}

	fill(i) {
		const { data } = this.app;
		const facts = nodeFacts(this.app, i, this.isAside, this.flame);
		const { f } = facts;
		const side = facts.removed || this.app.state.show === "base" ? BASE : HEAD;
		const state = facts.shift ? "moved" : facts.wrapper || (facts.removed ? "removed" : facts.added ? "new" : "");
		this.box.replaceChildren(...[
			el("h2", {}, showName(data.functions.names[f]), state && el("span", { class: `mark ${state}` }, markWord(data, facts, state))),
			el("p", { class: "place" }, this.placeOf(f)),
			facts.leaf >= 0 && el("p", { class: "note" }, `time of ${showName(data.functions.names[facts.leaf])} through this caller`),
			facts.isDiff ? diffTable(facts) : plainTable(facts),
			...(facts.isDiff ? inferredLines(this.app, facts) : []),
			...(facts.isDiff ? verdictLines(this.app, facts) : []),
			facts.isDiff && shares(facts),
			opcodeBox(data, this.flame.picture.tree, i, this.flame.picture.what),
			sourceBox(data, f, side),
		].filter(Boolean));
	}

	placeOf(f) {
		if (this.app.data.functions.kind[f] === TASK_KIND)
			return "task of asyncio: what it runs lies on it, what waits for it below";
		return filePlaceOf(this.app.data, f) || "no file recorded";
	}

	place({ x, y, below }) {
		const { box } = this;
		const { width, height } = box.getBoundingClientRect();
		const left = Math.min(x + 14, window.innerWidth - width - 8);
		let top = y + (below ?? 18);
		if (top + height > window.innerHeight - 8) top = Math.max(8, y - height - 14);
		box.style.left = `${Math.max(8, left)}px`;
		box.style.top = `${top}px`;
	}
}
