// SPDX-License-Identifier: MIT
// Parts of a benchmark's description, shared by the list, the band and the sidebar.
import { benchmarksOf, chosenBenchmark, shortNames } from "./benchmarks.js";
import { manyWord } from "./cost_words.js";
import { dotted, el, section, twoParts } from "./dom.js";
import { formatPercentChange, formatShare, formatValue, plural } from "./format.js";
import { showName, splitNames } from "./labels.js";

const glyphs = {
	slower: "▲", faster: "▼", new: "+", missing: "−", gone: "−",
	disagree: "⇅", layout: "≈", "not comparable": "?", same: "=",
};
const ways = {
	slower: "more", faster: "less", disagree: "odd", missing: "odd", "not comparable": "odd",
};

// CSS class of a benchmark's colours.
export const wayOf = (b) => ways[b.verdict] ?? "";
export const wordOf = (b) => (b.word ? `${glyphs[b.verdict] ?? ""} ${b.word}` : "");

// The change as in the gate's other reports: a factor if it at least doubled.
export function changeOf({ change }) {
	if (change === null || change === undefined || !Number.isFinite(change)) return "";
	return change >= 1 ? `x ${(1 + change).toFixed(change < 9 ? 2 : 0)}` :
		formatPercentChange(change);
}

export function countsOf(b, data) {
	const unit = b.unit ?? data.unit;
	const side = (v) => (v === null || v === undefined ? "–" : formatValue(v, unit));
	const base = b.verdict === "new" ? null : b.base, head = b.verdict === "gone" ? null : b.head;
	return data.isDiff ? `${side(base)} → ${side(head)}` : side(b.head);
}

function placeOf(b) {
	return [b.where, b.file && `${b.file}:${b.line}`].filter(Boolean).join(" · ");
}

// A benchmark's limit; "" without one, or with one side missing.
export function limitOf({ header }, b) {
	return header.gate && changeOf(b) ? `limit ${formatShare(b.limit)}` : "";
}

// Notes on a benchmark besides its figures.
export function notesOf(b) {
	return [placeOf(b) && `in ${showName(placeOf(b))}`, b.clock, b.note].filter(Boolean)
		.map((text) => text.replace(/(?<= |\[)-(?=\d)/g, "−"));
}

// ---- the band above the picture ----

function tell(header, list) {
	const counts = new Map();
	for (const { verdict } of list) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
	const words = [...counts].filter(([verdict]) => verdict)
		.map(([verdict, n]) => `${n} ${manyWord(header, verdict)}`).join(", ");
	return `${plural(list.length, "benchmark")}${words && `: ${words}`}`;
}

const exitOf = (gate) => gate && `Exit status ${gate.status}`;

function aboveAll({ header }, list) {
	const { gate } = header;
	return [el("p", { class: "answer" },
		el("strong", { class: gate?.status ? "more" : "" }, gate?.headline ?? tell(header, list))),
		el("p", { class: "quiet" }, gate ? `${exitOf(gate)}: ${showName(gate.why)}.` :
			`${header.metric} per benchmark, worst first`)];
}

function aboveOne(model, b) {
	const { data } = model;
	const { gate, metric } = data.header;
	const strong = (text) => el("strong", { class: wayOf(b) }, text);
	const way = [wordOf(b), changeOf(b)].filter(Boolean).join(" ");
	return [dotted("answer", strong(showName(b.name)), way && strong(way),
		`${countsOf(b, data)} ${b.metric ?? metric}`),
	dotted("quiet", exitOf(gate), limitOf(data, b), ...notesOf(b))];
}

// The verdict's lines, and links to the other benchmarks; null if the page has no benchmarks.
export function benchmarkBand(model) {
	const { data, state } = model;
	const list = benchmarksOf(data), b = chosenBenchmark(model);
	if (!list.length) return null;
	const isList = state.tab === "benchmarks" || !b;
	const names = new Set(list.map(({ name }) => name));
	const back = !isList && list.length > 1 &&
		el("button", {
			class: "chip all", onclick: () => model.acts.set({ tab: "benchmarks" }, true),
		},
			`All ${plural(names.size, "benchmark")}`);
	return { lines: isList ? aboveAll(data, list) : aboveOne(model, b), back, isList };
}

// The sidebar's list of benchmarks, to switch between them.
export function buildBenchmarks(model) {
	const list = benchmarksOf(model.data).filter((b) => b.f >= 0);
	if (list.length < 2) return { section: null, sync() {} };
	const names = splitNames(shortNames(list).map(({ short }) => showName(short)));
	const buttons = list.map((b, i) => el("button", {
		class: "spot", onclick: () => model.acts.showBenchmark(b.f), title: showName(b.name),
	},
		el("span", { class: "pair" }, twoParts("what", names[i]),
			el("span", { class: `much ${wayOf(b)}` },
				changeOf(b) ||
					(model.data.isDiff ? b.word : formatValue(b.head, model.data.unit))))));
	return {
		section: section("benchmarks", "Benchmarks",
			el("ol", { class: "spots" }, ...buttons.map((button) => el("li", {}, button)))),
		sync: () =>
			buttons.forEach((button, i) =>
				(list[i].f === model.state.bench ? button.setAttribute("aria-current", "true") :
					button.removeAttribute("aria-current"))),
	};
}
