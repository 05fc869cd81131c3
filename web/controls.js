// SPDX-License-Identifier: MIT
// The bars around the picture: buttons, switches, the path of the zoom, the legend, and the message
// shown when there is nothing to draw.
import { BASE, HEAD, TASK_KIND } from "./data.js";
import {
	glyphOf, heatClass, heatSteps, isTogether, LESS, MORE, MOVED, NEW, NEW_UNSURE, REMOVED, SAME,
	TASK, togetherOf, UNSURE,
} from "./colors.js";
import { benchmarksOf } from "./benchmarks.js";
import { canSplitCalls, functionOfStep, knowsCalls, splitsCalls } from "./call_lines.js";
import { chipsOf } from "./chips.js";
import { isHeap, noun, oneWord, wordsOfFrames } from "./cost_words.js";
import { el, pressSegment, segments, toggle, twoParts } from "./dom.js";
import { choosesPaths } from "./filters.js";
import { frameName } from "./folds.js";
import { capital } from "./format.js";
import { hasImports } from "./fold_imports.js";
import { showName, splitName } from "./labels.js";
import { hasSums, legendOf, modes } from "./frame_colour.js";
import { menu } from "./menu.js";
import { linesOf } from "./paint.js";
import { hasChart } from "./strip_data.js";
import { pathOf } from "./tree.js";
import { hasWaits } from "./waits_data.js";

const PHONE = "(max-width: 600px)"; // as in style.css
const $ = (id) => document.getElementById(id);

// Names of the sides, without the folders that both share.
function sideLabels(header) {
	const labels = [header.base?.label, header.head.label].filter(Boolean).map((s) => s.split("/"));
	const [a = [], b = a] = labels;
	let shared = 0;
	while (shared < Math.min(a.length, b.length) - 1 && a[shared] === b[shared]) shared++;
	return labels.map((parts) => parts.slice(shared).join("/")).join(" → ");
}

const views = [
	["benchmarks", "Benchmarks", "All benchmarks, worst first",
		({ data }) => benchmarksOf(data).length > 1],
	["flame", "Flame", "Flame graph (t)"],
	["chart", "Chart", "Flame chart: what ran when (o)",
		({ data }) => hasChart(data)],
	["sandwich", ({ sandwich }) => sandwich,
		({ one, above, below }) => `${capital(above)} and ${below} of one ${one} (g)`],
	["source", "Source", "Source lines: all files, one, or a function (l)",
		({ data }) => !isHeap(data.header)],
	["table", "Table", ({ many }) => `All ${many} (t)`],
	["waits", "Waits", "What threads waited for, and what ended each wait (W)",
		({ data }) => hasWaits(data)],
	["matches", "Matches", ({ many }) => `Renamed and moved ${many} (k)`,
		({ data }) => data.isDiff],
];

// The tabs of this page: [name, title, hint].
function tabsOf(app) {
	const words = wordsOfFrames(app.data.header);
	return views.filter(([, , , exists]) => !exists || exists(app))
		.map(([name, ...texts]) => [name, ...texts.slice(0, 2)
			.map((text) => (typeof text === "string" ? text : text(words)))]);
}

// Ways to colour this page.
function coloursOf(data) {
	return Object.keys(modes).filter((by) => by === "self" || by === "total" ||
		(data.isDiff && (by === "share" || data.verdicts)));
}

function choice(app, key, title, options) {
	return el("label", { class: "choice", id: `choice-${key}` }, el("span", {}, title),
		el("select", {
			id: `select-${key}`, onchange: (e) => app.change({ [key]: e.target.value }),
		}, ...options.map(([value, text]) => el("option", { value }, text))));
}

// On a phone, move all switches to the menu, so that the bar takes one row.
function placeSwitches(isPhone) {
	const view = $("menu-view"), panel = view.querySelector(".panel");
	const moved = ["choice-layout", "choice-by", "toggle-elided"].map($).filter(Boolean);
	if (isPhone) panel.prepend(...moved);
	else view.before(...moved);
}

export function buildControls(app) {
	const { data, state } = app;
	const { header } = data, words = wordsOfFrames(header);
	$("query").placeholder = `Search a ${words.one}${isHeap(header) ? "" : ", file or path:line"}`;
	if (data.isDiff)
		segments($("sides"), [
			["base", "Before", "The profile before (1)"],
			["head", "After", "The profile after (2)"],
			["diff", "Change", "What changed (3)"],
		], state.show, (show) => app.change({ show }));
	else $("sides").hidden = true;
	segments($("tabs"), tabsOf(app), state.tab, (tab) => app.change({ tab }));
	$("switches").replaceChildren(...[
		data.isDiff && choice(app, "layout", "Width",
			[["head", "After"], ["base", "Before"], ["union", "Both"], ["delta", "All change"]]),
		choice(app, "by", "Colour", coloursOf(data).map((by) => [by, modes[by].title])),
		app.model.hasRemoved && toggle("Gone", "Show only removed paths (e)", false,
			() => app.toggleElided(),
			"toggle-elided"),
		menu("menu-view", "View", "Layout, folding and names",
			toggle("Inverted", `${capital(words.leaf)} at the root, ${words.above} below (i)`,
				false, (inverted) => app.change({ inverted }), "toggle-inverted"),
			toggle("Flame", "Roots at the bottom (f)", false, (up) => app.change({ up }),
				"toggle-up"),
			app.data.verdicts && app.data.header.palette !== "tachyon" &&
			toggle("Fold noise",
				"Merge paths that only one side has, unless certain, into one frame for each " +
				"above them",
				true, (noise) => app.setFold({ noise }), "toggle-noise"),
			hasImports(app.data) && toggle("Fold imports",
				"The machinery of an import in one frame, the interpreter's start-up too", true,
				(imports) => app.setFold({ imports }), "toggle-imports"),
			knowsCalls(app.data) && toggle("Call lines",
				"A frame for each line that calls a function, with that line (nothing is folded)",
				false, (calls) => app.change({ calls }), "toggle-calls"),
			toggle("Modules", "Show module names instead of file paths (m)", false,
				(on) => app.change({ names: on ? "module" : "path" }), "toggle-names")),
	].filter(Boolean));
	const isPhone = matchMedia(PHONE);
	isPhone.addEventListener("change", () => placeSwitches(isPhone.matches));
	placeSwitches(isPhone.matches);
	const fact = (name) => header.head.facts.find(([k]) => k === name)?.[1];
	const labels = [header.root, sideLabels(header)].filter(Boolean).join(" · ");
	const name = labels || fact("command") || fact("program") || " ";
	$("subtitle").textContent = showName(name).trim();
	$("subtitle").title = showName([header.base?.label, header.head.label].filter(Boolean)
		.join(" → "));
	new ResizeObserver(() => app.flame.picture && showCrumbs(app)).observe($("crumbs"));
}

// Titles of views that draw no flame graph.
const titles = {
	benchmarks: "Benchmarks", chart: "Flame chart", source: "Source", table: "Table",
	waits: "Waits", matches: "Matches",
};

const kinds = {
	code: {
		one: "Flame graph", diff: "Differential flame graph", base: "Base flame graph",
		head: "Head flame graph",
	},
	heap: { one: "Heap", diff: "Heap difference", base: "Base heap", head: "Head heap" },
};

function titleOf(app) {
	const { data, state } = app;
	const swapped = data.isSwapped ? ", swapped" : "";
	if (titles[state.tab]) return titles[state.tab] + swapped;
	const kind = (isHeap(data.header) ? kinds.heap : kinds.code)[data.isDiff ? state.show : "one"];
	return (state.inverted ? `Inverted ${kind[0].toLowerCase()}${kind.slice(1)}` : kind) + swapped;
}

export function showControls(app, what) {
	const { state } = app;
	$("title").textContent = titleOf(app);
	const names = [titleOf(app), $("subtitle").textContent].filter(Boolean);
	// A tab shows only a few letters, so begin with what differs between pages of one recording.
	document.title = (app.data.header.root ? names.reverse() : names).join(" · ");
	$("grid").setAttribute("aria-label", titleOf(app));
	pressSegment($("sides"), state.show);
	pressSegment($("tabs"), state.tab);
	for (const [tab] of views) {
		$(tab).hidden = state.tab !== tab;
		$("app").classList.toggle(`on-${tab}`, state.tab === tab);
	}
	const check = (id, on) => $(id)?.setAttribute("aria-checked", String(on));
	check("toggle-elided", app.model.isElided());
	check("toggle-inverted", state.inverted);
	check("toggle-up", state.up);
	check("toggle-noise", state.noise);
	check("toggle-imports", state.imports);
	check("toggle-calls", state.calls);
	const byLine = splitsCalls(app.model);
	for (const id of ["toggle-noise", "toggle-imports"])
		if ($(id)) $(id).hidden = state.inverted || byLine;
	if ($("toggle-calls")) $("toggle-calls").hidden = !canSplitCalls(app.model);
	check("toggle-names", state.names === "module");
	$("select-by").value = app.model.colourMode();
	if ($("select-layout")) {
		$("select-layout").value = state.layout;
		$("choice-layout").hidden = state.show !== "diff" || app.model.isElided();
	}
	if ($("toggle-elided")) $("toggle-elided").hidden = state.show !== "diff";
	if ($("query").value !== state.query) $("query").value = state.query;
	showLegend(app, what);
	showCrumbs(app);
	$("chips").replaceChildren(...chipsOf(app.model));
	showEmpty(app, what);
	if (state.tab === "flame") app.flame.settle();
	else if (state.tab === "chart") app.chart.update();
	else if (state.tab === "table") app.table.update(app.costs, what);
	else if (state.tab === "benchmarks") app.benchmarks.update();
	else if (state.tab === "matches") app.matches.update();
	else if (state.tab === "waits") app.waits.update();
	else if (state.tab === "source") app.source.update(app.model.middle(), what);
	else app.sandwich.update(app.model.upright(), app.model.middle(), what);
}

const READABLE = 60; // pixels of a cut name

// Does a crumb before the last one lack room for its name?
function isCramped(crumbs) {
	return Array.from(crumbs.querySelectorAll(".link:not(:last-child) .parts > :last-child"))
		.some((part) => part.clientWidth < Math.min(part.scrollWidth, READABLE));
}

export function showCrumbs(app) {
	const { tree } = app.flame.picture;
	const focus = app.flame.focus;
	const path = pathOf(tree, focus), nodes = [];
	for (let i = focus; i > 0; i = tree.parent[i]) nodes.unshift(i);
	const crumb = (text, to, title, kind = "link") =>
		el("button", { class: kind, title, onclick: () => app.zoomTo(to) },
			twoParts("crumb", splitName(text), text));
	const name = (i) => frameName(app.data, tree, i,
		showName(app.data.functions.names[tree.func[i]]));
	const step = (at, isFar) => crumb(name(nodes[at]), path.slice(0, at + 1),
		app.model.placeOf(functionOfStep(path[at])), isFar ? "link far" : "link");
	for (let n = Math.min(path.length, 3), isLast = false; !isLast; n--) {
		const from = path.length - n;
		$("crumbs").replaceChildren(crumb("All", [], "The whole picture (0)"),
			...path.slice(from).map((_, k) => step(from + k, from > 0 && k === 0)));
		isLast = n < 2 || !isCramped($("crumbs"));
	}
	$("crumbs").classList.toggle("zoomed", path.length > 0);
}

// The message if a side has no samples, or if nothing is drawn.
function emptyText(app, what) {
	const { base, head } = app.data.header;
	const noHead = app.data.isDiff && !(head.sum > 0), noBase = app.data.isDiff && !(base.sum > 0);
	if (noHead && noBase) return "Neither recording has samples.";
	if (app.flame.picture.all === 0 && what.widths === "delta" && what.all > 0)
		return "Nothing changed.";
	if (what.all > 0) {
		if (what.isDiff && noHead) return "No samples after: everything below is gone.";
		if (what.isDiff && noBase) return "No samples before: everything below is new.";
		return "";
	}
	if (noHead && what.side === HEAD)
		return "No samples after. Turn on Gone to see what was there before.";
	if (noBase && what.side === BASE) return "No samples before: everything is new.";
	const { threads } = app.state;
	if (app.flame.aside?.all > 0) return "Nothing of this is left after: all of it is gone.";
	if (choosesPaths(app.state) || app.state.range) return "No samples match these filters.";
	return `No samples to draw${threads ? " for these threads" : ""}.`;
}

function showEmpty(app, what) {
	const text = emptyText(app, what);
	$("empty").textContent = text;
	$("empty").hidden = !text;
	$("empty").classList.toggle("note", app.flame.picture.all > 0);
}

// Legend of hatched frames in the colour of a change.
const SUM = "certain only together with its other paths";

export function showLegend(app, what) {
	const { palette } = app.flame;
	const swatch = (classes, text, extra = "") =>
		el("span", { class: `key ${extra}` }, ...classes.map((c) => {
			const box = el("i", {
				class: { [NEW]: "new", [NEW_UNSURE]: "new unsure", [UNSURE]: "unsure",
					[MOVED]: "new", [REMOVED]: "removed" }[c] ?? (isTogether(c) ? "together" : ""),
			});
			box.style.color = linesOf(c, false, palette) ?? "";
			if (c === REMOVED) box.style.borderColor = palette.removed;
			if (c !== REMOVED || !palette.isHollow) box.style.backgroundColor = palette.fill[c];
			if (c === NEW) box.style.borderColor = palette.inkOf(c);
			if (c === NEW_UNSURE || c === MOVED) box.style.borderColor = palette.removed;
			return box;
		}), `${isTogether(classes.at(-1)) ? "" : glyphOf(classes.at(-1))} ${text}`.trim());
	const by = app.state.inverted ? "leaf self" : what.by === "total" ? "total" : "self";
	const isJudged = what.verdicts !== null, costs = noun(app.data.header);
	const hasMarks = what.by !== "self" && what.by !== "surprise" && !what.isTachyonPalette &&
		!app.state.inverted;
	const items = what.isDiff ? [
		swatch([0, 1, 2, 3].map((k) => MORE + k), oneWord(app.data.header, "slower")),
		swatch([0, 1, 2, 3].map((k) => LESS + k), oneWord(app.data.header, "faster")),
		swatch([SAME], isJudged ? "same" : "within 15 %"), isJudged && swatch([UNSURE], "unsure"),
		swatch(isJudged ? [NEW_UNSURE, NEW] : [NEW], "new"), swatch([REMOVED], "gone"),
		what.marks?.includes(1) && swatch([MOVED], "moved"),
		isJudged && (splitsCalls(app.model) || Object.values(what.verdicts).some(hasSums)) &&
			swatch([MORE + 1, LESS + 1, NEW].map(togetherOf), SUM),
		el("span", { class: "quiet" }, legendOf(what.by, costs, app.state.inverted) +
			(hasMarks ? "; underline = own change" : "")),
	] : [
		...heatSteps.map((from, k) => {
			const isEnd = k === 0 || k === heatSteps.length - 1;
			const text = k === 0 ? `< ${heatSteps[1] * 100} %` : isEnd ? `≥ ${from * 100} %` : "";
			return swatch([heatClass(from)], text, isEnd ? "joined end" : "joined");
		}),
		what.kinds?.includes(TASK_KIND) && swatch([TASK], "asyncio task"),
		el("span", { class: "quiet" },
			`share of ${by} ${costs}`,
			app.state.tab === "chart" && "; dotted edge = shorter frames in between"),
	];
	$("legend").replaceChildren(...items.filter(Boolean));
}
