// SPDX-License-Identifier: MIT
// Filters and changes that apply to the picture, as chips beside it: a click on a chip removes one.
import { el } from "./dom.js";
import { verdictFilters } from "./filters.js";
import { formatValue, plural } from "./format.js";
import { showName } from "./labels.js";
import { edgeOf } from "./strip_data.js";

function some(names, noun) {
	return names.length === 1 ? names[0] : plural(names.length, noun);
}

export function chipsOf(model) {
	const { state, data } = model;
	const { threads } = data.header;
	const chips = [];
	const nameOf = (f) => showName(data.functions.names[f]);
	const add = (text, takeBack) =>
		chips.push(el("button", { class: "chip", title: "Remove", onclick: takeBack }, text,
			el("span", { "aria-hidden": "true" }, " ×")));
	if (state.threads)
		add(some(threads.filter((_, i) => state.threads[i]).map((t) => t.label), "thread"),
			() => model.acts.set({ threads: null }));
	if (state.range)
		add(state.range.map((i) => formatValue(edgeOf(data.time, i), "ns")).join(" to "),
			() => model.acts.set({ range: null }));
	if (state.modules) add(some(state.modules, "module"), () => model.acts.set({ modules: null }));
	if (state.verdict)
		add(verdictFilters(data).find(([value]) => value === state.verdict)[1],
			() => model.acts.set({ verdict: "" }));
	if (state.only >= 0)
		add(`only ${nameOf(state.only)}`, () => model.acts.set({ only: -1 }));
	if (state.without.length)
		add(`without ${some(state.without.map(nameOf), "function")}`,
			() => model.acts.set({ without: [] }));
	if (state.own) add("own code only", () => model.acts.set({ own: false }));
	if (state.rules.length) add(plural(state.rules.length, "rule"), () => model.acts.setRules([]));
	return chips;
}
