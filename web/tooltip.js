// SPDX-License-Identifier: MIT
// The tooltip of a frame: name, cost, change, verdict and source.
import { isHeap, noun } from "./cost_words.js";
import { BASE, HEAD, TASK_KIND } from "./data.js";
import { el } from "./dom.js";
import { nodeFacts } from "./frame_facts.js";
import { foldOf, foldWords } from "./fold_functions.js";
import { frameName } from "./folds.js";
import {
	alignedLines, changedRow, hottestRow, isFew, isGap, linesOfSide, wholeTotal,
} from "./function_lines.js";
import {
	compare, formatChange, formatRatio, formatShare, formatValue, plural,
} from "./format.js";
import { howWords, linksByFunction, originOf } from "./inferred.js";
import { intervalText } from "./interval_text.js";
import { showName } from "./labels.js";
import { opcodeBox } from "./opcodes.js";
import { originWord } from "./own_code.js";
import { filePlaceOf } from "./source_places.js";
import { functionWord } from "./verdicts.js";

const SOURCE_AROUND = 3;
const LABEL = 320; // width of a frame's label, pixels

// The rows around a row, without gaps.
function excerpt(rows, row) {
	const at = rows.indexOf(row);
	let first = at, last = at;
	while (first > Math.max(0, at - SOURCE_AROUND) && !isGap(rows[first - 1], rows[first])) first--;
	while (last < Math.min(rows.length - 1, at + SOURCE_AROUND) &&
		!isGap(rows[last], rows[last + 1])) last++;
	return rows.slice(first, last + 1);
}

// The line that explains a frame: for a certain change the line with most of it, else the
// costliest; if unknown, the first line of the function.
function explainingRow(facts, family, rows, side, isComparable) {
	const { delta } = facts[family] ?? {};
	return (isComparable && !facts.noise?.[family] && changedRow(rows, family, delta)) ||
		hottestRow(rows, side, family) || hottestRow(rows, side, "total") ||
		rows.find(({ a, b }) => (b ?? a).number === facts.line) || null;
}

// Format a cost as a share of the function's, or as a value if there are too few samples for
// shares.
function amountIn(data, f, side) {
	const all = wholeTotal(data, f, side);
	if (isFew(data, side, all)) return (v) => (v > 0 ? formatValue(v, data.unit) : "");
	return (v) => (v / all >= 0.005 ? `${((v / all) * 100).toFixed(0)} %` : "");
}

// Lines of the frame's function, with change, cost including callees, and own cost.
function sourceBox(data, facts, what, side) {
	const { f } = facts, { ran, line: first } = data.functions;
	const aligned = what.isDiff ? alignedLines(data, f) : null;
	const { rows } = aligned ?? linesOfSide(data, f, side);
	const family = what.isDiff && what.by === "self" ? "self" : "total";
	const hot = explainingRow({ ...facts, line: first[f] }, family, rows, side, Boolean(aligned));
	if (!hot) return null;
	const hasBoth = Boolean(aligned && ran[BASE][f] && ran[HEAD][f]);
	const amount = amountIn(data, f, side), isSure = !facts.noise?.[family];
	const rowOf = (row) => {
		const own = side === BASE ? row.a : row.b, line = own ?? row.a ?? row.b;
		const { delta } = row[family];
		const way = !isSure || !delta ? "" : delta > 0 ? " up" : " down";
		return el("span", { class: `line${row === hot ? " hot" : ""}${way}` },
			el("b", {}, `${!hasBoth || (row.a && row.b) ? "" : row.b ? "+" : "−"}${line.number}`),
			el("code", {}, line.text || " "),
			hasBoth && el("em", { class: "delta" }, delta ? formatChange(delta, data.unit) : ""),
			el("em", {}, own ? amount(own.total) : ""), el("em", {}, own ? amount(own.self) : ""));
	};
	const title = "Lines of the function in the whole run; total includes what they call";
	return el("pre", { class: "source", title },
		el("span", { class: "names" }, el("code", {}, "Lines"),
			hasBoth && el("em", { class: "delta" }, "change"),
			el("em", {}, "total"), el("em", {}, "self")),
		...excerpt(rows, hot).map(rowOf));
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
		el("td", { class: "delta" }, formatRatio(c)));
	return el("table", {},
		el("tr", {}, el("td", {}),
			...["Before", isScaled && "Expected", "After", facts.change].filter(Boolean)
			.map((h) => el("th", {}, h)), el("td", {})),
		row("Self", facts.self, facts.noise?.self), row("Total", facts.total, facts.noise?.total));
}

// Verdicts on the function as a whole, independent of filters and zoom; and on this path if it was
// tested.
function verdictLines(model, facts) {
	const { verdicts, unjudged } = model.data;
	const { f, path } = facts;
	if (!verdicts || foldOf(model.data, f) >= 0) return [];
	if (unjudged?.[f])
		return [el("p", { class: "note verdict" }, "Made by a name rule: no verdict")];
	const of = (title, family, costs) => {
		const c = compare(costs[BASE][f], costs[HEAD][f], model.data.factor);
		const interval = intervalText(family, f, c, model.data);
		const word = functionWord(model.data, f, family.word[f], c.delta);
		return `${title} ${word}${interval && ` (${interval})`}`;
	};
	const words = [of("self", verdicts.self, model.costs.self),
		of("total", verdicts.total, model.costs.total)].join(", ");
	const whole = isHeap(model.data.header) ? "In all" : "Whole function";
	return [el("p", { class: "note verdict" },
		`${whole}: ${words}${path === null ? "" : `; this path: ${path}`}`)];
}

function shiftLine(caller, { head_callees, base_callees, head_total, base_total }, factor, unit) {
	return `Moved: under ${showName(caller)}, ${plural(head_callees, "new callee")} ` +
		`cost about what ${plural(base_callees, "removed one")} did, ` +
		`${formatChange(head_total - base_total * factor, unit)} in all`;
}

// Inferred facts on the frame: a previous name, a wrapper, cost that only moved.
function inferredLines(model, facts) {
	const { data } = model;
	const { f, shift, wrapper } = facts;
	const link = facts.isDiff ? linksByFunction(data).get(f) : null;
	const { functions, factor, unit } = data;
	return [
		link && `Matched with ${showName(link.from_name)}` +
			`${link.from_file ? ` in ${link.from_file}` : ""} before: ` +
			`${howWords[link.how] ?? link.how}, score ${link.score.toFixed(2)}`,
		facts.isDiff && originOf(data, f) &&
			`Its code came from ${showName(originOf(data, f))}`,
		wrapper === "new" && "New wrapper: its callees were called directly before",
		wrapper === "removed" && "Removed wrapper: its callees are called directly now",
		shift && shiftLine(functions.names[shift.caller], shift.shift, factor, unit),
	].filter(Boolean).map((text) => el("p", { class: "note" }, text));
}

function sharesLine(facts) {
	const words = [`${formatShare(facts.width / facts.all)} of ${facts.allName}`];
	if (facts.zoomed !== facts.all && facts.zoomed > 0)
		words.push(`${formatShare(facts.width / facts.zoomed)} of the zoomed frame`);
	if (facts.ofBenchmark) words.unshift(facts.ofBenchmark);
	return el("p", { class: "shares" }, words.join(" · "));
}

export class Tooltip {
	// `main` is the default flame graph.
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

	// Content for a frame {flame, node, isAside}, as elements.
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
				state && el("span", { class: `mark ${state}` }, facts.shift ? state : facts.side)),
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
			sourceBox(data, facts, flame.picture.what, side),
		].filter(Boolean);
	}

	placeOf(f) {
		if (this.model.data.functions.kind[f] === TASK_KIND)
			return "asyncio task: what it runs is above it, what waits for it below";
		const fold = foldOf(this.model.data, f);
		if (fold >= 0) return `${foldWords[fold][1]}. Unfold ${foldWords[fold][0]} in View.`;
		return filePlaceOf(this.model.data, f) || "no file recorded";
	}

	// Place it beside {x, y}; with boxes of frames in `avoid`, at the place where it covers least
	// of their labels.
	place({ x, y, below, avoid }) {
		const { box } = this;
		const { width, height } = box.getBoundingClientRect();
		const right = Math.max(8, window.innerWidth - width - 8);
		const bottom = Math.max(8, window.innerHeight - height - 8);
		const beside = { left: Math.max(8, Math.min(x + 14, right)), top: y + (below ?? 18) };
		if (beside.top > bottom) beside.top = Math.max(8, y - height - 14);
		const covered = ({ left, top }) => (avoid ?? []).reduce((sum, frame) => {
			const w = Math.min(left + width, frame.left + Math.min(frame.width, LABEL)) -
				Math.max(left, frame.left);
			const h = Math.min(top + height, frame.top + frame.height) - Math.max(top, frame.top);
			return sum + Math.max(0, w) * Math.max(0, h);
		}, 0);
		const spots = [beside, ...(avoid ? [
			{ left: right, top: beside.top }, { left: right, top: bottom },
			{ left: beside.left, top: bottom }, { left: 8, top: bottom },
		] : [])];
		const best = spots.reduce((a, b) => (covered(b) < covered(a) ? b : a));
		box.style.left = `${best.left}px`;
		box.style.top = `${best.top}px`;
	}
}
