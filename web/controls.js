// SPDX-License-Identifier: MIT
// The bars around the picture: buttons and switches, where the zoom is, the legend, and the words
// where there is nothing to draw.
import { BASE, HEAD } from "./data.js";
import { glyphOf, heatClass, heatSteps, NEW, REMOVED, SAME, UNSURE } from "./colors.js";
import { el, pressSegment, segments, toggle } from "./dom.js";
import { showName } from "./flame.js";
import { fillHelp } from "./keys.js";
import { pathOf } from "./tree.js";

const $ = (id) => document.getElementById(id);

// What the sides are called, without the folders that both share.
function sideLabels(header) {
	const labels = [header.base?.label, header.head.label].filter(Boolean).map((s) => s.split("/"));
	const [a, b = a] = labels;
	let shared = 0;
	while (a && shared < Math.min(a.length, b.length) - 1 && a[shared] === b[shared]) shared++;
	return labels.map((parts) => parts.slice(shared).join("/")).join(" → ");
}

export function buildControls(app) {
	const { data, state } = app;
	const { header } = data;
	if (data.isDiff)
		segments($("sides"), [
			["base", "Base", "The profile before (1)"], ["head", "Head", "The profile after (2)"],
			["diff", "Diff", "What changed (3)"],
		], state.show, (show) => app.set({ show }));
	else $("sides").hidden = true;
	segments($("tabs"), [["flame", "Flame graph", "(t)"], ["sandwich", "Sandwich", "Callers and callees of one function (g)"],
		["source", "Source", "Lines of one function (l)"], ["table", "Table", "(t)"]], state.tab, (tab) => app.set({ tab }));
	const choice = (id, title, options, key) => el("label", { class: "choice", id: `choice-${id}` }, `${title} `,
		el("select", { id: `select-${id}`, onchange: (e) => app.set({ [key]: e.target.value }) },
			...options.map(([value, text]) => el("option", { value }, text))));
	$("switches").replaceChildren(...[
		data.isDiff && choice("layout", "Width", [["head", "Head"], ["base", "Base"], ["union", "Union"], ["delta", "|Δ|"]], "layout"),
		choice("by", "Colour", [["self", "Self"], ["total", "Total"]], "by"),
		app.hasRemoved && toggle("Elided", "Only what was removed (e)", false, () => app.toggleElided(), "toggle-elided"),
		toggle("Inverted", "Callers: leaf functions are the roots (i)", false, (inverted) => app.set({ inverted }), "toggle-inverted"),
		toggle("Flame", "Roots at the bottom (f)", false, (up) => app.set({ up }), "toggle-up"),
		toggle("Modules", "Module names in place of file paths (m)", false, (on) => app.set({ names: on ? "module" : "path" }), "toggle-names"),
	].filter(Boolean));
	const command = header.head.facts.find(([k]) => k === "command")?.[1] ?? "";
	const labels = sideLabels(header);
	$("subtitle").textContent = showName(labels || command || " ").trim();
	$("subtitle").title = showName([header.base?.label, header.head.label].filter(Boolean).join(" → "));
	fillHelp($("help"), data.isDiff);
}

function title(app) {
	const { data, state } = app;
	const swapped = data.isSwapped ? ", swapped" : "";
	const kind = !data.isDiff ? "Flame graph" :
		state.show === "diff" ? "Differential flame graph" : state.show === "base" ? "Base flame graph" : "Head flame graph";
	return (state.inverted ? `Inverted ${kind[0].toLowerCase()}${kind.slice(1)}` : kind) + swapped;
}

export function showControls(app, what) {
	const { state } = app;
	$("title").textContent = title(app);
	document.title = [title(app), $("subtitle").textContent].filter(Boolean).join(" · ");
	$("canvas").setAttribute("aria-label", title(app));
	pressSegment($("sides"), state.show);
	pressSegment($("tabs"), state.tab);
	$("flame").hidden = state.tab !== "flame";
	$("sandwich").hidden = state.tab !== "sandwich";
	$("source").hidden = state.tab !== "source";
	$("table").hidden = state.tab !== "table";
	$("app").classList.toggle("on-table", state.tab === "table");
	$("app").classList.toggle("on-source", state.tab === "source");
	$("app").classList.toggle("on-sandwich", state.tab === "sandwich");
	const check = (id, on) => $(id)?.setAttribute("aria-checked", String(on));
	check("toggle-elided", app.isElided());
	check("toggle-inverted", state.inverted);
	check("toggle-up", state.up);
	check("toggle-names", state.names === "module");
	$("select-by").value = state.by;
	if ($("select-layout")) {
		$("select-layout").value = state.layout;
		$("choice-layout").hidden = state.show !== "diff" || app.isElided();
	}
	if ($("toggle-elided")) $("toggle-elided").hidden = state.show !== "diff";
	if ($("query").value !== state.query) $("query").value = state.query;
	showLegend(app, what);
	showCrumbs(app);
	showEmpty(app, what);
	if (state.tab === "flame") app.flame.settle();
	else if (state.tab === "table") app.table.update(app.costs, what);
	else if (state.tab === "source") app.source.update(app.middle(), what);
	else app.sandwich.update(app.upright(), app.middle(), what);
}

export function showCrumbs(app) {
	const { tree } = app.flame.picture;
	const focus = app.flame.focus;
	const path = pathOf(tree, focus);
	const crumb = (text, to, title) => el("button", { class: "link", title, onclick: () => app.zoomTo(to) }, text);
	const name = (f) => showName(app.data.functions.names[f]);
	const tail = path.slice(-3);
	const items = [crumb("All", [], "The whole picture (0)")];
	if (path.length > tail.length) items.push(el("span", {}, "…"));
	tail.forEach((f, i) => items.push(crumb(name(f), path.slice(0, path.length - tail.length + i + 1), app.placeOf(f))));
	$("crumbs").replaceChildren(...items);
	$("crumbs").classList.toggle("zoomed", path.length > 0);
}

// What to say when a side has no samples, or when nothing is drawn.
function emptyText(app, what) {
	const { base, head } = app.data.header;
	const noHead = app.data.isDiff && !(head.sum > 0), noBase = app.data.isDiff && !(base.sum > 0);
	if (noHead && noBase) return "Neither recording has samples.";
	if (app.flame.picture.all === 0 && what.widths === "delta" && what.all > 0) return "Nothing changed.";
	if (what.all > 0) {
		if (what.isDiff && noHead) return "The head has no samples: everything below was removed.";
		if (what.isDiff && noBase) return "The base has no samples: everything below is new.";
		return "";
	}
	if (noHead && what.side === HEAD) return "The head has no samples. Elided shows all that was removed.";
	if (noBase && what.side === BASE) return "The base has no samples: everything is new.";
	return `There are no samples ${app.state.threads ? "of these threads " : ""}to draw.`;
}

function showEmpty(app, what) {
	const text = emptyText(app, what);
	$("empty").textContent = text;
	$("empty").hidden = !text;
	$("empty").classList.toggle("note", app.flame.picture.all > 0);
}

export function showLegend(app, what) {
	const { palette } = app.flame;
	const swatch = (classes, text, extra = "") => el("span", { class: `key ${extra}` }, ...classes.map((c) => {
		const box = el("i", { class: c === NEW ? "new" : c === REMOVED ? "removed" : "" });
		if (c === REMOVED) box.style.borderColor = palette.removed;
		if (c !== REMOVED || !palette.isHollow) box.style.backgroundColor = palette.fill[c];
		if (c === NEW) box.style.borderColor = palette.inkOf(c);
		return box;
	}), `${glyphOf(classes.at(-1))} ${text}`.trim());
	const by = app.state.inverted ? "the leaf's self" : app.state.by;
	const items = what.isDiff ? [
		swatch([1, 2, 3, 4], "Slower"), swatch([5, 6, 7, 8], "Faster"),
		...(what.verdicts ? [swatch([SAME], "No change"), swatch([UNSURE], "Cannot tell", "hatched")] : [swatch([SAME], "Within 15 %")]), swatch([NEW], "New"), swatch([REMOVED], "Removed"),
		el("span", { class: "quiet" }, `by ${by} time; steps at 15, 30, 50, 100 %`),
	] : [
		...heatSteps.map((from, k) => {
			const isEnd = k === 0 || k === heatSteps.length - 1;
			const text = k === 0 ? `< ${heatSteps[1] * 100} %` : isEnd ? `≥ ${from * 100} %` : "";
			return swatch([heatClass(from)], text, isEnd ? "joined end" : "joined");
		}),
		el("span", { class: "quiet" }, `share of ${by} time`),
	];
	$("legend").replaceChildren(...items);
}
