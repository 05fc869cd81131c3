// SPDX-License-Identifier: MIT
// The box beside a frame: what it is, what it cost, what changed, and its source.
import { noun } from "./cost_words.js";
import { BASE, HEAD, TASK_KIND } from "./data.js";
import { el } from "./dom.js";
import { nodeFacts } from "./facts.js";
import { foldOf, foldWords } from "./fold_functions.js";
import { frameName } from "./folds.js";
import {
	compare, formatChange, formatPercentChange, formatShare, formatValue, plural,
} from "./format.js";
import { stateOf } from "./filters.js";
import { howWords, linksByFunction, originOf, stateWord } from "./inferred.js";
import { intervalText } from "./intervals.js";
import { showName } from "./labels.js";
import { opcodeBox } from "./opcodes.js";
import { originWord } from "./own.js";
import { filePlaceOf } from "./places.js";
import { changeWord } from "./verdicts.js";

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
	const title = `self ${noun(data.header)} of the function's lines`;
	return el("pre", { class: "source", title },
		...source.lines.map((text, k) => {
			const share = shares.get(source.first + k);
			return el("span", { class: source.first + k === line ? "line hot" : "line" },
				el("b", {}, String(source.first + k)), el("code", {}, text || " "),
				el("em", {}, share >= 0.005 ? `${(share * 100).toFixed(0)} %` : ""));
		}));
}

function plainTable(facts) {
	const { self, total, all, zoomed, unit } = facts;
	const row = (name, v) => el("tr", {}, el("th", {}, name), el("td", {}, formatValue(v, unit)),
		el("td", {}, formatShare(v / all)),
		zoomed !== all && el("td", {}, formatShare(v / zoomed)));
	return el("table", {},
		el("tr", {}, el("td", {}), el("td", {}), el("th", {}, "of all"),
			zoomed !== all && el("th", {}, "of zoomed")),
		row("Self", self), row("Total", total));
}

function diffTable(facts) {
	const { unit, isScaled } = facts;
	const row = (name, c, isNoise) => el("tr", {
		class: isNoise ? "" : c.delta > 0 ? "up" : c.delta < 0 ? "down" : "",
	},
		el("th", {}, name), el("td", {}, formatValue(c.base, unit)),
		isScaled && el("td", { class: "quiet" }, formatValue(c.expected, unit)),
		el("td", {}, formatValue(c.head, unit)),
		el("td", { class: "delta" }, formatChange(c.delta, unit)),
		el("td", { class: "delta" }, formatPercentChange(c.ratio)));
	return el("table", {},
		el("tr", {}, el("td", {}),
			...["Before", isScaled && "Expected", "After", facts.change].filter(Boolean)
			.map((h) => el("th", {}, h)), el("td", {})),
		row("Self", facts.self, facts.noise?.self), row("Total", facts.total, facts.noise?.total));
}

// Of the function as a whole, whatever is filtered or zoomed; and of this path where it was tested.
function verdictLines(model, facts) {
	const { verdicts, unjudged } = model.data;
	const { f, path } = facts;
	if (!verdicts || foldOf(model.data, f) >= 0) return [];
	if (unjudged?.[f])
		return [el("p", { class: "note verdict" }, "Made by a rule for names: it was not judged")];
	const of = (title, family, costs) => {
		const c = compare(costs[BASE][f], costs[HEAD][f], model.data.factor);
		const interval = intervalText(family, f, c, model.data);
		const word = changeWord(model.data, family.word[f], c.delta);
		return `${title} ${word}${interval && ` (${interval})`}`;
	};
	const words = [of("self", verdicts.self, model.costs.self),
		of("total", verdicts.total, model.costs.total)].join(", ");
	return [el("p", { class: "note verdict" },
		`The function in the whole run: ${words}${path === null ? "" : `; this path: ${path}`}`)];
}

function shiftLine(caller, { head_callees, base_callees, head_total, base_total }, factor, unit) {
	return `It only moved: below ${showName(caller)}, ${plural(head_callees, "new callee")} ` +
		`cost what ${plural(base_callees, "removed one")} did, ` +
		`${formatChange(head_total - base_total * factor, unit)} in all`;
}

// What was inferred about the frame: another name before, a wrapper, cost that only moved.
function inferredLines(model, facts) {
	const { data } = model;
	const { f, shift, wrapper } = facts;
	const link = facts.isDiff ? linksByFunction(data).get(f) : null;
	const { functions, factor, unit } = data;
	return [
		link && `Taken for ${showName(link.from_name)}` +
			`${link.from_file ? ` in ${link.from_file}` : ""} of the base: ` +
			`${howWords[link.how] ?? link.how}, score ${link.score.toFixed(2)}`,
		facts.isDiff && originOf(data, f) &&
			`Its code was in ${showName(originOf(data, f))}`,
		wrapper === "new" && "New wrapper: what it calls was called without it before",
		wrapper === "removed" && "Removed wrapper: what it called is called without it now",
		shift && shiftLine(functions.names[shift.caller], shift.shift, factor, unit),
	].filter(Boolean).map((text) => el("p", { class: "note" }, text));
}

// A path that only one side has may well be of a function that both ran.
function markWord(data, { f, wrapper }, state) {
	if (wrapper) return wrapper === "removed" ? "gone" : wrapper;
	if (state !== "new" && state !== "removed") return state;
	if (stateOf(data, f) === state) return stateWord(data, f, state);
	return state === "new" ? "newly called here" : "no longer called here";
}

function sharesLine(facts) {
	const words = [`${formatShare(facts.width / facts.all)} of ${facts.allName}`];
	if (facts.zoomed !== facts.all && facts.zoomed > 0)
		words.push(`${formatShare(facts.width / facts.zoomed)} of the zoomed frame`);
	if (facts.ofBenchmark) words.unshift(facts.ofBenchmark);
	return el("p", { class: "shares" }, words.join(" · "));
}

export class Tooltip {
	// `main` is the flame graph that is meant where none is named.
	constructor(model, main, box) {
		this.model = model;
		this.main = main;
		this.box = box;
		this.node = -1;
	}

	show(i, at, isAside = false, flame = this.main) {
		if (i !== this.node || isAside !== this.isAside || flame !== this.flame) {
			this.flame = flame;
			this.node = i;
			this.isAside = isAside;
			this.box.replaceChildren(...this.contentOf({ node: i, isAside, flame }));
		}
		this.box.hidden = false;
		this.place(at);
	}

	hide() {
		this.node = -1;
		this.box.hidden = true;
	}

	// What is said of a frame {flame, node, isAside}, as elements.
	contentOf({ node: i, isAside, flame }) {
		const { data } = this.model;
		const facts = nodeFacts(data, flame, i, isAside);
		const { f } = facts;
		const side = facts.removed || this.model.state.show === "base" ? BASE : HEAD;
		const fold = foldOf(data, f);
		const state = fold >= 0 ? "" : facts.shift ? "moved" :
			facts.wrapper || (facts.removed ? "removed" : facts.added ? "new" : "");
		return [
			el("h2", {}, frameName(data, flame.picture.tree, i, showName(data.functions.names[f])),
				state && el("span", { class: `mark ${state}` }, markWord(data, facts, state))),
			el("p", { class: "place" }, originWord(data, f) &&
				el("span", { class: "origin" }, originWord(data, f)), this.placeOf(f)),
			facts.leaf >= 0 && el("p", { class: "note" },
				`${noun(data.header)} of ${showName(data.functions.names[facts.leaf])} ` +
				"through this caller"),
			flame.note && el("p", { class: "note when" }, flame.note),
			facts.isDiff ? diffTable(facts) : plainTable(facts),
			...(facts.isDiff ? inferredLines(this.model, facts) : []),
			...(facts.isDiff ? verdictLines(this.model, facts) : []),
			facts.isDiff && sharesLine(facts),
			opcodeBox(data, flame.picture.tree, i, flame.picture.what),
			sourceBox(data, f, side),
		].filter(Boolean);
	}

	placeOf(f) {
		if (this.model.data.functions.kind[f] === TASK_KIND)
			return "task of asyncio: what it runs lies on it, what waits for it below";
		const fold = foldOf(this.model.data, f);
		if (fold >= 0) return `${foldWords[fold][1]}. View unfolds ${foldWords[fold][0]}.`;
		return filePlaceOf(this.model.data, f) || "no file recorded";
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
