// SPDX-License-Identifier: MIT
// The source of one function, both versions in one column: lines that both have stand together,
// others alone, each with what it cost before and after.
//
//   before  after                        before   after  change
//       12     12    for line in text:     1.2 s   1.2 s     ±0
//       13         -   parse(line)         3.0 s            −3.0 s
//              13  +   parse_fast(line)            0.9 s    +0.9 s
import { benchmarksOf } from "./benchmarks.js";
import { noun } from "./cost_words.js";
import { BASE, HEAD } from "./data.js";
import { el } from "./dom.js";
import { capital, compare, formatChange, formatShare, formatValue } from "./format.js";
import { isFiltered } from "./filters.js";
import { CodePainter } from "./heat_code.js";
import { linksByFunction } from "./inferred.js";
import { showName } from "./labels.js";
import { opcodesOfLines, opcodeWords } from "./opcodes.js";
import { functionWord } from "./verdicts.js";

// Lines around those that cost something, and the most that are aligned: the table of the
// alignment has the square of that.
const AROUND = 3;
const MOST = 1500;

// Cost of the function's lines on one side, by line number: self, or total when it has none.
function lineCosts({ lines }, f, side) {
	const costs = new Map();
	for (const values of [lines.self[side], lines.total[side]]) {
		for (let i = lines.first[f]; i < lines.end[f]; i++)
			if (values[i] > 0) costs.set(lines.number[i], values[i]);
		if (costs.size) break;
	}
	return costs;
}

// Stored lines of the function on one side: [{number, text, cost}].
function storedLines(data, f, side) {
	const source = data.functions.source[side][f];
	const chunks = source ? data.chunks[source - 1] ?? [] : [];
	const costs = lineCosts(data, f, side);
	const numbers = costs.size ? [...costs.keys()] : [data.functions.line[f]];
	const first = Math.min(...numbers, data.functions.line[f] || Infinity) - AROUND,
		last = Math.max(...numbers) + AROUND;
	const out = [];
	for (const { start, lines } of chunks)
		lines.forEach((text, k) => {
			const number = start + k;
			if (number >= first && number <= last && out.length < MOST) out.push({
				number, text: text.trimEnd(), cost: costs.get(number) ?? 0,
			});
		});
	paintLines(out, data.functions.files[data.functions.file[f]]);
	return out;
}

// A text that is not all there begins anew after each gap.
function paintLines(lines, file) {
	let painter = null, last = -1;
	for (const line of lines) {
		if (line.number !== last + 1) painter = new CodePainter(file);
		line.code = painter.line(line.text);
		last = line.number;
	}
}

// Pairs [a, b] of lines in order, null where a side has none: a longest common subsequence.
export function alignLines(before, after) {
	const n = before.length, m = after.length, width = m + 1;
	const best = new Uint16Array((n + 1) * width);
	for (let i = n - 1; i >= 0; i--)
		for (let k = m - 1; k >= 0; k--)
			best[i * width + k] = before[i].text === after[k].text ?
				best[(i + 1) * width + k + 1] + 1 :
				Math.max(best[(i + 1) * width + k], best[i * width + k + 1]);
	const pairs = [];
	let i = 0, k = 0;
	while (i < n || k < m) {
		if (i < n && k < m && before[i].text === after[k].text)
			pairs.push([before[i++], after[k++]]);
		else if (i < n && (k === m || best[(i + 1) * width + k] >= best[i * width + k + 1]))
			pairs.push([before[i++], null]);
		else pairs.push([null, after[k++]]);
	}
	return pairs;
}

const heading = (words) => el("tr", {},
	...words.map((w) => el("th", { scope: "col", class: w === "Source" && "code" }, w)));

export class SourceView {
	constructor(model, section) {
		this.model = model;
		this.title = el("h2", {});
		this.table = el("table", { class: "lines" });
		this.note = el("p", { class: "quiet" });
		section.append(this.title, this.note,
			el("div",
				{
					class: "listing", tabindex: "0", role: "group", "aria-label": "Source lines",
				}, this.table));
	}

	update(f, what) {
		const { data } = this.model;
		this.title.textContent = `${showName(data.functions.names[f])}: source`;
		const sides = [BASE, HEAD].map((side) => storedLines(data, f, side));
		const isDiff = what.isDiff && sides[BASE].length > 0;
		const rows = isDiff ? this.diffRows(f, sides) :
			this.plainRows(f, sides, sides[what.side].length ? what.side : HEAD);
		this.table.replaceChildren(...rows);
		this.note.textContent = this.notes(f, isDiff, rows.length > 0).join(" ");
	}

	notes(f, isDiff, hasRows) {
		const { data, state } = this.model;
		if (data.unjudged?.[f] && data.origins[f].length > 1)
			return ["A rule for names made this of several functions: there are no lines of it."];
		if (!hasRows) return ["No source of this function is in this page."];
		const link = isDiff ? linksByFunction(data).get(f) : null;
		const from = link?.from_file ? ` in ${showName(link.from_file)}` : "";
		const { costs } = this.model;
		const delta = costs.self[HEAD][f] - costs.self[BASE][f] * data.factor;
		return [
			link && `In the base it is ${showName(link.from_name)}${from}.`,
			benchmarksOf(data).length > 1 && "Lines count all benchmarks.",
			isFiltered(state) && "Lines count all samples, whatever is filtered.",
			isDiff && data.verdicts && !data.unjudged?.[f] &&
			`Its own ${noun(data.header)} in the whole run: ` +
				`${functionWord(data, f, data.verdicts.self.word[f], delta)}; ` +
				"single lines are not judged.",
		].filter(Boolean);
	}

	// What stands below a line: its bytecode instructions, of recordings that have them.
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

	diffRows(f, [before, after]) {
		const { factor, unit, header } = this.model.data;
		const ops = this.opcodes(f);
		const pairs = alignLines(before, after).map(([a, b]) => ({
			a, b, c: compare(a?.cost ?? 0, b?.cost ?? 0, factor),
		}));
		const most = Math.max(...pairs.map(({ c }) => Math.abs(c.delta))) || 1;
		const value = (v) => (v > 0 ? formatValue(v, unit) : "");
		const isScaled = factor !== 1;
		const change = header.scale.mode === "share" ? "Change by share" : "Change";
		return [heading(["Before", "After", "", "Source", "Before",
			...(isScaled ? ["Expected"] : []), "After", change]), ...pairs.map(({ a, b, c }) => {
				const row = el("tr", {
					class: c.delta > 0 ? "heat-more" : c.delta < 0 ? "heat-less" : "",
				},
					el("td", { class: "at" }, a ? String(a.number) : ""),
					el("td", { class: "at" }, b ? String(b.number) : ""),
					el("td", {}, a ? (b ? "" : "−") : "+"),
					el("td", { class: "code" }, ...(b ?? a).code, ops(a, b)),
					el("td", {}, value(c.base)),
					isScaled && el("td", { class: "quiet" }, value(c.expected)),
					el("td", {}, value(c.head)),
					el("td", { class: c.delta > 0 ? "more" : "less" },
						c.delta ? `${c.delta > 0 ? "▲" : "▼"} ${formatChange(c.delta, unit)}` :
						""));
				row.style.setProperty("--heat", `${(Math.abs(c.delta) / most) * 32}%`);
				return row;
			})];
	}

	plainRows(f, sides, side) {
		const { unit, header } = this.model.data;
		const lines = sides[side], ops = this.opcodes(f);
		if (!lines.length) return [];
		const all = lines.reduce((s, l) => s + l.cost, 0) || 1;
		return [heading(["Line", "Source", capital(noun(header)), "Share"]), ...lines.map((l) => {
			const row = el("tr", { class: l.cost ? "heat-own" : "" },
				el("td", { class: "at" }, String(l.number)),
				el("td", { class: "code" }, ...l.code,
					ops(side === BASE ? l : null, side === HEAD ? l : null)),
				el("td", {}, l.cost ? formatValue(l.cost, unit) : ""),
				el("td", {}, l.cost ? formatShare(l.cost / all) : ""));
			row.style.setProperty("--heat", `${(l.cost / all) * 45}%`);
			return row;
		})];
	}
}
