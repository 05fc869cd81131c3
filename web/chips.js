// SPDX-License-Identifier: MIT
// What the picture leaves out or has changed, beside it: each chip takes one thing back.
import { el } from "./dom.js";
import { verdictFilters } from "./filters.js";
import { plural } from "./format.js";

function some(names, noun) {
	return names.length === 1 ? names[0] : plural(names.length, noun);
}

export function chipsOf(app) {
	const { state, data } = app;
	const { threads } = data.header;
	const chips = [];
	const add = (text, takeBack) => chips.push(el("button", { class: "chip", title: "Take back", onclick: takeBack }, text, el("span", { "aria-hidden": "true" }, " ×")));
	if (state.threads) add(some(threads.filter((_, i) => state.threads[i]).map((t) => t.label), "thread"), () => app.set({ threads: null }));
	if (state.modules) add(some(state.modules, "module"), () => app.set({ modules: null }));
	if (state.verdict) add(verdictFilters.find(([value]) => value === state.verdict)[1], () => app.set({ verdict: "" }));
	if (state.rules.length) add(plural(state.rules.length, "rule"), () => app.setRules([]));
	return chips;
}
