// SPDX-License-Identifier: MIT
// Keyboard shortcuts: one table for the actions and for the help.
import { isHeap, wordsOfFrames } from "./cost_words.js";
import { el } from "./dom.js";
import { openHelp, scrollPage, toggleSidebar } from "./page_frame.js";
import { openSave, savePicture } from "./save.js";
import { hasChart } from "./strip_data.js";
import { hasWaits } from "./waits_data.js";

const inSource = ({ state }) => state.tab === "source";
const inFiles = (a) => inSource(a) && a.state.code === "files";
const inLines = (a) => inSource(a) && a.state.code !== "files";
const toggleTab = (a, tab) => a.set({ tab: a.state.tab === tab ? "flame" : tab });

const isDiff = ({ data }) => data.isDiff;
const inCode = ({ data }) => !isHeap(data.header);

// [keys, help, action, does this page have it? (default: yes)]. An upper-case letter means with
// Shift. In this order, the two columns of the help are equally long.
const groups = [
	["Move", [
		[["ArrowUp", "ArrowDown"], "the frame above, below", (a, k) => a.selection.move(k)],
		[["ArrowLeft", "ArrowRight"], "neighbour", (a, k) => a.selection.move(k)],
		[["Enter"], "zoom to the selected frame", (a) => a.selection.zoom()],
		[["ContextMenu", "Shift+F10"], "menu of the selected frame", (a) => a.selection.menu()],
		[["Backspace"], "back", (a) => a.trail.back()],
		[["Shift+Backspace"], "forward", (a) => a.trail.forward()],
		[["0", "Home"], "whole graph", (a) => a.whole()],
		[["+", "-"], "zoom in, out", (a, k) => a.moveWindow(k === "+" ? 1.5 : 1 / 1.5, 0)],
		[["Shift+ArrowLeft", "Shift+ArrowRight"], "pan",
			(a, k) => a.moveWindow(1, k === "Shift+ArrowRight" ? 1 : -1)],
		[["PageUp", "PageDown"], "scroll", (a, k) => scrollPage(a, k)],
	]],
	["Find", [
		[["/"], "search; in the list of files, filter", (a) => inFiles(a) ?
			a.source.files.filter.focus() : a.finder.focus()],
		[["r"], "search: text or regular expression",
			(a) => a.finder.setExpression(!a.state.regex)],
		[["n"], "next match; in the source, hot line", (a) => (inLines(a) ? a.source.jump(1) :
			a.finder.nextMatch(1))],
		[["N"], "previous match, hot line", (a) => (inLines(a) ? a.source.jump(-1) :
			a.finder.nextMatch(-1))],
		[["]"], "next change of the list", (a) => a.finder.nextChange(1), isDiff],
		[["["], "previous change of the list", (a) => a.finder.nextChange(-1), isDiff],
		[["Escape"], "clear search and selection", (a) => a.finder.clear()],
	]],
	["Page", [
		[["s"], "sidebar", (a) => toggleSidebar(a)],
		[["d"], "theme", (a) => a.theme.next()],
		[["S"], "save as a picture", openSave],
		[["v"], "save as SVG", (a) => savePicture(a, "svg")],
		[["p"], "save as PNG", (a) => savePicture(a, "png")],
		[["Y"], "copy the table's rows as TSV", (a) => a.copyTable("tsv")],
		[["C"], "copy the table's rows as CSV", (a) => a.copyTable("csv")],
		[["y"], "copy a link to this view", (a) => a.trail.copy()],
		[["?"], "this help", openHelp],
	]],
	["View", [
		[["t"], "table or flame graph", (a) => toggleTab(a, "table")],
		[["o"], "flame chart, over time", (a) => toggleTab(a, "chart"),
			({ data }) => hasChart(data)],
		[["g"], ({ one, above, below }) => `${above} and ${below} of the chosen ${one}`,
			(a) => a.openMiddle("sandwich")],
		[["l"], "source lines of the selected function", (a) => a.openMiddle("source"),
			inCode],
		[["L"], "source: files by cost", (a) => a.set({ tab: "source", code: "files" }, true),
			inCode],
		[["h"], "source: hot lines only", (a) => inLines(a) && a.set({ hot: !a.state.hot }),
			inCode],
		[["B"], "source: bytecode of every line", (a) => inLines(a) &&
			a.set({ ops: !a.state.ops }), ({ data }) => data.opcodes],
		[["k"], ({ many }) => `matches: renamed and moved ${many}`,
			(a) => toggleTab(a, "matches"), isDiff],
		[["W"], "waits: what threads waited for", (a) => toggleTab(a, "waits"),
			({ data }) => hasWaits(data)],
		[["f"], "flame or icicle", (a) => a.set({ up: !a.state.up })],
		[["i"], ({ above }) => `inverted: ${above}`, (a) => a.set({ inverted: !a.state.inverted })],
		[["c"], "next colour mode; in the source, self or total", (a) => (inSource(a) ?
			a.set({ lines: a.state.lines === "self" ? "total" : "self" }) : a.nextColour())],
		[["m"], "file paths or module names", (a) => a.set({
			names: a.state.names === "path" ? "module" : "path",
		})],
		[["1"], "before", (a) => a.set({ show: "base" }), isDiff],
		[["2"], "after", (a) => a.set({ show: "head" }), isDiff],
		[["3"], "change", (a) => a.set({ show: "diff" }), isDiff],
		[["e"], "only removed paths", (a) => a.toggleElided(),
			({ model }) => model.hasRemoved],
		[["w"], "next width: after, before, both, all change", (a) => a.nextLayout(), isDiff],
		[["b"], "flip between before and after", (a) => a.nextBlink(), isDiff],
		[["x"], "swap before and after", (a) => a.swap(), isDiff],
		[["T"], "next thread", (a) => a.nextThread(),
			({ data }) => data.cells && data.header.threads.length > 1],
	]],
];

// Help on pointers in the flame graph.
const handles = [
	["click", "zoom to a frame (or double click)"],
	["right button", "menu of a frame: copy, open, hide, only this"], ["drag", "pan"],
	["wheel", "scroll"], ["Ctrl wheel", "zoom around the pointer (or pinch)"],
	["Shift wheel", "pan"],
	["touch", "details and actions of a frame; twice to zoom"], ["two fingers", "zoom and pan"],
];

const keyNames = {
	ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→",
	"Shift+Backspace": "Shift Backspace", ContextMenu: "Menu", "Shift+F10": "Shift F10",
	"Shift+ArrowLeft": "Shift ←", "Shift+ArrowRight": "Shift →", Escape: "Esc", PageUp: "PgUp",
	PageDown: "PgDn",
};

function fillHelp(dialog, groupsHere, words) {
	dialog.replaceChildren(
		el("form", { method: "dialog" }, el("h2", { id: "help-title" }, "Keys"),
			el("button", { class: "icon", "aria-label": "Close" }, "×")),
		el("div", { class: "keys" },
			...groupsHere.map(([title, keys]) => el("section", {}, el("h3", {}, title),
				el("dl", {}, ...keys.flatMap(([names, help]) =>
					[el("dt", {}, ...names.map((k) => el("kbd", {}, keyNames[k] ?? k))),
						el("dd", {}, typeof help === "string" ? help : help(words))])))),
		el("section", {}, el("h3", {}, "Pointer"),
			el("dl", {},
				...handles.flatMap(([name, help]) => [el("dt", {}, name), el("dd", {}, help)])))));
}

export function bindKeys(app) {
	const here = groups.map(([title, keys]) =>
		[title, keys.filter(([, , , exists]) => !exists || exists(app))]);
	fillHelp(document.getElementById("help"), here, wordsOfFrames(app.data.header));
	const actions = new Map();
	for (const [, keys] of here)
		for (const [names, , action] of keys) for (const name of names) actions.set(name, action);
	document.addEventListener("keydown", (event) => {
		const target = event.target;
		if (target instanceof HTMLInputElement && target.type === "text") return;
		const typing = target instanceof HTMLInputElement && target.type === "search";
		if (event.ctrlKey || event.metaKey || event.altKey || target instanceof HTMLSelectElement ||
			document.querySelector("dialog[open]")) return;
		if (typing) {
			if (event.key === "Escape") app.finder.clear();
			else if (event.key === "Enter") app.finder.nextMatch(event.shiftKey ? -1 : 1);
			else return;
			event.preventDefault();
			return;
		}
		const name = event.shiftKey && actions.has(`Shift+${event.key}`) ? `Shift+${event.key}` :
			event.key;
		const action = actions.get(name);
		const onControl = target.closest?.("a, button, summary, input, #resizer, .scroller");
		if (!action || (onControl && /^(Enter|Arrow|Page|Home)/.test(name))) return;
		event.preventDefault();
		app.busy.during(() => action(app, name));
	});
}
