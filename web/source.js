// SPDX-License-Identifier: MIT
// The Source view: the lines of one function, aligned for both versions, with the cost of each
// before and after, callees included.
//
//   wide:     before            total  |  after                  total  |  change    self
//             13 parse(line)    3.0 s  |  13 parse_fast(line)    0.9 s  |  −2.1 s    0.2 s → 0.1 s
//
//   narrow:   13  −  parse(line)       3.0 s            −3.0 s
//             13  +  parse_fast(line)           0.9 s   +0.9 s
import { benchmarksOf } from "./benchmarks.js";
import { noun } from "./cost_words.js";
import { BASE, HEAD } from "./data.js";
import { el } from "./dom.js";
import { compare, formatChange, formatShare, formatValue, plural } from "./format.js";
import { isFiltered } from "./filters.js";
import {
	alignedLines, changedFamily, changedRow, hottestRow, isFew, isGap, isWhole, linesOfSide,
	wholeTotal,
} from "./function_lines.js";
import { CodePainter } from "./heat_code.js";
import { Scale } from "./heat_scale.js";
import { linksByFunction } from "./inferred.js";
import { showName } from "./labels.js";
import { callLineOf, callsOfFunction } from "./line_calls.js";
import { opcodesOfLines, opcodeWords } from "./opcodes.js";
import { functionWord } from "./verdicts.js";

const MOST = 1500; // maximum number of rows shown
const WIDE = "(min-width: 1360px)"; // room for both versions side by side
const CALLEES = 2, CALLERS = 4; // number of calls shown of a line, and to a function

// Syntax colouring of the lines of one side, in order; it restarts after a gap.
class SidePainter {
	constructor(file) {
		this.file = file;
		this.last = -1;
	}
	painterAt(number) {
		if (number !== this.last + 1) this.painter = new CodePainter(this.file);
		this.last = number;
		return this.painter;
	}
	paint(line) {
		return line ? this.painterAt(line.number).line(line.text) : [];
	}
}

const heading = (cells) => el("tr", {}, ...cells.filter(Boolean)
	.map(([words, kind = ""]) => el("th", { scope: "col", class: kind }, words)));

const numberCell = (line, kind = "at") =>
	el("td", { class: kind }, line ? String(line.number) : "");

const rowClass = (heat, isMarked) =>
	[heat && `hot ${heat}`, isMarked && "marked"].filter(Boolean).join(" ");

// Pairs replaced lines: the first removed with the first added, and so on.
function pairReplaced(rows) {
	const out = [];
	for (let i = 0; i < rows.length;) {
		let end = i;
		while (end < rows.length && !(rows[end].a && rows[end].b)) end++;
		const gone = rows.slice(i, end).filter((row) => row.a);
		const added = rows.slice(i, end).filter((row) => row.b);
		for (let k = 0; k < Math.max(gone.length, added.length); k++)
			out.push({ rows: [gone[k], added[k]].filter(Boolean), a: gone[k]?.a ?? null,
				b: added[k]?.b ?? null });
		if (end < rows.length) out.push({ rows: [rows[end]], a: rows[end].a, b: rows[end].b });
		i = end + 1;
	}
	return out;
}

export class SourceView {
	constructor(model, section) {
		this.model = model;
		this.title = el("h2", {});
		this.table = el("table", { class: "lines" });
		this.note = el("p", { class: "quiet" });
		this.callers = el("p", { class: "calls" });
		this.listing = el("div", {
			class: "listing", tabindex: "0", role: "group", "aria-label": "Source lines",
		}, this.table);
		section.append(this.title, this.note, this.callers, this.listing);
		this.wanted = 0; // line of the call to show next
		matchMedia(WIDE).addEventListener("change", () => {
			if (this.shown && section.offsetParent) this.update(...this.shown);
		});
	}

	update(f, what) {
		const { data } = this.model;
		const isNew = this.shown?.[0] !== f;
		this.shown = [f, what];
		this.title.textContent = `${showName(data.functions.names[f])}: source`;
		const aligned = what.isDiff ? alignedLines(data, f) : null;
		const [before, after] = data.functions.ran;
		const isPair = Boolean(before[f] && aligned?.rows.length);
		const isWide = Boolean(isPair && after[f]) && matchMedia(WIDE).matches;
		this.table.className = `lines${isWide ? " both" : ""}`;
		this.marked = null;
		this.calls = what.isDiff === data.isDiff ? callsOfFunction(data, f) : null;
		const rows = isPair ? this.diffRows(f, aligned, isWide) : this.plainRows(f, what);
		this.table.replaceChildren(...rows);
		this.note.textContent = this.notes(f, isPair, rows.length > 0).join(" ");
		this.showCallers(this.calls?.callers ?? []);
		if (isNew || this.wanted) this.reveal();
	}

	// Opens the source of a function that calls or is called.
	callButton({ f, cost: [base, head] }, title, line) {
		const { isDiff, factor, unit, functions } = this.model.data;
		const cost = isDiff ? formatChange(compare(base, head, factor).delta, unit) :
			formatValue(head, unit);
		const name = showName(functions.names[f]);
		return el("button", {
			class: "call", title: `${title} ${name}: ${cost}`, onclick: () => {
				this.wanted = line;
				this.model.acts.set({ tab: "source", middle: f }, true);
			},
		}, name, el("small", {}, cost));
	}

	showCallers(calls) {
		const others = calls.length - CALLERS;
		this.callers.hidden = !calls.length;
		this.callers.replaceChildren(...[
			calls.length && el("span", { class: "quiet" }, "Called by"),
			...calls.slice(0, CALLERS).map((call) => this.callButton(call, "called by", call.line)),
			others > 0 && el("small", {}, `and ${plural(others, "other line")}`)].filter(Boolean));
	}

	// What the line of a row calls.
	callees(f, row) {
		const calls = this.calls?.callees.get(callLineOf(this.model.data, f, row)) ?? [];
		const others = calls.length - CALLEES;
		return calls.length && el("span", { class: "calls" },
			...calls.slice(0, CALLEES).map((call) => this.callButton(call, "calls", 0)),
			others > 0 && el("small", {}, `and ${plural(others, "other")}`));
	}

	// Scroll to the line of a call that led here, or to the marked line.
	reveal() {
		const { listing, wanted } = this;
		const called = wanted ? this.table.querySelector(`[data-call="${wanted}"]`) : null;
		const row = called ?? this.marked;
		this.wanted = 0;
		called?.classList.add("called");
		listing.scrollTop = row ? row.offsetTop - listing.clientHeight / 3 : 0;
	}

	notes(f, isDiff, hasRows) {
		const { data, state } = this.model;
		if (data.unjudged?.[f] && data.origins[f].length > 1)
			return ["A name rule merged several functions here; their lines are not shown."];
		if (!hasRows) return ["Source not recorded."];
		const link = isDiff ? linksByFunction(data).get(f) : null;
		const from = link?.from_file ? ` in ${showName(link.from_file)}` : "";
		return [
			link && `Before: ${showName(link.from_name)}${from}.`,
			benchmarksOf(data).length > 1 && "Lines count all benchmarks.",
			isFiltered(state) && "Lines count all samples; filters do not apply.",
			isWhole(data, f) && "Counts are of the whole function, on its first line.",
			isDiff && data.verdicts && !data.unjudged?.[f] && this.verdict(f),
		].filter(Boolean);
	}

	// Show the verdicts on the whole function, and what they mean for the colours.
	verdict(f) {
		const { data, costs } = this.model;
		const word = (family) => functionWord(data, f, data.verdicts[family].word[f],
			costs[family][HEAD][f] - costs[family][BASE][f] * data.factor);
		const colour = changedFamily(data, f) ? "" :
			" Lines have no colour because the function's change is not certain.";
		return `Whole function: total ${noun(data.header)} ${word("total")}, ` +
			`self ${word("self")}.${colour}`;
	}

	// The bytecode instructions of a line, if recorded.
	opcodes(f) {
		const { data } = this.model;
		if (!data.opcodes) return () => null;
		const lines = opcodesOfLines(data, f);
		const words = (line, side) => (line ? opcodeWords(data, lines.get(line.number), side) : "");
		return (before, after) => {
			const text = [...new Set([words(before, BASE), words(after, HEAD)])].filter(Boolean)
				.join(" → ");
			return text && el("small", { class: "opcodes", title: "instructions of the line" },
				text);
		};
	}

	// What colours the words of each version, in the state that the stored lines above leave.
	painters(f, rows) {
		const { functions, chunks } = this.model.data;
		return ["a", "b"].map((version, side) => {
			const painter = new SidePainter(functions.files[functions.file[f]]);
			const first = rows.find((row) => row[version])?.[version].number ?? 0;
			for (const { start, lines } of chunks[functions.source[side][f] - 1] ?? [])
				for (let k = 0; k < lines.length && start + k < first; k++)
					painter.painterAt(start + k).skip(lines[k]);
			return painter;
		});
	}

	diffRows(f, { rows }, isWide) {
		const { data, costs } = this.model;
		const { factor, unit, header } = data;
		const family = changedFamily(data, f) || "total", isSure = changedFamily(data, f) !== "";
		const delta = costs[family][HEAD][f] - costs[family][BASE][f] * factor;
		const most = Math.max(...rows.map((row) => Math.abs(row[family].delta))) || 1;
		const marked = isSure && changedRow(rows, family, delta);
		const parts = {
			f, unit, family, isSure, most, marked, ops: this.opcodes(f), scale: new Scale(data),
			painters: this.painters(f, rows), isScaled: factor !== 1,
		};
		const change = header.scale.mode === "share" ? "Change by share" : "Change";
		const list = (isWide ? pairReplaced(rows) :
			rows.map((row) => ({ rows: [row], a: row.a, b: row.b }))).slice(0, MOST);
		const names = isWide ?
			[["Line"], ["Before", "code"], ["Total"], ["Line"], ["After", "code"], ["Total"]] :
			[["Before", "first"], ["After"], ["±"], ["Source", "code"], ["Before", "each-side"],
				parts.isScaled && ["Expected", "each-side"], ["After", "each-side"]];
		const out = [heading([...names, [change], ["Self", "more-room"]])];
		list.forEach((row, i) => {
			if (i && isGap(list[i - 1], row)) out.push(this.gapRow(out[0].cells.length));
			out.push(this.diffRow(row, parts, isWide));
		});
		return out;
	}

	gapRow(columns) {
		return el("tr", { class: "gap" }, el("td", { colspan: String(columns) }, "⋯"));
	}

	diffRow({ rows, a, b }, parts, isWide) {
		const { unit, family, isSure, most, scale, painters, ops } = parts;
		const sum = (of, key) => rows.reduce((all, row) => all + row[of][key], 0);
		const change = { delta: sum("total", "delta") };
		const heat = scale.name(isSure ? scale.step(sum(family, "delta"), most) : 0);
		// Two rows: a line beside the one that replaced it.
		const isMarked = rows.includes(parts.marked), isChanged = rows.length > 1 || !a || !b;
		const [before, after] = [painters[BASE].paint(a), painters[HEAD].paint(b)];
		const calls = (row) => this.callees(parts.f, row) || null;
		const code = isWide ? [
			numberCell(a), el("td", { class: `code${a && isChanged ? " gone" : ""}` }, ...before,
				a && isChanged ? calls({ a, b: null }) : null),
			el("td", {}, scale.value(sum("total", "base"))),
			numberCell(b),
			el("td", { class: `code${b && isChanged ? " added" : ""}` }, ...after, ops(a, b),
				b && calls(isChanged ? { a: null, b } : { a, b })),
			el("td", {}, scale.value(sum("total", "head"))),
		] : [
			numberCell(a, "at first"), numberCell(b, b ? "at" : "at none"),
			el("td", { class: "sign" }, a ? (b ? "" : "−") : "+"),
			el("td", { class: "code" }, ...(b ? after : before), ops(a, b),
				calls({ a, b })),
			el("td", { class: "each-side" }, scale.value(sum("total", "base"))),
			parts.isScaled &&
			el("td", { class: "quiet each-side" }, scale.value(sum("total", "expected"))),
			el("td", { class: "each-side" }, scale.value(sum("total", "head"))),
		];
		const self = [sum("self", "base"), sum("self", "head")];
		const row = el("tr", {
			class: rowClass(heat, isMarked),
			title: isMarked && "most of the change is in this line",
			"data-call": String(callLineOf(this.model.data, parts.f, { a, b })),
		}, ...code,
			el("td", { class: scale.tone(change, isSure) }, scale.change(change)),
			el("td", { class: "quiet more-room" }, self.some((v) => v > 0) ?
				self.map((v) => formatValue(v, unit)).join(" → ") : ""));
		if (isMarked) this.marked = row;
		return row;
	}

	plainRows(f, what) {
		const { data } = this.model;
		const { header } = data, scale = new Scale({ ...data, isDiff: false });
		const sides = [what.side, HEAD, BASE];
		const side = sides.find((s) => data.functions.source[s][f]);
		if (side === undefined) return [];
		const { rows } = linesOfSide(data, f, side);
		if (!rows.length) return [];
		const all = wholeTotal(data, f, side) || 1, few = isFew(data, side, all);
		const painter = this.painters(f, rows)[side], ops = this.opcodes(f);
		const marked = hottestRow(rows, side, "total"), name = noun(header);
		const lineOf = (row) => (side === BASE ? row.a : row.b);
		const most = marked ? lineOf(marked).total : 0;
		const out = [heading([["Line"], ["Source", "code"], [`Total ${name}`],
			[`Self ${name}`, "each-side"], !few && ["Share", "each-side"]])];
		rows.slice(0, MOST).forEach((row, i) => {
			if (i && isGap(rows[i - 1], row)) out.push(this.gapRow(out[0].cells.length));
			const line = lineOf(row);
			const heat = scale.name(scale.step(line.total, most));
			const element = el("tr", {
				class: rowClass(heat, row === marked), "data-call": String(line.number),
			}, numberCell(line),
				el("td", { class: "code" }, ...painter.paint(line), ops(row.a, row.b),
					(!data.isDiff && this.callees(f, row)) || null),
				el("td", {}, scale.value(line.total)),
				el("td", { class: "quiet each-side" }, scale.value(line.self)),
				!few && el("td", { class: "each-side" },
					line.total ? formatShare(line.total / all) : ""));
			if (row === marked) this.marked = element;
			out.push(element);
		});
		return out;
	}
}
