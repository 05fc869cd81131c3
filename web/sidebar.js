// SPDX-License-Identifier: MIT
// The sidebar: what was measured and how well, what stands out, and which threads to show.
import { BASE, HEAD } from "./data.js";
import { el } from "./dom.js";
import { compare, formatChange, formatCount, formatPercentChange, formatShare, formatValue, plural } from "./format.js";
import { showName } from "./flame.js";

const HOTSPOTS = 6;

function section(id, title, ...children) {
	const content = children.filter(Boolean);
	if (!content.length) return null;
	return el("details", { class: "section", id: `section-${id}`, open: true }, el("summary", {}, title), ...content);
}

function facts(rows) {
	const shown = rows.filter(([, v]) => v !== "" && v !== null && v !== undefined);
	if (!shown.length) return null;
	return el("dl", { class: "facts" }, ...shown.flatMap(([k, v, extra]) => [el("dt", {}, k), el("dd", { title: extra }, v)]));
}

// ---- summary ----

const words = { slower: "Slower", faster: "Faster", same: "No change beyond ±", unknown: "Cannot tell slower from faster" };

// The run's verdict, as the text report words it. It is about these sides in this order.
function verdict(app) {
	const v = app.data.header.verdict;
	if (!v || v.method === "none" || app.data.isSwapped) return null;
	if (v.method === "identical") return el("p", { class: "verdict" }, "No change, both are one recording");
	if (v.change_pct === null) return el("p", { class: "verdict" }, "By share, nothing is said about the whole run");
	const percent = (p) => formatPercentChange(p / 100);
	const interval = `[${percent(v.low)}, ${percent(v.high)}]`;
	const text = v.word === "same" ? words.same + formatShare(Math.max(-v.low, v.high) / 100) :
		v.word === "unknown" ? `${words.unknown} ${interval}` :
		`${words[v.word]} by ${formatShare(Math.abs(v.change_pct) / 100)} ${interval}`;
	const more = v.more_runs > 0 && v.more_runs < 1e6 ? `; ${plural(Math.ceil(v.more_runs), "more run")} a side would show 5 %` : "";
	return [el("p", { class: "verdict" }, text), v.smallest_visible_pct !== null && el("p", { class: "quiet" },
		`Smallest change visible: ${formatShare(v.smallest_visible_pct / 100)}${more}`)];
}

function headline(app) {
	const { header, unit, factor } = app.data;
	const c = compare(header.base.sum, header.head.sum, factor);
	const judged = header.verdict && header.verdict.method !== "none" && !app.data.isSwapped;
	const isNoise = judged && !["slower", "faster"].includes(header.verdict.word);
	const way = isNoise ? "same" : c.delta > 0 ? "more" : c.delta < 0 ? "less" : "same";
	const isShare = header.scale.mode === "share";
	const times = `${formatValue(header.base.sum, unit)} → ${formatValue(header.head.sum, unit)}`;
	const scale = `Scale ${header.scale.mode}, factor ${Number(factor.toPrecision(5))}: `;
	return el("div", { class: "headline" },
		el("p", { class: "big" }, times, unit === "count" && el("small", {}, ` ${header.metric}`)),
		!isShare && el("p", { class: `change ${way}` }, formatChange(c.delta, unit),
			c.ratio !== null && ` (${formatPercentChange(c.ratio)})`),
		...[verdict(app)].flat().filter(Boolean),
		el("p", { class: "quiet" }, scale, isShare ?
			"both totals made equal, so shares are compared." : factor === 1 ?
			"values are compared as recorded." : "the base is multiplied by it."));
}

function metricName(header) {
	const names = { wall: "wall-clock time", cpu: "CPU time" };
	return names[header.metric] ?? header.metric;
}

function summaryRows(app, side) {
	const { data } = app;
	const { header } = data;
	const r = side.recording;
	const seconds = r.duration_ns ? formatValue(r.duration_ns, "ns") : "";
	const rate = Number.isFinite(r.achieved_hz) && r.achieved_hz !== null ? `${formatCount(r.achieved_hz)} / s` :
		r.duration_ns ? `${formatCount(side.samples / (r.duration_ns / 1e9))} / s` :
		r.interval_ns ? `${formatCount(1e9 / r.interval_ns)} / s asked` : "";
	return [
		["Measured", metricName(header)],
		["Total", header.metric === "samples" ? "" : formatValue(side.sum, header.unit)],
		["Samples", formatCount(side.samples)],
		["Duration", seconds],
		["Rate", rate],
		["Runs", side.runs > 1 ? formatCount(side.runs) : ""],
		["Functions", formatCount(data.functions.n)],
		["Python", r.python],
		["Mode", r.mode],
	];
}

function sideColumns(app, rowsOf) {
	const { header } = app.data;
	const base = rowsOf(header.base), head = rowsOf(header.head);
	const rows = head.map(([k, v], i) => [k, base[i][1], v]).filter(([, a, b]) => a || b);
	return el("table", { class: "sides" },
		el("tr", {}, el("th", {}), el("th", {}, "Before"), el("th", {}, "After")),
		...rows.map(([k, a, b]) => el("tr", {}, el("th", {}, k), el("td", {}, a || "–"), el("td", {}, b || "–"))));
}

function summary(app) {
	const { data } = app;
	if (!data.isDiff) return section("summary", "Summary", facts(summaryRows(app, data.header.head)));
	const rowsOf = (side) => summaryRows(app, side).filter(([k]) => k !== "Functions" && k !== "Measured");
	const { elided_count, elided_time } = data.header;
	return section("summary", "Summary", headline(app), sideColumns(app, rowsOf),
		!data.isSwapped && elided_count > 0 && el("p", { class: "quiet gone" },
			`${plural(elided_count, "call path")} gone, ${formatValue(elided_time, data.header.unit)} of the base`),
		...data.header.warnings.map((w) => el("p", { class: "warning" }, w)));
}

// ---- sampling quality ----

function meter(name, share, kind, value) {
	const fill = el("i", { class: kind });
	fill.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
	return el("div", { class: "meter" }, el("span", {}, name), el("span", {}, value ?? formatShare(share)), el("div", { class: "track" }, fill));
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
		["Rejected", share(rejected), q.rejected.filter(([, v]) => v).map(([k, v]) => `${k}: ${v}`).join(", ")],
		["Missed", share(q.missed)],
		["Longest gap", formatValue(q.longest_gap_ns, "ns")],
		["Lost bytes", q.dropped_bytes ? formatCount(q.dropped_bytes) : ""],
	];
}

function qualityMeter(side, name) {
	const q = side.quality;
	if (!q) return null;
	const all = q.taken + q.missed + q.rejected.reduce((n, [, v]) => n + v, 0);
	return all ? meter(name, q.taken / all, "good") : null;
}

function quality(app) {
	const { header } = app.data;
	if (!app.data.isDiff)
		return section("quality", "Sampling quality", qualityMeter(header.head, "Samples taken"), facts(qualityRows(header.head)));
	const rows = [qualityRows(header.base), qualityRows(header.head)];
	if (!rows[0].length && !rows[1].length) return null;
	const names = [...new Set([...rows[0], ...rows[1]].map(([k]) => k))];
	const of = (list, k) => list.find(([name]) => name === k)?.[1] ?? "";
	const cell = (text) => {
		const [count, share] = (text || "–").split(" · ");
		return el("td", {}, count, share && el("small", {}, share));
	};
	return section("quality", "Sampling quality", qualityMeter(header.base, "Before"), qualityMeter(header.head, "After"),
		el("table", { class: "sides" }, el("tr", {}, el("th", {}), el("th", {}, "Before"), el("th", {}, "After")),
			...names.filter((k) => of(rows[0], k) || of(rows[1], k)).map((k) =>
				el("tr", {}, el("th", {}, k), cell(of(rows[0], k)), cell(of(rows[1], k))))));
}

// ---- what threads did ----

const THREADS_SHOWN = 16;
const states = [
	["gil", "GIL", "Holding the GIL"], ["waiting", "Wait", "Waiting for the GIL"], ["cpu", "CPU", "On a CPU"],
	["gc", "GC", "Collecting garbage"], ["exception", "Exc", "Handling an exception"],
];

// Share of a state in the samples of some threads' counts, null when nothing is known.
function stateShare(counts, key) {
	let n = 0, of = 0;
	for (const t of counts) {
		n += t[key];
		of += t.samples - (key === "cpu" ? t.cpu_unknown : 0);
	}
	return of > 0 ? n / of : null;
}

// Shares by thread and side, of those states that were recorded at all.
function runtime(app) {
	const { threads } = app.data.header;
	const isBoth = app.data.isDiff && app.state.show === "diff";
	const sides = isBoth ? ["base", "head"] : [app.state.show === "base" ? "base" : "head"];
	const known = states.filter(([key]) => sides.some((s) => threads.some((t) => t[s]?.[key] > 0)));
	if (!known.length) return [];
	const percent = (v) => (v === null ? "–" : `${Math.round(v * 100)}`);
	const cells = (list) => known.map(([key]) =>
		el("td", {}, `${sides.map((s) => percent(stateShare(list.map((t) => t[s]).filter(Boolean), key))).join(" → ")} %`));
	const chosen = threads.filter((_, i) => !app.state.threads || app.state.threads[i]);
	const row = (name, list) => el("tr", {}, el("th", { title: name }, name), ...cells(list));
	const shown = chosen.slice(0, THREADS_SHOWN);
	return [
		el("table", { class: "states" },
			el("tr", {}, el("th", {}), ...known.map(([, short, title]) => el("th", { title }, short))),
			...(shown.length > 1 ? shown.map((t) => row(showName(t.label), [t])) : []),
			row(shown.length > 1 ? "together" : showName(shown[0].label), chosen)),
		chosen.length > shown.length && el("p", { class: "quiet" }, `and ${plural(chosen.length - shown.length, "thread")} more`),
	].filter(Boolean);
}

// ---- hotspots and changes ----

function hotspotItem(app, f, value, detail, kind) {
	return el("li", {}, el("button", { class: "spot", onclick: () => app.findFunction(f), title: "Find in the flame graph" },
		el("span", { class: "pair" }, el("span", { class: "what" }, showName(app.data.functions.names[f])),
			el("span", { class: `much ${kind}` }, value)),
		el("span", { class: "pair" }, el("span", { class: "place" }, app.placeOf(f)),
			el("span", { class: "detail" }, detail))));
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

// Functions with most self time on the side that is drawn, of the chosen threads.
function hotspots(app, costs, side, all) {
	const self = costs.self[side];
	return largest(self.length, (f) => self[f], HOTSPOTS).map((f) =>
		hotspotItem(app, f, formatShare(self[f] / all), formatValue(self[f], app.data.unit), ""));
}

function changes(app, costs) {
	const { functions, factor, unit } = app.data;
	const c = (f) => compare(costs.self[BASE][f], costs.self[HEAD][f], factor);
	return largest(functions.n, (f) => Math.abs(c(f).delta), HOTSPOTS).map((f) => {
		const { base, head, delta, ratio } = c(f);
		const percent = ratio === null ? "new" : head === 0 && costs.total[HEAD][f] === 0 ? "removed" : formatPercentChange(ratio);
		return hotspotItem(app, f, formatChange(delta, unit),
			`${formatValue(base, unit)} → ${formatValue(head, unit)} · ${percent}`, delta > 0 ? "more" : "less");
	});
}

// ---- threads ----

function threadFilter(app) {
	const { threads } = app.data.header;
	if (threads.length < 2 || !app.data.cells) return null;
	const sums = threads.map(() => 0);
	const { cells } = app.data;
	for (let i = 0; i < cells.n; i++) sums[cells.thread[i]] += Math.max(cells.self[HEAD][i], cells.self[BASE][i] * app.data.factor);
	const all = sums.reduce((a, b) => a + b, 0);
	const boxes = threads.map((t, i) => el("input", { type: "checkbox", checked: true, "data-thread": String(i), onchange: () => choose() }));
	const choose = () => {
		const flags = Uint8Array.from(boxes, (b) => (b.checked ? 1 : 0));
		app.set({ threads: flags.includes(0) && flags.includes(1) ? flags : null });
	};
	const items = threads.map((t, i) => {
		const only = el("button", { class: "link only", title: "Only this thread", onclick: () => {
			boxes.forEach((b, k) => (b.checked = k === i));
			choose();
		} }, "only");
		return el("li", { "data-label": t.label.toLowerCase() },
			el("label", {}, boxes[i], el("span", {}, showName(t.label))), only,
			el("span", { class: "quiet" }, formatShare(sums[i] / all)));
	});
	app.syncThreads = () => boxes.forEach((b, i) => (b.checked = !app.state.threads || app.state.threads[i] === 1));
	const find = threads.length > 8 && el("input", {
		type: "search", placeholder: "Filter threads", "aria-label": "Filter threads",
		oninput: (e) => items.forEach((li) => (li.hidden = !li.dataset.label.includes(e.target.value.toLowerCase()))),
	});
	return section("threads", "Threads", find, el("ul", { class: "threads" }, ...items),
		el("button", { class: "link", onclick: () => app.set({ threads: null }) }, `All ${plural(threads.length, "thread")}`));
}

// ---- facts ----

function recordingFacts(app) {
	const { header } = app.data;
	if (!app.data.isDiff) return section("facts", "Recording", facts(header.head.facts));
	const of = (side, k) => side.facts.find(([name]) => name === k)?.[1] ?? "";
	const names = [...new Set([...header.base.facts, ...header.head.facts].map(([k]) => k))];
	const rows = names.map((k) => {
		const a = of(header.base, k), b = of(header.head, k);
		return a === b ? [k, a] : [k, `${a || "–"} → ${b || "–"}`];
	});
	return section("facts", "Recordings", facts(rows));
}

// ---- all of it ----

export class Sidebar {
	constructor(app, box) {
		this.app = app;
		this.box = box;
		this.build();
	}

	// What does not change with the shown tree.
	build() {
		const { app, box } = this;
		this.spots = el("ol", { class: "spots" });
		this.spotsTitle = el("summary", {});
		this.states = el("div", {});
		this.statesSection = section("runtime", "Runtime", this.states);
		box.replaceChildren(...[
			summary(app),
			el("details", { class: "section", id: "section-hotspots", open: true }, this.spotsTitle, this.spots),
			threadFilter(app), this.statesSection, quality(app), recordingFacts(app),
		].filter(Boolean));
	}

	// After the shown tree changed.
	update(costs, what) {
		const { app } = this;
		this.spotsTitle.textContent = what.isDiff ? "What changed most" : "Hotspots";
		const items = what.isDiff ? changes(app, costs) : hotspots(app, costs, what.side, what.all);
		this.spots.replaceChildren(...(items.length ? items : [el("li", { class: "quiet" }, "nothing")]));
		const rows = runtime(app);
		this.states.replaceChildren(...rows);
		this.statesSection.hidden = !rows.length;
		app.syncThreads?.();
	}
}
