// SPDX-License-Identifier: MIT
// The answer, over the whole width: did the run change, by how much, how sure is that, and how many
// functions did. A number leads to its functions, the largest change first.
import { groups } from "./changes.js";
import { el } from "./dom.js";
import { compare, formatChange, formatPercentChange, formatShare, formatValue, metricName } from "./format.js";
import { showName } from "./labels.js";

const glyphs = { slower: "▲", faster: "▼", new: "+", gone: "−" };
const runWords = { slower: "slower", faster: "faster", same: "No change that matters", unknown: "Cannot tell whether the run changed" };

function runHeadline({ header, factor }) {
	const v = header.verdict;
	const isSure = v.word === "slower" || v.word === "faster";
	const text = isSure ? `${formatShare(Math.abs(v.change_pct) / 100)} ${runWords[v.word]}` : runWords[v.word] ?? v.text;
	const { delta } = compare(header.base.sum, header.head.sum, factor);
	return el("strong", { class: isSure ? (delta > 0 ? "more" : "less") : "" }, text);
}

function runCosts({ header, unit }) {
	const what = `${formatValue(header.base.sum, unit)} → ${formatValue(header.head.sum, unit)}`;
	const metric = unit === "ns" ? `of ${metricName(header)}` : header.metric;
	return [what, metric, header.per_run && "a run"].filter(Boolean).join(" ");
}

// How sure it is; of a run of which nothing can be told, what can be told of a function.
function certainty({ header, functions, unit }, found) {
	const { low, high, word } = header.verdict;
	const runs = [header.base.runs, header.head.runs];
	const many = Math.max(...runs) > 1 ? `${runs[0] === runs[1] ? runs[0] : runs.join(" and ")} runs a side` : "one run a side";
	const first = [...found.slower, ...found.faster, ...found.new, ...found.gone][0];
	const between = low !== null && high !== null && `between ${formatPercentChange(low / 100)} and ${formatPercentChange(high / 100)}`;
	const certain = word !== "slower" && word !== "faster" && first &&
		`certain: ${showName(functions.names[first.f])} ${formatChange(first.change.delta, unit)}`;
	return [between, certain, many].filter(Boolean).join(" · ");
}

export class Band {
	constructor(app, box) {
		this.app = app;
		this.box = box;
		this.last = {}; // function that a group's number has led to
	}

	// found: what changes.js says; null: nothing was judged.
	update(found) {
		const { data } = this.app;
		this.box.hidden = !found;
		if (!found) return;
		const chips = groups.filter((g) => found[g].length).map((g) => this.chip(g, found[g]));
		this.box.replaceChildren(
			el("div", {}, el("p", { class: "answer" }, runHeadline(data), el("span", {}, ` · ${runCosts(data)}`)),
				el("p", { class: "quiet" }, certainty(data, found))),
			el("div", { class: "chips" }, ...(chips.length ? chips : [el("span", { class: "quiet" }, "no function certainly changed")])));
	}

	// Each press goes to the next one.
	chip(group, list) {
		const next = () => {
			const at = list.findIndex(({ f }) => f === this.last[group]) + 1;
			this.last[group] = list[at % list.length].f;
			this.app.finder.findFunction(this.last[group]);
		};
		return el("button", { class: `chip ${group}`, onclick: next, title: `Go to what is ${group}, the largest change first` },
			`${glyphs[group]} ${list.length} ${group}`);
	}
}
