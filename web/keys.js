// SPDX-License-Identifier: MIT
// Keys: one table for what they do and for the help that lists them.
import { el } from "./dom.js";
import { openHelp, scrollPage, toggleSidebar } from "./furniture.js";
import { openSave, savePicture } from "./save.js";

// [keys, help, action, only in a diff]. A key with an upper-case letter means with Shift.
const groups = [
	["Move", [
		[["ArrowUp", "ArrowDown"], "the frame above, below", (a, k) => a.selection.move(k)],
		[["ArrowLeft", "ArrowRight"], "neighbour", (a, k) => a.selection.move(k)],
		[["Enter"], "zoom to the selected frame", (a) => a.selection.zoom()],
		[["Backspace"], "back", (a) => a.trail.back()],
		[["Shift+Backspace"], "forward", (a) => a.trail.forward()],
		[["0", "Home"], "whole picture", (a) => a.zoomTo([])],
		[["PageUp", "PageDown"], "scroll", (a, k) => scrollPage(a, k)],
	]],
	["Find", [
		[["/"], "search", (a) => a.finder.focus()],
		[["n"], "next match", (a) => a.finder.nextMatch(1)],
		[["N"], "previous match", (a) => a.finder.nextMatch(-1)],
		[["]"], "next change, the most certain first", (a) => a.finder.nextChange(1), true],
		[["["], "previous change", (a) => a.finder.nextChange(-1), true],
		[["Escape"], "clear search and selection", (a) => a.finder.clear()],
	]],
	["View", [
		[["t"], "table or flame graph", (a) => a.set({ tab: a.state.tab === "table" ? "flame" : "table" })],
		[["g"], "sandwich: callers and callees of the selected function", (a) => a.openMiddle("sandwich")],
		[["l"], "source lines of the selected function", (a) => a.openMiddle("source")],
		[["k"], "matches: functions taken for one another", (a) => a.set({ tab: a.state.tab === "matches" ? "flame" : "matches" }), true],
		[["f"], "flame or icicle", (a) => a.set({ up: !a.state.up })],
		[["i"], "inverted: callers", (a) => a.set({ inverted: !a.state.inverted })],
		[["c"], "next meaning of colour", (a) => a.nextColour()],
		[["m"], "file paths or module names", (a) => a.set({ names: a.state.names === "path" ? "module" : "path" })],
		[["1"], "base", (a) => a.set({ show: "base" }), true],
		[["2"], "head", (a) => a.set({ show: "head" }), true],
		[["3"], "diff", (a) => a.set({ show: "diff" }), true],
		[["e"], "elided: only what was removed", (a) => a.toggleElided(), true],
		[["w"], "next layout: widths of head, base, both, change", (a) => a.nextLayout(), true],
		[["b"], "before, after, in the same places", (a) => a.nextBlink(), true],
		[["x"], "swap before and after", (a) => a.swap(), true],
		[["T"], "next thread", (a) => a.nextThread()],
	]],
	["Page", [
		[["s"], "sidebar", (a) => toggleSidebar(a)],
		[["d"], "theme", (a) => a.theme.next()],
		[["S"], "save as a picture", openSave],
		[["v"], "save as SVG", (a) => savePicture(a, "svg")],
		[["p"], "save as PNG", (a) => savePicture(a, "png")],
		[["Y"], "copy the table's rows as TSV", (a) => a.copyTable()],
		[["y"], "copy a link to this view", (a) => a.trail.copy()],
		[["?"], "this help", openHelp],
	]],
];

const keyNames = {
	ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→",
	"Shift+Backspace": "Shift Backspace", Escape: "Esc", PageUp: "PgUp", PageDown: "PgDn",
};

function fillHelp(dialog, isDiff) {
	dialog.replaceChildren(
		el("form", { method: "dialog" }, el("h2", { id: "help-title" }, "Keys"), el("button", { class: "icon", "aria-label": "Close" }, "×")),
		el("div", { class: "keys" }, ...groups.map(([title, keys]) => el("section", {}, el("h3", {}, title),
			el("dl", {}, ...keys.filter(([, , , diffOnly]) => isDiff || !diffOnly).flatMap(([names, help]) =>
				[el("dt", {}, ...names.map((k) => el("kbd", {}, keyNames[k] ?? k))), el("dd", {}, help)]))))));
}

export function bindKeys(app, isDiff) {
	fillHelp(document.getElementById("help"), isDiff);
	const actions = new Map();
	for (const [, keys] of groups)
		for (const [names, , action, diffOnly] of keys)
			if (isDiff || !diffOnly) for (const name of names) actions.set(name, action);
	document.addEventListener("keydown", (event) => {
		const target = event.target;
		if (target instanceof HTMLInputElement && target.type === "text") return;
		const typing = target instanceof HTMLInputElement && target.type === "search";
		if (event.ctrlKey || event.metaKey || event.altKey || target instanceof HTMLSelectElement || document.querySelector("dialog[open]")) return;
		if (typing) {
			if (event.key === "Escape") app.finder.clear();
			else if (event.key === "Enter") app.finder.nextMatch(event.shiftKey ? -1 : 1);
			else return;
			event.preventDefault();
			return;
		}
		const name = event.shiftKey && event.key === "Backspace" ? "Shift+Backspace" : event.key;
		const action = actions.get(name);
		const onControl = target.closest?.("button, summary, input, #resizer, .scroller");
		if (!action || (onControl && /^(Enter|Arrow|Page|Home)/.test(name))) return;
		event.preventDefault();
		action(app, name);
	});
}
