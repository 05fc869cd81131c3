// SPDX-License-Identifier: MIT
// The list of benchmarks that a page opens on, worst first.
//
//   ▲ slower   test_parse_pr                ......|==>       737,003 → 879,697      +19.4 %
//              parse_body > parse_issue_fixed                     instructions  limit 2.0 %
//
// The middle of a gauge is the base, the shaded part is within the limit, and the bar ends at the
// head. All gauges share one scale, which ends at twice the base.
import { benchmarksOf, shortNames } from "./benchmarks.js";
import { changeOf, countsOf, limitOf, notesOf, wayOf, wordOf } from "./benchmark_parts.js";
import { breakable, el } from "./dom.js";
import { formatShare } from "./format.js";
import { showName } from "./labels.js";

const MANY = 12; // from this number on, a search field is shown
const WIDEST = 1, NARROWEST = 0.04; // changes at the ends of gauges

function scaleOf(list) {
	const most = Math.max(NARROWEST,
		...list.map((b) => Math.max(Math.abs(b.change ?? 0), 2 * (b.limit ?? 0)))
		.filter(Number.isFinite));
	return Math.min(most, WIDEST);
}

// The unit of counts in a gate's list; the band of other lists names it.
const metricOf = (b, { header }) => (header.gate ? b.metric ?? header.metric : "");

// Width of the counts in characters, the same for all rows so that gauges are aligned.
function countsWidth(data, list) {
	return `${Math.max(0, ...list.map((b) =>
		Math.max(countsOf(b, data).length, metricOf(b, data).length)))}ch`;
}

function gauge(b, scale) {
	const place = (change) => 50 + 50 * Math.max(-1, Math.min(1, change / scale));
	const part = (kind, from, to) => {
		const box = el("i", { class: kind });
		box.style.left = `${Math.min(from, to)}%`;
		box.style.width = `${Math.abs(to - from)}%`;
		return box;
	};
	if (b.change === null || b.change === undefined)
		return el("span", { class: "gauge", "aria-hidden": "true" });
	const isPast = Math.abs(b.change) > scale;
	return el("span", { class: `gauge${isPast ? " past" : ""}`, "aria-hidden": "true" },
		part("allowed", place(-(b.limit ?? 0)), place(b.limit ?? 0)),
		part(`bar ${wayOf(b)}`, 50, place(b.change)), part("base", 50, 50));
}

// Gauge of a single recording: the cost relative to the largest.
function size(b, most) {
	const box = el("i", { class: "bar" });
	box.style.width = `${(100 * b.head) / (most || 1)}%`;
	return el("span", { class: "gauge size", "aria-hidden": "true" }, box);
}

function row(model, b, { short, file }, scale, most) {
	const { data } = model;
	const isKnown = b.f >= 0;
	const limit = limitOf(data, b), metric = metricOf(b, data);
	// With several metrics each has a separate page, with its own tree.
	const of = data.header.gate?.benchmarks.some((other) => other.page) && b.metric;
	const cells = [
		data.isDiff && el("span", { class: `word ${wayOf(b)}` }, wordOf(b)),
		el("span", { class: "which" },
			el("span", { class: "what" }, ...breakable(showName(short))),
			...[file && showName(file), ...notesOf(b)].filter(Boolean)
				.map((text) => el("span", { class: "note" }, text))),
		data.isDiff ? gauge(b, scale) : size(b, most),
		el("span", { class: "counts" }, countsOf(b, data),
			metric && el("span", { class: "note" }, metric)),
		data.isDiff && el("span", { class: "much" },
			el("span", { class: wayOf(b) }, changeOf(b)),
			limit && el("span", { class: "note" }, limit)),
	];
	const kind = `benchmark${b.fails ? " fails" : ""}`;
	if (b.page)
		return el("li", {}, el("a", {
			class: kind, title: `Show only this benchmark, by ${of}`,
			href: `${b.page}#tab=flame&bench=${encodeURIComponent(b.name)}`,
		}, ...cells));
	return el("li", {}, isKnown ?
		el("button",
			{
				class: kind, title: "Show only this benchmark",
				onclick: () => model.acts.showBenchmark(b.f),
			}, ...cells) :
		el("div", { class: kind }, ...cells));
}

function stepFocus(event) {
	const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
	if (!step || !event.target.matches(".benchmark")) return;
	const buttons = [...event.currentTarget
		.querySelectorAll("li:not([hidden]) :is(a, button).benchmark")];
	buttons[buttons.indexOf(event.target) + step]?.focus();
	event.preventDefault();
}

export class BenchmarkList {
	constructor(model, box) {
		this.model = model;
		this.box = box;
	}

	update() {
		const { data } = this.model;
		const list = benchmarksOf(data), scale = scaleOf(list),
			most = Math.max(...list.map((b) => b.head));
		if (this.listed === list) return;
		this.listed = list;
		const names = shortNames(list);
		const items = list.map((b, i) => row(this.model, b, names[i], scale, most));
		const find = (e) =>
			items.forEach((li, i) =>
				(li.hidden = !list[i].name.toLowerCase()
					.includes(e.target.value.trim().toLowerCase())));
		this.box.style.setProperty("--counts", countsWidth(data, list));
		const percent = formatShare(scale).replace(".0 ", " ");
		this.box.replaceChildren(...[
			list.length > MANY && el("input", {
				type: "text", class: "find", placeholder: "Find a benchmark",
				"aria-label": "Find a benchmark", oninput: find,
			}),
			data.isDiff && el("p", { class: "axis", "aria-hidden": "true" },
				el("span", {}, `−${percent}`), el("span", {}, "base"),
				el("span", {}, `+${percent}`)),
			el("ol", { class: `benchmarks ${data.isDiff ? "" : "plain"}`, onkeydown: stepFocus },
				...items),
		].filter(Boolean));
	}
}
