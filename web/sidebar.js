// SPDX-License-Identifier: MIT
// The sidebar: how the recording was made, what changed or costs most, and the thread filter.
import { buildBenchmarks } from "./benchmark_parts.js";
import { benchmarksOf } from "./benchmarks.js";
import { checkItem, checklist } from "./checklist.js";
import { BASE, HEAD } from "./data.js";
import { buildChoices } from "./sidebar_filters.js";
import { nameOfChange, ownFlags, splitMovedImports, wholeOf } from "./listed_changes.js";
import {
	countFrames, isHeap, manyWord, noun, oneWord, wordsOfFrames,
} from "./cost_words.js";
import { el, endOf, section, toggle, twoParts } from "./dom.js";
import { stateOf } from "./filters.js";
import {
	capital, compare, formatChange, formatCount, formatPair, formatPercentChange, formatRatio,
	formatShare, formatValue, metricName, plural, showsScale,
} from "./format.js";
import { movedFunctions, originOf, stateWord } from "./inferred.js";
import { showName, splitName } from "./labels.js";
import { hasBoth, originWord } from "./own_code.js";
import { buildProcesses } from "./processes.js";
import { speedSection } from "./speed.js";

const HOTSPOTS = 6;

function facts(rows) {
	const shown = rows.filter(([, v]) => v !== "" && v !== null && v !== undefined);
	if (!shown.length) return null;
	return el("dl", { class: "facts" },
		...shown.flatMap(([k, v, extra]) => [el("dt", {}, k), el("dd", { title: extra }, v)]));
}

// ---- summary ----

const isSure = (v) => v.word === "slower" || v.word === "faster";

// The run's verdict and the smallest detectable change, in the words of the text report. That
// refers to the original sides, so with sides swapped the words of a change are inverted.
function verdict(model) {
	const { header, isSwapped } = model.data;
	const v = header.verdict;
	if (!v) return null;
	const percent = (p) => formatPercentChange(p / 100);
	const isTurned = isSwapped && isSure(v);
	const text = !isTurned ? v.text :
		`${capital(oneWord(header, v.word))} by ${formatShare(Math.abs(v.change_pct) / 100)} ` +
		`[${percent(v.low)}, ${percent(v.high)}]`;
	const hasInterval = v.low !== null && v.high !== null && !text.includes("[");
	return [
		el("p", { class: "verdict" }, text),
		hasInterval && el("p", { class: "quiet" },
			`Interval ${percent(v.low)} … ${percent(v.high)}`),
		...v.notes.map((note) => el("p", { class: "quiet" }, `${note}.`)),
		v.advice && !isSwapped && el("p", { class: "quiet" }, `${v.advice}:`),
		v.command && !isSwapped && el("pre", { class: "command" }, v.command),
		v.power && !isSwapped && el("p", { class: "quiet" }, v.power),
	].filter(Boolean);
}

function headline(model) {
	const { header, unit, factor } = model.data;
	const c = compare(header.base.sum, header.head.sum, factor);
	const judged = header.verdict && header.verdict.method !== "none";
	const isNoise = judged && !isSure(header.verdict);
	const way = isNoise ? "same" : c.delta > 0 ? "more" : c.delta < 0 ? "less" : "same";
	const times = `${formatValue(header.base.sum, unit)} → ${formatValue(header.head.sum, unit)}`;
	return el("div", { class: "headline" },
		el("p", { class: "big" }, times, unit === "count" && el("small", {}, ` ${header.metric}`),
			header.per_run && el("small", {}, " per run")),
		!["share", "window"].includes(header.scale.mode) &&
		el("p", { class: `change ${way}` }, formatChange(c.delta, unit),
			c.ratio !== null && ` (${formatPercentChange(c.ratio)})`,
			showsScale(factor) && ` against the expected ${formatValue(c.expected, unit)}`),
		...[verdict(model)].flat().filter(Boolean),
		el("p", { class: "quiet" }, scaleWords(header, factor)));
}

// Text on how the base is scaled, and why.
function scaleWords({ scale: { mode, basis }, speed_text: speed }, factor) {
	const why = {
		agreed: "the change that most functions share counts as no change",
		scattered: "functions share no common change, so both totals are scaled to match",
		totals: "both totals are scaled to match",
	}[basis] ?? {
		window: "compared per recorded second", unit: "compared per unit of work",
	}[mode];
	const how = showsScale(factor) ? `expected = before × ${Number(factor.toPrecision(5))}` :
		speed ? "after is adjusted to the base run's machine speed" :
		"values are compared as recorded";
	return `${capital([how, why].filter(Boolean).join("; "))}.`;
}

function summaryRows(model, side) {
	const { data } = model;
	const { header } = data;
	const r = side.recording;
	const seconds = r.duration_ns ?
		formatValue(r.duration_ns / side.runs, "ns") + (side.runs > 1 ? " per run" : "") : "";
	// The rows of a counted recording are contexts, not samples; those of a call graph are
	// nodes.
	const isCounted = isHeap(header) || (header.unit === "count" && header.metric !== "samples");
	const rate = isCounted ? "" :
		Number.isFinite(r.achieved_hz) && r.achieved_hz !== null ?
		`${formatCount(r.achieved_hz)} / s` :
		r.duration_ns ? `${formatCount(side.samples / (r.duration_ns / 1e9))} / s` :
		r.interval_ns ? `${formatCount(1e9 / r.interval_ns)} / s asked` : "";
	return [
		["Measured", `${metricName(header)}${header.per_run ? " per run" : ""}`],
		["Total", header.metric === "samples" ? "" : formatValue(side.sum, header.unit)],
		side.calls === undefined ?
			["Samples", isCounted && !r.reconstructed ? "" : formatCount(side.samples)] :
			["Calls", side.calls ? formatCount(side.calls) : ""],
		["Duration", seconds],
		["Rate", rate],
		["Runs", side.runs > 1 ? formatCount(side.runs) : ""],
		[capital(wordsOfFrames(header).many), formatCount(data.functions.n)],
		["Python", r.python],
		["Mode", r.mode],
	];
}

function sideColumns(model, rowsOf) {
	const { header } = model.data;
	const base = rowsOf(header.base), head = rowsOf(header.head);
	const rows = head.map(([k, v], i) => [k, base[i][1], v]).filter(([, a, b]) => a || b);
	return el("table", { class: "sides" },
		el("tr", {}, el("td", {}), el("th", {}, "Before"), el("th", {}, "After")),
		...rows.map(([k, a, b]) => el("tr", {}, el("th", {}, k), el("td", {}, a || "–"),
			el("td", {}, b || "–"))));
}

function summary(model) {
	const { data } = model;
	const { tree, failure } = data.header.head.recording;
	if (!data.isDiff)
		return section("summary", "Summary",
			failure && el("p", { class: "warning" },
				`${failure}; it may not have finished its work`),
			facts(summaryRows(model, data.header.head)
				.filter(([k]) => k !== "Total" || !benchmarksOf(data).length)),
				tree && el("p", { class: "quiet" }, `${tree[0].toUpperCase()}${tree.slice(1)}.`));
	// Sums over all benchmarks are meaningless for a single one.
	const ofOne = benchmarksOf(data).length === 0;
	const frames = capital(wordsOfFrames(data.header).many);
	const rowsOf = (side) => summaryRows(model, side)
		.filter(([k]) => ![frames, "Measured", ofOne ? "" : "Total"].includes(k));
	const { elided_count, elided_time } = data.header;
	const warnings = data.header.warnings.map((w) => el("p", { class: "warning" }, w));
	const { urgent } = data.header;
	const measured = [ofOne && headline(model), sideColumns(model, rowsOf),
		ofOne && !data.isSwapped && elided_count > 0 && el("p", { class: "quiet paths" },
			`${plural(elided_count, wordsOfFrames(data.header).path)} gone, `,
			`${formatValue(elided_time, data.header.unit)} before`),
		...warnings.slice(urgent)];
	if (!data.verdicts)
		return section("summary", "Summary", ...warnings.slice(0, urgent), ...measured);
	// The band has the verdict; this section has the details.
	const folded = section("summary", "How it was measured", ...measured);
	folded.open = false;
	return el("div", {}, urgent > 0 &&
		el("div", { class: "section urgent" }, ...warnings.slice(0, urgent)), folded);
}

// ---- sampling quality ----

function meter(name, share, kind, value) {
	const fill = el("i", { class: kind });
	fill.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
	return el("div", { class: "meter" }, el("span", {}, name),
		el("span", {}, value ?? formatShare(share)), el("div", { class: "track" }, fill));
}

function qualityRows(side) {
	const q = side.quality, r = side.recording;
	if (!q) {
		const rows = [];
		if (r.error_rate !== null) rows.push(["Rejected", formatShare(r.error_rate / 100)]);
		if (r.missed_rate !== null) rows.push(["Missed", formatShare(r.missed_rate / 100)]);
		return rows;
	}
	const rejected = q.rejected.reduce((n, [, v]) => n + v, 0);
	const all = q.taken + rejected + q.missed;
	const share = (v) => `${formatCount(v)}${all && v ? ` · ${formatShare(v / all)}` : ""}`;
	return [
		["Taken", formatCount(q.taken)],
		["Retried", share(q.retried)],
		["Rejected", share(rejected),
			q.rejected.filter(([, v]) => v).map(([k, v]) => `${k}: ${v}`).join(", ")],
		["Missed", share(q.missed)],
		["Longest gap", formatValue(q.longest_gap_ns, "ns")],
		["Waits", side.facts.find(([key]) => key === "waits")?.[1] ?? ""],
		["Lost bytes", q.dropped_bytes ? formatCount(q.dropped_bytes) : ""],
	];
}

function qualityMeter(side, name) {
	const q = side.quality;
	if (!q) return null;
	const all = q.taken + q.missed + q.rejected.reduce((n, [, v]) => n + v, 0);
	return all ? meter(name, q.taken / all, "good") : null;
}

function quality(model) {
	const { header } = model.data;
	if (!model.data.isDiff)
		return section("quality", "Sampling quality", qualityMeter(header.head, "Samples taken"),
			facts(qualityRows(header.head)));
	const rows = [qualityRows(header.base), qualityRows(header.head)];
	if (!rows[0].length && !rows[1].length) return null;
	const names = [...new Set([...rows[0], ...rows[1]].map(([k]) => k))];
	const of = (list, k) => list.find(([name]) => name === k)?.[1] ?? "";
	const cell = (text) => {
		const [count, share] = (text || "–").split(" · ");
		return el("td", {}, count, share && el("small", {}, share));
	};
	return section("quality", "Sampling quality", qualityMeter(header.base, "Before"),
		qualityMeter(header.head, "After"),
		el("table", { class: "sides" },
			el("tr", {}, el("td", {}), el("th", {}, "Before"), el("th", {}, "After")),
			...names.filter((k) => of(rows[0], k) || of(rows[1], k)).map((k) =>
				el("tr", {}, el("th", {}, k), cell(of(rows[0], k)), cell(of(rows[1], k))))));
}

// ---- what threads did ----

const THREADS_SHOWN = 16;
const states = [
	["gil", "GIL", "Holding the GIL"], ["waiting", "Wait", "Waiting for the GIL"],
	["cpu", "CPU", "On a CPU"],
	["gc", "GC", "Collecting garbage"], ["exception", "Exc", "Handling an exception"],
];

// Share of a state in the samples of some threads; null if unknown.
function stateShare(counts, key) {
	let n = 0, of = 0;
	for (const t of counts) {
		n += t[key];
		of += t.samples - (key === "cpu" ? t.cpu_unknown : 0);
	}
	return of > 0 ? n / of : null;
}

// Shares of recorded states, by thread and side.
function runtime(model) {
	const { threads } = model.data.header;
	const isBoth = model.data.isDiff && model.state.show === "diff";
	const sides = isBoth ? ["base", "head"] : [model.state.show === "base" ? "base" : "head"];
	const known = states.filter(([key]) => sides.some((s) => threads.some((t) => t[s]?.[key] > 0)));
	if (!known.length) return [];
	const percent = (v) => (v === null ? "–" : `${Math.round(v * 100)}`);
	const shareOf = (list, key, s) =>
		percent(stateShare(list.map((t) => t[s]).filter(Boolean), key));
	const cells = (list) => known.map(([key]) =>
		el("td", {}, sides.map((s) => shareOf(list, key, s)).join(" → ")));
	const chosen = threads.filter((t, i) => (!model.state.threads || model.state.threads[i]) &&
		sides.some((s) => t[s]?.samples > 0));
	const row = (name, list) => el("tr", {}, el("th", { title: name }, name), ...cells(list));
	if (!chosen.length) return [];
	const shown = chosen.slice(0, THREADS_SHOWN);
	return [
		el("table", { class: "states" },
			el("tr", {}, el("th", {}, "%"),
				...known.map(([, short, title]) => el("th", { title }, short))),
			...(shown.length > 1 ? shown.map((t) => row(showName(t.label), [t])) : []),
			row(shown.length > 1 ? "together" : showName(shown[0].label), chosen)),
		chosen.length > shown.length &&
		el("p", { class: "quiet" }, `and ${plural(chosen.length - shown.length, "thread")} more`),
	].filter(Boolean);
}

// ---- hotspots and changes ----

// name: shown instead of its own.
function hotspotItem(model, f, {
	value, detail, name = showName(model.data.functions.names[f]), kind = "", note = "",
	go = () => model.acts.findFunction(f), isCurrent = false,
}) {
	return el("li", {}, el("button", {
		class: "spot", onclick: go, title: "Show in the flame graph",
		...(isCurrent && { "aria-current": "true" }),
	},
		el("span", { class: "pair" },
			twoParts("what", splitName(name), name),
			el("span", { class: `much ${kind}` }, value)),
		el("span", { class: "pair" }, endOf("place", model.placeOf(f)),
			el("span", { class: "detail" }, detail)),
		(note || originWord(model.data, f)) &&
		el("span", { class: "note" },
			[originWord(model.data, f), note].filter(Boolean).join(" · "))));
}

function isListed({ data, state }, f) {
	return !state.own || ownFlags(data)[f] === 1;
}

function largest(n, size, count) {
	const order = [];
	for (let f = 0; f < n; f++) {
		const v = size(f);
		if (!(v > 0)) continue;
		let k = order.length;
		while (k > 0 && order[k - 1][1] < v) k--;
		if (k >= count) continue;
		order.splice(k, 0, [f, v]);
		order.length = Math.min(order.length, count);
	}
	return order.map(([f]) => f);
}

// Functions with most self time on the shown side, in the chosen threads.
function hotspots(model, side, all) {
	const self = model.costs.self[side];
	return largest(self.length, (f) => (isListed(model, f) ? self[f] : 0), HOTSPOTS).map((f) =>
		hotspotItem(model, f, {
			value: formatShare(self[f] / all), detail: formatValue(self[f], model.data.unit),
		}));
}

// group: the title above it, which may already state whether the function is new or gone.
function changeItem(model, entry, current = -1, group = "") {
	const { data } = model;
	const { f, change, leaf = -1, whole } = entry;
	const { delta } = change;
	const state = stateOf(data, f), origin = originOf(data, f);
	const word = movedFunctions(data)?.[f] ? "cost moved" :
		state === "new" || state === "removed" ? stateWord(data, f, state) :
		formatRatio(change);
	return hotspotItem(model, f, {
		name: nameOfChange(data, entry), value: formatChange(delta, data.unit),
		detail: formatPair(change, data.unit) +
			(word === group.toLowerCase() ? "" : ` · ${word.replace(" ", "\u00a0")}`),
		kind: delta > 0 ? "more" : "less",
		note: [origin && `its code was in ${showName(origin)}`,
			whole ? `own ${noun(data.header)}; ${formatPair(whole, data.unit)} in total` :
			leaf >= 0 && `most of it in ${showName(data.functions.names[leaf])}`]
			.filter(Boolean).join(" · "),
		go: entry.node > 0 ? () => model.acts.goToChange(entry) : undefined,
		isCurrent: f === current,
	});
}

// Without verdicts: the largest changes of functions' own time.
function changes(model) {
	const { costs, data } = model;
	const entryOf = (f) =>
		({ f, change: compare(costs.self[BASE][f], costs.self[HEAD][f], data.factor) });
	return largest(data.functions.n,
		(f) => (isListed(model, f) ? Math.abs(entryOf(f).change.delta) : 0), HOTSPOTS)
		.map(entryOf)
		.map((entry) => changeItem(model, { ...entry, whole: wholeOf(data, costs, entry) }));
}

// A line for all modules whose import only moved, as in other reports.
function movedImports({ data: { header: { moved_imports: moved }, unit } }) {
	return moved ? [el("li", { class: "quiet" },
		`${plural(moved.n, "moved import")}, ${formatChange(moved.net, unit)} net`)] : [];
}

const groupTitles = { new: "New or newly recorded", gone: "Gone or no longer recorded" };

// `opened`: groups listed completely; the group of the current function is added.
function certainChanges(model, found, current, opened) {
	const { header } = model.data;
	const titleOf = (g) => (isHeap(header) ? null : groupTitles[g]) ??
		capital(manyWord(header, g));
	return Object.entries(found).filter(([, list]) => list.length).flatMap(([g, list]) => {
		const [some, imports] = opened.has(g) ? [list, []] : splitMovedImports(model.data, list);
		const isHidden = imports.some(({ f }) => f === current) ||
			some.findIndex(({ f }) => f === current) >= HOTSPOTS;
		if (isHidden) opened.add(g);
		const items = (entries) =>
			entries.map((entry) => changeItem(model, entry, current, titleOf(g)));
		if (opened.has(g)) return [el("li", { class: "group" }, titleOf(g)), ...items(list)];
		const rest = some.slice(HOTSPOTS);
		// A line that is replaced by its entries when clicked; the group stays open.
		const line = (entries, words) => entries.length > 0 && el("li", {}, el("button", {
			class: "link", onclick: (event) => {
				const more = items(entries);
				opened.add(g);
				event.target.closest("li").replaceWith(...more);
				more[0].firstChild.focus();
			},
		}, words));
		const sum = imports.reduce((all, { change }) => all + change.delta, 0);
		return [el("li", { class: "group" }, titleOf(g)),
			...items(some.slice(0, HOTSPOTS)),
			line(imports, `${imports.length} moved imports, ${formatChange(sum, model.data.unit)}`),
			line(rest, `and ${countFrames(header, rest.length, "more ")}`)].filter(Boolean);
	});
}

// Scroll only the box until an item in it is visible.
function reveal(box, item) {
	const { top, bottom } = item.getBoundingClientRect(), frame = box.getBoundingClientRect();
	if (top < frame.top) box.scrollTop -= frame.top - top;
	else if (bottom > frame.bottom) box.scrollTop += bottom - frame.bottom;
}

// ---- threads ----

// Cost of each thread; null if the page does not distinguish threads.
function threadSums(model) {
	const { threads } = model.data.header;
	if (threads.length < 2 || !model.data.cells) return null;
	const sums = threads.map(() => 0);
	const { cells } = model.data;
	for (let i = 0; i < cells.n; i++)
		sums[cells.thread[i]] += Math.max(cells.self[HEAD][i],
			cells.self[BASE][i] * model.data.factor);
	return sampledThreads(sums).length < 2 ? null : sums;
}

// Did the shown part run in several threads? A chosen benchmark usually runs in one, even if others
// were recorded.
function hasThreads({ data: { n, func, parent, cells }, state: { bench } }) {
	if (bench < 0) return true;
	const isBelow = new Uint8Array(n), ran = new Set();
	for (let i = 1; i < n; i++)
		isBelow[i] = parent[i] === 0 ? Number(func[i] === bench) : isBelow[parent[i]];
	cells.node.forEach((i, k) => isBelow[i] && ran.add(cells.thread[k]));
	return ran.size > 1;
}

// Threads with samples: only these can be chosen.
function sampledThreads(sums) {
	return [...sums.keys()].filter((i) => sums[i] > 0);
}

function threadFilter(model, sums) {
	const { threads } = model.data.header;
	if (!sums) return { section: null, sync() {} };
	const listed = sampledThreads(sums);
	const all = sums.reduce((a, b) => a + b, 0);
	const choose = (chosen) => {
		const flags = new Uint8Array(threads.length);
		for (const i of chosen) flags[i] = 1;
		const some = chosen.length > 0 && chosen.length < listed.length;
		model.acts.set({ threads: some ? flags : null });
	};
	const items = listed.map((i) => {
		const { label, process } = threads[i];
		return checkItem("thread", process ? `${label} · ${process}` : label, sums[i] / all, {
			"data-thread": String(i),
			onchange: () => choose(listed.filter((_, k) => items[k].box.checked)),
		}, () => choose([i]));
	});
	const sync = () =>
		items.forEach(({ box }, k) => (box.checked = !model.state.threads ||
			model.state.threads[listed[k]] === 1));
	return {
		section: section("threads", "Threads", ...checklist("threads", items),
			el("button", { class: "link", onclick: () => model.acts.set({ threads: null }) },
				`All ${plural(listed.length, "thread")}`)),
		sync,
	};
}

// ---- facts ----

function recordingFacts(model) {
	const { header } = model.data;
	const isShown = (name) => name !== "clock" || !isHeap(header); // a heap has none
	if (!model.data.isDiff)
		return section("facts", "Recording",
			facts(header.head.facts.filter(([name]) => isShown(name))));
	const of = (side, k) => side.facts.find(([name]) => name === k)?.[1] ?? "";
	const names = [...new Set([...header.base.facts, ...header.head.facts].map(([k]) => k))];
	const rows = names.filter(isShown).map((k) => {
		const a = of(header.base, k), b = of(header.head, k);
		return a === b ? [k, a] : [k, `${a || "–"} → ${b || "–"}`];
	});
	return section("facts", "Recordings", facts(rows));
}

// ---- all of it ----

export class Sidebar {
	constructor(model, box) {
		this.model = model;
		this.box = box;
		this.current = -1;
		this.opened = new Set();
		this.build();
	}

	// Mark the function reached by a step through the changes, from the next update on.
	visit(f) {
		this.current = f;
		this.isVisit = true;
	}

	// Build the parts that do not depend on the shown tree.
	build() {
		const { model, box } = this;
		this.spots = el("ol", { class: "spots" });
		this.own = hasBoth(model.data) ?
			toggle("Own code only", "Hide libraries in this list and in the table", false,
				(own) => model.acts.set({ own })) : null;
		this.spotsTitle = el("summary", {});
		this.states = el("div", {});
		this.statesSection = section("runtime", "Runtime", this.states);
		this.choices = buildChoices(model);
		const sums = threadSums(model);
		this.processes = sums ? buildProcesses(model, sums) : { section: null, sync() {} };
		this.threads = threadFilter(model, sums);
		this.benchmarks = buildBenchmarks(model);
		const spots = el("details", { class: "section", id: "section-hotspots", open: true },
			...[this.spotsTitle, this.own, this.spots].filter(Boolean));
		box.replaceChildren(...[
			...(model.data.verdicts ? [spots, this.benchmarks.section, summary(model)] :
				[summary(model), this.benchmarks.section, spots]),
			this.processes.section, this.threads.section, ...this.choices.sections,
			this.statesSection, quality(model), speedSection(model.data.header),
			recordingFacts(model),
		].filter(Boolean));
	}

	// Update after the shown tree changed.
	update(what) {
		const { model } = this;
		this.spotsTitle.textContent = what.isDiff ? "What changed most" : "Hotspots";
		const hadFocus = this.spots.contains(document.activeElement);
		const items = what.found ?
			[...certainChanges(model, what.found, this.current, this.opened),
				...movedImports(model)] :
			what.isDiff ? changes(model) : hotspots(model, what.side, what.all);
		this.spots.replaceChildren(...(items.length ? items :
			[el("li", { class: "quiet" },
				what.verdicts ? "No change beyond noise." : "Nothing.")]));
		const item = this.isVisit && this.spots.querySelector("[aria-current]");
		this.isVisit = false;
		if (item) reveal(this.box, item);
		if (item && hadFocus) item.focus({ preventScroll: true });
		this.own?.setAttribute("aria-checked", String(model.state.own));
		const rows = runtime(model);
		this.states.replaceChildren(...rows);
		this.statesSection.hidden = !rows.length;
		this.threads.sync();
		this.processes.sync();
		for (const { section: part } of [this.threads, this.processes])
			if (part) part.hidden = !hasThreads(model);
		this.benchmarks.sync();
		this.choices.sync();
	}
}
