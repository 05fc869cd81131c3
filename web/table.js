// SPDX-License-Identifier: MIT
// The table of functions. Only visible rows exist as elements.
import { BASE, HEAD } from "./data.js";
import { copyText } from "./clipboard.js";
import { CHANGED } from "./colors.js";
import { ownFlags } from "./listed_changes.js";
import { countFrames, noun, wordsOfFrames } from "./cost_words.js";
import { el, endOf, pressSegment, segments, toggle, twoParts } from "./dom.js";
import { isFiltered, stateOf, wantedFunctions } from "./filters.js";
import {
	capital, compare, formatChange, formatEnd, formatPart, formatRatio, formatShare, formatValue,
		plural, scaleHint, showsScale,
} from "./format.js";
import { stateRatio } from "./inferred.js";
import { intervalOf } from "./interval_text.js";
import { showName, splitName } from "./labels.js";
import { hasBoth, originWord } from "./own_code.js";
import { changeOf } from "./tree.js";
import { functionWord } from "./verdicts.js";

const ROW = 30;
const isFormula = /^[=+@-]/; // a spreadsheet would evaluate it; names are untrusted
const NARROW = 560; // pixels
const ofChange = ["delta", "percent"];
const LEAST = 84; // width of a column, pixels
const PADDING = 16 + 6; // the same in web/style.css, and rounding
const PROBES = 300; // rows whose texts are measured

// key: to sort by; text: to show; raw: to copy, if not the key.
const plainColumns = [
	{ id: "self", title: "Self", key: (r) => r.self, text: (r, t) => formatValue(r.self, t.unit) },
	{
		id: "self-share", title: "Self %", key: (r) => r.self, raw: (r, t) => r.self / t.all,
		text: (r, t) => formatShare(r.self / t.all), bar: (r, t) => r.self / t.all,
	},
	{
		id: "total", title: "Total", key: (r) => r.total,
		text: (r, t) => formatValue(r.total, t.unit),
	},
	{
		id: "total-share", title: "Total %", key: (r) => r.total, raw: (r, t) => r.total / t.all,
		text: (r, t) => formatShare(r.total / t.all), bar: (r, t) => r.total / t.all,
	},
];

// Columns of a diff; c is the row's result of compare.
function diffColumns(verdicts, data) {
	const { factor, header } = data;
	const percent = ({ c, f }, t) => {
		const state = stateOf(t.model.data, f);
		return state === "new" || state === "removed" ? stateRatio(t.model.data, f, state) :
			formatRatio(c);
	};
	const part = (delta, whole) => (whole > 0 ? delta / whole : 0);
	const sign = (r) => r.c.delta;
	// Noise has no colour.
	const hue = (r) => (verdicts && verdicts.word[r.f] !== CHANGED ? 0 : r.c.delta);
	return [
		{
			id: "before", title: "Before", key: (r) => r.c.base,
			text: (r, t) => formatValue(r.c.base, t.unit),
		},
		...(!showsScale(factor) ? [] : [{
			id: "expected", title: "Expected", hint: "Before, scaled",
			key: (r) => r.c.expected, text: (r, t) => formatValue(r.c.expected, t.unit),
		}]),
		{
			id: "after", title: "After", key: (r) => r.c.head,
			text: (r, t) => formatValue(r.c.head, t.unit),
		},
		{
			id: "delta", title: header.scale.mode === "share" ? "Change by share" : "Change",
			narrow: "Change",
			hint: scaleHint(factor, header.scale.mode), tsv: "change", key: sign,
			text: (r, t) => formatChange(r.c.delta, t.unit), hue,
		},
		{
			id: "percent", title: "Change %", tsv: "change ratio",
			key: (r) => r.c.ratio ?? (r.c.head > 0 ? Infinity : 0), raw: (r) => r.c.ratio ?? "",
			text: percent, hue,
		},
		...(verdicts ? [...intervalColumns(verdicts, data), verdictColumn(verdicts)] : []),
		{
			id: "share", title: "Of change",
			hint: "Share of all changes, increases and decreases added up",
			tsv: "share of change", key: (r, t) => part(r.c.delta, t.change),
			text: (r, t) => formatPart(part(r.c.delta, t.change)), hue,
		},
		{
			id: "run", title: showsScale(factor) ? "Of expected" : "Of base",
			hint: "Change as a share of " +
				(showsScale(factor) ? "the whole run as expected" : "the whole base run"),
			tsv: "share of base run", key: (r, t) => part(r.c.delta, t.whole),
			text: (r, t) => formatPart(part(r.c.delta, t.whole)), hue,
		},
	];
}

// The larger cost of a row, by which rows are ordered that are otherwise equal.
const costOf = ({ c, self }) => (c ? Math.max(c.expected, c.head) : self);

function intervalColumns(family, data) {
	const ends = (r) => intervalOf(family, r.f, r.c, data);
	return [{
		id: "interval", title: "Interval", key: (r) => ends(r)?.[0] ?? -Infinity,
		tsv: "low\thigh", raw: (r) => (ends(r) ?? ["", ""]).join("\t"),
		text: (r, t) => ends(r)?.map((v) => formatEnd(v, t.unit)).join(" … ") ?? "–",
	}];
}

// Sorted by certainty: changed first, then unsure, then unchanged.
function verdictColumn({ word, surprise }) {
	const rank = [1, 0, 2];
	return {
		id: "verdict", title: "Verdict",
		key: (r) => rank[word[r.f]] * 1e6 +
		(surprise[r.f] < 0 && word[r.f] === CHANGED ? 1e5 : surprise[r.f]),
		raw: (r, t) => t.verdictOf(r), text: (r, t) => t.verdictOf(r),
		mark: (r) => ["unsure", "", "sure"][word[r.f]],
	};
}

export class FunctionTable {
	constructor(model, section) {
		const words = wordsOfFrames(model.data.header);
		this.model = model;
		this.input = el("input", {
			type: "search", placeholder: `Filter ${words.many}`,
			"aria-label": `Filter ${words.many}`,
			spellcheck: "false",
			oninput: () => {
				model.state.rows = this.input.value.trim();
				model.acts.remember();
				this.refill();
			},
		});
		this.count = el("output", {});
		this.own = toggle("Own code only", "Hide libraries", false,
			(own) => model.acts.set({ own }),
			"toggle-own");
		this.family = el("div", { class: "segments", role: "group", "aria-label": "Which cost" });
		segments(this.family,
			[["self", "Self", `Own ${noun(model.data.header)}`],
				["total", "Total", `Including ${words.below}`]], "self",
				(cost) => model.acts.set({ cost }));
		this.head = el("div", { class: "row head", role: "row" });
		this.rowsBox = el("div", { class: "rows" });
		this.scroller = el("div", {
			class: "scroller", role: "table", tabindex: "0", "aria-label": capital(words.many),
			onscroll: () => this.draw(),
		},
			this.head, this.rowsBox);
		this.note = el("span", { class: "quiet note" });
		section.append(el("div", { class: "bar" }, this.family, this.input, this.own, this.count,
			this.note,
			el("span", { class: "group" },
				el("button",
					{
						class: "plain", id: "copy-table",
						title: "Copy these rows for a spreadsheet (Y)",
						onclick: () => this.copy("tsv"),
					}, "Copy as TSV"),
				el("button",
					{
						class: "plain", id: "copy-csv",
						title: "Copy these rows as comma-separated values (C)",
						onclick: () => this.copy("csv"),
					}, "CSV"))), this.scroller);
		new ResizeObserver(() => {
			this.fit();
			this.draw();
		}).observe(this.scroller);
	}

	// Column and direction of the state's sort order: "-delta" is descending, "|delta|" by
	// size.
	get sort() {
		const { sort } = this.model.state;
		const id = sort.replace(/^-/, "");
		if (id === "name" || this.columns.some((c) => c.id === id))
			return { id, down: sort.startsWith("-") };
		return this.isDiff ? { id: "delta", down: true, bySize: true } : { id: "self", down: true };
	}

	verdictOf({ f, c }) {
		const { data, state } = this.model;
		return data.unjudged?.[f] ? "not judged" :
			functionWord(data, f, data.verdicts[state.cost].word[f], c.delta);
	}

	// costs: of functions in the shown tree. Called when anything it depends on changed.
	update(costs, what) {
		const { data, state, modules } = this.model;
		const { cost } = state;
		this.unit = data.unit;
		this.isDiff = what.isDiff;
		this.all = what.all;
		this.change = changeOf(costs, what);
		this.whole = (state.bench < 0 ? data.header.base?.sum ?? 0 :
			this.model.trees.straight().total[BASE][0]) * data.factor;
		this.columns = what.isDiff ? diffColumns(data.verdicts?.[cost], data) : plainColumns;
		this.isNarrow = null;
		const wanted = wantedFunctions(data, modules, state);
		this.rows = [];
		for (let f = 0; f < data.functions.n; f++) {
			const total = [costs.total[BASE][f], costs.total[HEAD][f]];
			if ((what.isDiff ? !total[BASE] && !total[HEAD] : !total[what.side]) ||
				(wanted && !wanted[f])) continue;
			this.rows.push(what.isDiff ?
				{ f, c: compare(costs[cost][BASE][f], costs[cost][HEAD][f], data.factor) } :
				{ f, self: costs.self[what.side][f], total: costs.total[what.side][f] });
		}
		this.family.hidden = !what.isDiff;
		this.own.hidden = !hasBoth(data);
		this.own.setAttribute("aria-checked", String(state.own));
		pressSegment(this.family, cost);
		if (this.input.value.trim() !== state.rows) this.input.value = state.rows;
		this.note.textContent = what.isDiff && data.verdicts &&
			(isFiltered(state) || state.rules.length) ?
			"Verdicts and intervals are for the whole run" : "";
		this.fit();
		this.refill();
	}

	// The verdict comes before the interval, which is wide. If there is room for few columns,
	// those of the change come first.
	fit() {
		if (!this.columns) return;
		const isNarrow = this.scroller.clientWidth < NARROW;
		if (isNarrow !== this.isNarrow) this.order(isNarrow);
		this.setWidths();
	}

	order(isNarrow) {
		this.isNarrow = isNarrow;
		this.widths = null;
		this.scroller.classList.toggle("narrow", isNarrow);
		const first = isNarrow ? this.columns.filter((c) => ofChange.includes(c.id)) : [];
		const interval = this.columns.filter((c) => c.id === "interval");
		const rest = this.columns.filter((c) => !first.includes(c) && !interval.includes(c));
		rest.splice(rest.findIndex((c) => c.id === "verdict") + 1, 0, ...interval);
		this.drawn = [...first, ...rest];
		this.fillHead();
	}

	fillHead() {
		const { id: sorted, down } = this.sort;
		const cell = (id, title, extra, hint) => el("div", {
			class: `cell ${extra}`, role: "columnheader",
			"aria-sort": sorted === id ? (down ? "descending" : "ascending") : "none",
		}, el("button", { "data-id": id, title: hint, onclick: () => this.sortBy(id) }, title));
		const { one } = wordsOfFrames(this.model.data.header);
		this.head.replaceChildren(cell("name", capital(one), "name"),
			...this.drawn.map((c) => cell(c.id, this.titleOf(c), "number", c.hint)));
	}

	titleOf({ title, narrow }) {
		return (this.isNarrow && narrow) || title;
	}

	// A sample of all rows, those with the largest and smallest values, and one for each verdict.
	probes() {
		const step = Math.ceil(this.rows.length / PROBES), words = new Map();
		const found = this.rows.filter((_, i) => i % step === 0);
		for (const { key } of this.columns) {
			let low = Infinity, high = -Infinity, smallest, largest;
			for (const row of this.rows) {
				const v = key(row, this);
				if (v < low) [low, smallest] = [v, row];
				if (v > high) [high, largest] = [v, row];
			}
			if (smallest) found.push(smallest);
			if (largest) found.push(largest);
		}
		if (this.isDiff && this.model.data.verdicts)
			for (const row of this.rows) words.set(this.verdictOf(row), row);
		return [...found, ...words.values()];
	}

	// The width that each column needs for its heading and its texts.
	measure() {
		const pen = document.createElement("canvas").getContext("2d"), rows = this.probes();
		const { fontSize, fontFamily } = getComputedStyle(this.rowsBox);
		pen.font = `600 ${fontSize} ${fontFamily}`; // as bold as any cell
		this.widths = new Map(this.columns.map((c) => {
			const texts = [`${this.titleOf(c)} ↓`, ...rows.map((r) => c.text(r, this))];
			const needed = Math.max(...texts.map((text) => pen.measureText(text).width));
			return [c.id, Math.max(LEAST, Math.ceil(needed) + PADDING)];
		}));
	}

	// If not all columns fit, names take the space of a partial column, so that the visible
	// part ends with a whole column.
	setWidths() {
		const { style, clientWidth } = this.scroller;
		const least = this.isNarrow ? 136 : 210;
		if (!clientWidth) return;
		if (!this.widths) this.measure();
		const widths = this.drawn.map((c) => this.widths.get(c.id));
		const all = widths.reduce((sum, w) => sum + w, 0);
		let name = clientWidth;
		for (const w of widths) if (name - w >= least) name -= w;
			else break;
		if (least + all <= clientWidth) name = least;
		style.setProperty("--columns",
			`minmax(${name}px, 1fr) ${widths.map((w) => `${w}px`).join(" ")}`);
		style.setProperty("--least", `${name + all}px`);
	}

	sortBy(id) {
		const now = this.sort;
		const down = now.id === id && !now.bySize ? !now.down : id !== "name";
		this.model.state.sort = `${down ? "-" : ""}${id}`;
		this.model.acts.remember();
		this.fillHead();
		this.refill();
	}

	refill() {
		const { functions } = this.model.data;
		const { id, down, bySize } = this.sort;
		const filter = this.model.state.rows.toLowerCase();
		let rows = this.rows;
		if (this.model.state.own) rows = rows.filter(({ f }) => ownFlags(this.model.data)[f] === 1);
		if (filter)
			rows = rows.filter(({ f }) => functions.names[f].toLowerCase().includes(filter) ||
				this.model.placeOf(f).toLowerCase().includes(filter));
		const sign = down ? -1 : 1;
		if (id === "name") {
			rows = [...rows].sort((a, b) =>
				sign * functions.names[a.f].localeCompare(functions.names[b.f]));
		} else {
			const { key } = this.columns.find((c) => c.id === id);
			const of = bySize ? (r) => Math.abs(key(r, this)) : (r) => key(r, this);
			rows = [...rows].sort((a, b) => {
				const x = of(a), y = of(b);
				return x === y ? costOf(b) - costOf(a) || a.f - b.f : x < y ? -sign : sign;
			});
		}
		this.shown = rows;
		this.count.textContent = countFrames(this.model.data.header, rows.length);
		this.scroller.setAttribute("aria-rowcount", String(rows.length + 1));
		this.rowsBox.style.height = `${rows.length * ROW}px`;
		this.draw();
	}

	// The cells of all rows in order, numbers unrounded in the page's unit.
	cells() {
		const { names, files, file, line } = this.model.data.functions;
		const plain = (text) => showName(String(text)).replace(/[\t\n]/g, " ");
		const head = ["function", "file", "line",
			...this.columns.map((c) => c.tsv ?? c.title.toLowerCase())];
		const rows = this.shown.map((r) =>
			[plain(names[r.f]), plain(files[file[r.f]] || "-"), line[r.f],
				...this.columns.map((c) => (c.raw ?? c.key)(r, this))]);
		// Some columns are copied as several.
		return [head, ...rows].map((cells) =>
			cells.flatMap((cell) => (typeof cell === "string" ? cell.split("\t") :
				[String(cell)])));
	}

	tsv() {
		return this.cells().map((row) => `${row.join("\t")}\n`).join("");
	}

	// CSV as in RFC 4180.
	csv() {
		const cell = (text) => {
			const plain = isFormula.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
			return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
		};
		return this.cells().map((row) => `${row.map(cell).join(",")}\r\n`).join("");
	}

	async copy(format) {
		this.model.acts.say(await copyText(this[format]()) ?
			`${plural(this.shown.length, "row")} copied` :
			"Cannot copy: the browser denied access to the clipboard");
	}

	draw() {
		if (!this.shown || !this.scroller.clientHeight) return;
		const first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW) - 4);
		const last = Math.min(this.shown.length,
			first + Math.ceil(this.scroller.clientHeight / ROW) + 8);
		const elements = [];
		for (let i = first; i < last; i++) elements.push(this.rowElement(this.shown[i], i));
		const refocus = this.focusedControl();
		this.rowsBox.replaceChildren(...elements);
		refocus?.();
	}

	// Returns a function that restores the focus after rows were rebuilt.
	focusedControl() {
		const active = document.activeElement;
		const row = this.rowsBox.contains(active) ? active.closest(".row") : null;
		if (!row) return null;
		const index = row.getAttribute("aria-rowindex"),
			at = [...row.querySelectorAll("button")].indexOf(active);
		return () =>
			this.rowsBox.querySelector(`[aria-rowindex="${index}"]`)?.querySelectorAll("button")[
				at]?.focus({ preventScroll: true });
	}

	rowElement(row, i) {
		const { model } = this;
		const name = showName(model.data.functions.names[row.f]);
		const element = el("div", { class: "row", role: "row", "aria-rowindex": String(i + 2) },
			el("div", { class: "cell name", role: "cell" },
				el("button",
					{
						class: "link", title: `Show ${name} in the flame graph`,
						onclick: () => model.acts.findFunction(row.f),
					}, twoParts("what", splitName(name), name)),
				originWord(model.data, row.f) &&
				el("span", { class: "origin" }, originWord(model.data, row.f)),
				endOf("place", model.placeOf(row.f))),
			...this.drawn.map((c) => this.numberCell(c, row)));
		element.style.top = `${i * ROW}px`;
		return element;
	}

	numberCell(c, row) {
		const sign = c.hue?.(row) ?? 0;
		const way = sign > 0 ? "more" : sign < 0 ? "less" : "";
		const cell = el("div", {
			class: `cell number ${way} ${c.mark?.(row) ?? ""}`, role: "cell",
		}, c.text(row, this));
		if (c.bar) {
			const bar = el("i", { class: "share" });
			bar.style.width = `${Math.min(100, c.bar(row, this) * 100)}%`;
			cell.append(bar);
		}
		return cell;
	}
}
