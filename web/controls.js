// SPDX-License-Identifier: MIT
// The bars around the picture: buttons and switches, where the zoom is, the legend, and the words
// where there is nothing to draw.
import { BASE, HEAD, TASK_KIND } from "./data.js";
import {
	glyphOf, heatClass, heatSteps, LESS, MORE, MOVED, NEW, NEW_UNSURE, REMOVED, SAME, TASK, UNSURE,
} from "./colors.js";
import { chipsOf } from "./chips.js";
import { el, pressSegment, segments, toggle } from "./dom.js";
import { showName } from "./labels.js";
import { modes } from "./meaning.js";
import { menu } from "./menu.js";
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

const views = [
	["flame", "Flame", "Flame graph (t)"], ["sandwich", "Sandwich", "Callers and callees of one function (g)"],
	["source", "Source", "Lines of one function (l)"], ["table", "Table", "All functions (t)"],
	["matches", "Matches", "Functions taken for one another (k)", true],
];

// What colours can go by on this page.
function coloursOf(data) {
	return Object.keys(modes).filter((by) => by === "self" || by === "total" || (data.isDiff && (by === "share" || data.verdicts)));
}

function choice(app, key, title, options) {
	return el("label", { class: "choice", id: `choice-${key}` }, el("span", {}, title), el("select", {
		id: `select-${key}`, onchange: (e) => app.set({ [key]: e.target.value }),
	}, ...options.map(([value, text]) => el("option", { value }, text))));
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
	segments($("tabs"), views.filter(([, , , diffOnly]) => data.isDiff || !diffOnly), state.tab, (tab) => app.set({ tab }));
	$("switches").replaceChildren(...[
		data.isDiff && choice(app, "layout", "Width", [["head", "Head"], ["base", "Base"], ["union", "Union"], ["delta", "|Δ|"]]),
		choice(app, "by", "Colour", coloursOf(data).map((by) => [by, modes[by].title])),
		app.hasRemoved && toggle("Elided", "Only what was removed (e)", false, () => app.toggleElided(), "toggle-elided"),
		menu("menu-view", "View", "How the picture stands, and what names stand in it",
			toggle("Inverted", "Callers: leaf functions are the roots (i)", false, (inverted) => app.set({ inverted }), "toggle-inverted"),
			toggle("Flame", "Roots at the bottom (f)", false, (up) => app.set({ up }), "toggle-up"),
			toggle("Modules", "Module names in place of file paths (m)", false, (on) => app.set({ names: on ? "module" : "path" }), "toggle-names")),
	].filter(Boolean));
	const command = header.head.facts.find(([k]) => k === "command")?.[1] ?? "";
	const labels = sideLabels(header);
	$("subtitle").textContent = showName(labels || command || " ").trim();
	$("subtitle").title = showName([header.base?.label, header.head.label].filter(Boolean).join(" → "));
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
	$("grid").setAttribute("aria-label", title(app));
	pressSegment($("sides"), state.show);
	pressSegment($("tabs"), state.tab);
	for (const [tab] of views) {
		$(tab).hidden = state.tab !== tab;
		$("app").classList.toggle(`on-${tab}`, state.tab === tab);
	}
	const check = (id, on) => $(id)?.setAttribute("aria-checked", String(on));
	check("toggle-elided", app.isElided());
	check("toggle-inverted", state.inverted);
	check("toggle-up", state.up);
	check("toggle-names", state.names === "module");
	$("select-by").value = app.colourMode();
	if ($("select-layout")) {
		$("select-layout").value = state.layout;
		$("choice-layout").hidden = state.show !== "diff" || app.isElided();
	}
	if ($("toggle-elided")) $("toggle-elided").hidden = state.show !== "diff";
	if ($("query").value !== state.query) $("query").value = state.query;
	showLegend(app, what);
	showCrumbs(app);
	$("chips").replaceChildren(...chipsOf(app));
	showEmpty(app, what);
	if (state.tab === "flame") app.flame.settle();
	else if (state.tab === "table") app.table.update(app.costs, what);
	else if (state.tab === "matches") app.matches.update();
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
	const { threads, modules, verdict } = app.state;
	if (app.flame.aside?.all > 0) return "The head has nothing of this: all of it was removed.";
	if (modules || verdict) return "No sample passes these filters.";
	return `There are no samples ${threads ? "of these threads " : ""}to draw.`;
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
		const box = el("i", { class: { [NEW]: "new", [NEW_UNSURE]: "new unsure", [UNSURE]: "unsure", [MOVED]: "new", [REMOVED]: "removed" }[c] ?? "" });
		if (c === REMOVED) box.style.borderColor = palette.removed;
		if (c !== REMOVED || !palette.isHollow) box.style.backgroundColor = palette.fill[c];
		if (c === NEW) box.style.borderColor = palette.inkOf(c);
		if (c === NEW_UNSURE || c === MOVED) box.style.borderColor = palette.removed;
		return box;
	}), `${glyphOf(classes.at(-1))} ${text}`.trim());
	const by = app.state.inverted ? "the leaf's self" : what.by === "total" ? "total" : "self";
	const isJudged = what.verdicts !== null;
	const items = what.isDiff ? [
		swatch([0, 1, 2, 3].map((k) => MORE + k), "Slower"), swatch([0, 1, 2, 3].map((k) => LESS + k), "Faster"),
		swatch([SAME], isJudged ? "No change" : "Within 15 %"), isJudged && swatch([UNSURE], "Cannot tell"),
		swatch(isJudged ? [NEW_UNSURE, NEW] : [NEW], "New"), swatch([REMOVED], "Removed"),
		what.marks?.includes(1) && swatch([MOVED], "Moved cost"),
		el("span", { class: "quiet" }, app.state.inverted && what.by !== "surprise" ? "by the leaf's self time" : modes[what.by].legend),
	] : [
		...heatSteps.map((from, k) => {
			const isEnd = k === 0 || k === heatSteps.length - 1;
			const text = k === 0 ? `< ${heatSteps[1] * 100} %` : isEnd ? `≥ ${from * 100} %` : "";
			return swatch([heatClass(from)], text, isEnd ? "joined end" : "joined");
		}),
		what.kinds?.includes(TASK_KIND) && swatch([TASK], "asyncio task"),
		el("span", { class: "quiet" }, `share of ${by} time`),
	];
	$("legend").replaceChildren(...items.filter(Boolean));
}
