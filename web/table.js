// SPDX-License-Identifier: MIT
// The table of functions. Only the rows that can be seen are elements.
import { BASE, HEAD } from "./data.js";
import { el } from "./dom.js";
import { compare, formatChange, formatPercentChange, formatShare, formatValue, plural } from "./format.js";
import { showName } from "./flame.js";
import { verdictWords } from "./tooltip.js";

const ROW = 30;

// key: what to sort by; text: what to show. c = {self, total} of the row.
const plainColumns = [
	{ id: "self", title: "Self", key: (r) => r.self, text: (r, t) => formatValue(r.self, t.unit) },
	{ id: "self-share", title: "Self %", key: (r) => r.self, text: (r, t) => formatShare(r.self / t.all), bar: (r, t) => r.self / t.all },
	{ id: "total", title: "Total", key: (r) => r.total, text: (r, t) => formatValue(r.total, t.unit) },
	{ id: "total-share", title: "Total %", key: (r) => r.total, text: (r, t) => formatShare(r.total / t.all), bar: (r, t) => r.total / t.all },
];

function diffColumns(which, title) {
	const value = (pick) => (r, t) => formatValue(pick(r[which]), t.unit);
	const infinite = (c) => c.ratio ?? (c.head > 0 ? Infinity : 0);
	const percent = (c) => (c.ratio === null && c.head > 0 ? "new" : formatPercentChange(c.ratio));
	const sign = (r) => r[which].delta;
	return [
		{ id: `${which}-before`, title: `${title} before`, key: (r) => r[which].base, text: value((c) => c.base) },
		{ id: `${which}-after`, title: "After", key: (r) => r[which].head, text: value((c) => c.head) },
		{ id: `${which}-delta`, title: "Δ", key: sign, text: (r, t) => formatChange(r[which].delta, t.unit), sign },
		{ id: `${which}-percent`, title: "Δ %", key: (r) => infinite(r[which]), text: (r) => percent(r[which]), sign },
	];
}

function verdictColumn(which, verdicts, unit) {
	const { word, margin } = verdicts[which];
	const text = (f) => (margin[f] >= 0 ? `${verdictWords[word[f]]} ±${formatValue(margin[f], unit)}` : verdictWords[word[f]]);
	return { id: `${which}-verdict`, title: "Verdict", key: (r) => word[r.f], text: (r) => text(r.f) };
}

export class FunctionTable {
	constructor(app, section) {
		this.app = app;
		this.sort = { id: null, down: true };
		this.filter = "";
		this.input = el("input", {
			type: "search", placeholder: "Filter functions", "aria-label": "Filter functions", spellcheck: "false",
			oninput: () => {
				this.filter = this.input.value.trim().toLowerCase();
				this.refill();
			},
		});
		this.count = el("output", {});
		this.head = el("div", { class: "row head", role: "row" });
		this.rowsBox = el("div", { class: "rows" });
		this.scroller = el("div", { class: "scroller", role: "table", tabindex: "0", "aria-label": "Functions", onscroll: () => this.draw() },
			this.head, this.rowsBox);
		section.append(el("div", { class: "bar" }, this.input, this.count), this.scroller);
		new ResizeObserver(() => this.draw()).observe(this.scroller);
	}

	// costs: of functions in the tree that is shown. Called when anything it depends on changed.
	update(costs, what) {
		const { data } = this.app;
		this.unit = data.unit;
		this.isDiff = what.isDiff;
		this.all = what.all;
		this.columns = what.isDiff ?
			["self", "total"].flatMap((which) => [...diffColumns(which, which === "self" ? "Self" : "Total"),
				...(data.verdicts ? [verdictColumn(which, data.verdicts, data.unit)] : [])]) : plainColumns;
		if (!this.columns.some((c) => c.id === this.sort.id))
			this.sort = { id: what.isDiff ? "self-delta" : "self", down: true, bySize: what.isDiff };
		this.rows = [];
		for (let f = 0; f < data.functions.n; f++) {
			const total = [costs.total[BASE][f], costs.total[HEAD][f]];
			if (what.isDiff ? !total[BASE] && !total[HEAD] : !total[what.side]) continue;
			const row = { f };
			for (const key of ["self", "total"]) {
				const v = costs[key];
				row[key] = what.isDiff ? compare(v[BASE][f], v[HEAD][f], data.factor) : v[what.side][f];
			}
			this.rows.push(row);
		}
		this.fillHead();
		this.refill();
	}

	fillHead() {
		const cell = (id, title, extra) => el("button", {
			class: `cell ${extra}`, role: "columnheader", "data-id": id,
			"aria-sort": this.sort.id === id ? (this.sort.down ? "descending" : "ascending") : "none",
			onclick: () => this.sortBy(id),
		}, title);
		this.head.replaceChildren(cell("name", "Function", "name"), ...this.columns.map((c) => cell(c.id, c.title, "number")));
		this.scroller.classList.toggle("diff", this.isDiff);
		this.scroller.classList.toggle("judged", this.isDiff && this.app.data.verdicts !== null);
	}

	sortBy(id) {
		this.sort = { id, down: this.sort.id === id && !this.sort.bySize ? !this.sort.down : id !== "name" };
		this.fillHead();
		this.refill();
	}

	refill() {
		const { functions } = this.app.data;
		const { id, down, bySize } = this.sort;
		let rows = this.rows;
		if (this.filter)
			rows = rows.filter(({ f }) => functions.names[f].toLowerCase().includes(this.filter) ||
				this.app.placeOf(f).toLowerCase().includes(this.filter));
		const sign = down ? -1 : 1;
		if (id === "name") {
			rows = [...rows].sort((a, b) => sign * functions.names[a.f].localeCompare(functions.names[b.f]));
		} else {
			const { key } = this.columns.find((c) => c.id === id);
			const of = bySize ? (r) => Math.abs(key(r)) : key;
			rows = [...rows].sort((a, b) => {
				const x = of(a), y = of(b);
				return x === y ? a.f - b.f : x < y ? -sign : sign;
			});
		}
		this.shown = rows;
		this.count.textContent = plural(rows.length, "function");
		this.scroller.setAttribute("aria-rowcount", String(rows.length + 1));
		this.rowsBox.style.height = `${rows.length * ROW}px`;
		this.draw();
	}

	draw() {
		if (!this.shown || !this.scroller.clientHeight) return;
		const first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW) - 4);
		const last = Math.min(this.shown.length, first + Math.ceil(this.scroller.clientHeight / ROW) + 8);
		const elements = [];
		for (let i = first; i < last; i++) elements.push(this.rowElement(this.shown[i], i));
		this.rowsBox.replaceChildren(...elements);
	}

	rowElement(row, i) {
		const { app } = this;
		const name = showName(app.data.functions.names[row.f]);
		const element = el("div", { class: "row", role: "row", "aria-rowindex": String(i + 2) },
			el("div", { class: "cell name", role: "cell" },
				el("button", { class: "link", title: `Show ${name} in the flame graph`, onclick: () => app.findFunction(row.f) }, name),
				el("span", { class: "place" }, app.placeOf(row.f))),
			...this.columns.map((c) => this.numberCell(c, row)));
		element.style.top = `${i * ROW}px`;
		return element;
	}

	numberCell(c, row) {
		const sign = c.sign?.(row) ?? 0;
		const cell = el("div", { class: `cell number ${sign > 0 ? "more" : sign < 0 ? "less" : ""}`, role: "cell" }, c.text(row, this));
		if (c.bar) {
			const bar = el("i", { class: "share" });
			bar.style.width = `${Math.min(100, c.bar(row, this) * 100)}%`;
			cell.append(bar);
		}
		return cell;
	}
}
