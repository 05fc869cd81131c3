// SPDX-License-Identifier: MIT
// The answer, over the whole width: did the run change, by how much, how sure is that, and how many
// functions did. A number leads to its functions, the largest change first.
import { largestChange, nameOfChange, sayChange } from "./changes.js";
import { benchmarkBand } from "./benchmark_parts.js";
import { manyWord, oneWord } from "./cost_words.js";
import { dotted, el, twoParts } from "./dom.js";
import {
	compare, formatChange, formatPair, formatPercentChange, formatShare, formatValue, metricName,
} from "./format.js";
import { splitName } from "./labels.js";

const glyphs = { slower: "▲", faster: "▼", new: "+", gone: "−" };
const runWords = {
	same: "The run is the same", unknown: "Unsure whether the run changed",
};

function runHeadline({ header, factor }) {
	const v = header.verdict;
	const isSure = v.word === "slower" || v.word === "faster";
	// Of parts of running programs nobody asks whether the run changed.
	const words = v.reason === "windows only" ? v.text : runWords[v.word] ?? v.text;
	const text = !isSure ? words :
		`${formatShare(Math.abs(v.change_pct) / 100)} ${oneWord(header, v.word)}`;
	const { delta } = compare(header.base.sum, header.head.sum, factor);
	return el("strong", { class: isSure ? (delta > 0 ? "more" : "less") : "" }, text);
}

function runCosts({ header, unit }) {
	const what = `${formatValue(header.base.sum, unit)} → ${formatValue(header.head.sum, unit)}`;
	const metric = unit === "count" ? header.metric :
		header.metric !== unit && `of ${metricName(header)}`;
	return [what, metric, header.per_run && "a run"].filter(Boolean).join(" ");
}

// How sure it is; of a run of which nothing can be told, what can be told of a function.
function certainty(data, found) {
	const { header } = data;
	const { low, high, word } = header.verdict;
	const runs = [header.base.runs, header.head.runs];
	const many = Math.max(...runs) > 1 ?
		`${runs[0] === runs[1] ? runs[0] : runs.join(" and ")} runs a side` :
		header.scale.mode === "window" ? "one range of time a side" : "one run a side";
	const first = largestChange(found);
	const between = low !== null && high !== null &&
		`between ${formatPercentChange(low / 100)} and ${formatPercentChange(high / 100)}`;
	const certain = word !== "slower" && word !== "faster" && first &&
		`certain: ${sayChange(data, first)}`;
	return [between, certain, many];
}

const LISTED = 6; // functions of a line
const LEADING = 3; // functions where the list has no room

// What changed, a line each for a group (changes.js): for what has no list beside it.
export function changeLines({ data }, found) {
	return Object.entries(found).filter(([, list]) => list.length).map(([g, list]) => {
		const rest = list.length - LISTED;
		const words = list.slice(0, LISTED).map((entry) => sayChange(data, entry));
		if (rest > 0) words.push(`and ${rest} more`);
		return `${glyphs[g]} ${manyWord(data.header, g)}: ${words.join(", ")}`;
	});
}

export class Band {
	constructor(model, box, list) {
		this.model = model;
		this.box = box;
		this.list = list;
		this.last = {}; // function that a group's number has led to
	}

	// found: what changes.js says; null: nothing was judged.
	update(found) {
		const { data } = this.model;
		const bench = benchmarkBand(this.model);
		this.box.hidden = !found && !bench;
		this.lead(bench?.isList ? [] : Object.entries(found ?? {}));
		this.lines = found ? changeLines(this.model, found) : [];
		document.getElementById("changes")
			.replaceChildren(...this.lines.map((text) => el("p", {}, text)));
		if (this.box.hidden) return;
		const chips = found && !bench?.isList ?
			Object.entries(found).filter(([, list]) => list.length)
				.map(([g, list]) => this.chip(g, list)) : [];
		const none = found && !bench && !chips.length &&
			el("span", { class: "quiet" }, "no function certainly changed");
		const lines = bench?.lines ??
			[dotted("answer", runHeadline(data), runCosts(data)),
				dotted("quiet", ...certainty(data, found))];
		this.box.replaceChildren(el("div", {}, ...lines),
			el("div", { class: "chips" }, ...[...chips, none, bench?.back].filter(Boolean)));
	}

	// The first of all, a line each: seen where the sidebar, which lists them, is not.
	lead(groups) {
		const { data, acts } = this.model;
		const first = groups.flatMap(([g, list]) => list.map((entry) => [g, entry]))
			.slice(0, LEADING);
		const items = first.map(([g, entry]) => el("li", {}, el("button", {
			onclick: () => acts.goToChange(entry),
		},
			`${glyphs[g]} `, twoParts("what", splitName(nameOfChange(data, entry))),
			el("span", { class: "quiet" }, formatPair(entry.change, data.unit)),
			el("span", { class: `much ${entry.change.delta > 0 ? "more" : "less"}` },
				formatChange(entry.change.delta, data.unit)))));
		this.list.hidden = !items.length;
		this.list.replaceChildren(...items);
	}

	// Each press goes to the next one.
	chip(group, list) {
		const next = () => {
			const at = list.findIndex(({ f }) => f === this.last[group]) + 1;
			this.last[group] = list[at % list.length].f;
			this.model.acts.goToChange(list[at % list.length]);
		};
		return el("button", {
			class: `chip ${group}`, onclick: next,
			title: "Go to each of these, the largest change first",
		},
			`${glyphs[group]} ${list.length} ${manyWord(this.model.data.header, group)}`);
	}
}
