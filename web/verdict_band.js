// SPDX-License-Identifier: MIT
// The verdict across the full width: whether the run changed, by how much, how certain that is, and
// how many functions changed. Each number leads to its functions, largest change first.
import {
	isScript, largestChange, mostOfRun, nameOfChange, sayChange,
} from "./listed_changes.js";
import { benchmarkBand } from "./benchmark_parts.js";
import { manyWord, oneWord, wordsOfFrames } from "./cost_words.js";
import { MARKER_KIND } from "./data.js";
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
	// Shares and parts of running programs have no verdict on a whole run.
	const words = v.reason?.endsWith(" only") ? v.text : runWords[v.word] ?? v.text;
	const text = !isSure ? words :
		`${formatShare(Math.abs(v.change_pct) / 100)} ${oneWord(header, v.word)}`;
	const { delta } = compare(header.base.sum, header.head.sum, factor);
	return el("strong", { class: isSure ? (delta > 0 ? "more" : "less") : "" }, text);
}

function runCosts({ header, unit }) {
	const what = `${formatValue(header.base.sum, unit)} → ${formatValue(header.head.sum, unit)}`;
	const metric = unit === "count" ? header.metric :
		header.metric !== unit && `of ${metricName(header)}`;
	return [what, metric, header.per_run && "per run"].filter(Boolean).join(" ");
}

const filtered = (found, keep) => Object.fromEntries(Object.entries(found)
	.map(([group, list]) => [group, list.filter(keep)]));

// The function with most of the run's change: {entry, words}; null if none is certain. For a script
// (listed_changes.js) the function with most of its change.
function culpritOf({ data, costs }, found) {
	const { header: { base, head, verdict }, factor } = data;
	if (verdict.word !== "slower" && verdict.word !== "faster") return null;
	const { delta } = compare(base.sum, head.sum, factor);
	// Entries that are not code (<GC>) are named only if they have most of it.
	const says = ({ f, change }) =>
		data.functions.kind[f] !== MARKER_KIND || change.delta / delta >= MOSTLY;
	const most = mostOfRun(filtered(found, says), verdict.word);
	if (!most) return null;
	const { entry: listed } = most, { of: { tree }, ofLeaf } = listed;
	const isNamed = isScript(data, tree, costs, listed.f) &&
		ofLeaf?.change.delta / listed.change.delta >= MOSTLY;
	const entry = isNamed ? ofLeaf : listed, part = isNamed ? entry.change.delta : most.net;
	return { entry, words: part / delta >= MOSTLY ? "mostly" : "most in" };
}

// Certainty of the verdict; for a run without a certain change, the largest certain one.
function certainty(data, found) {
	const { header } = data;
	const { low, high, word } = header.verdict;
	const runs = [header.base.runs, header.head.runs];
	const many = Math.max(...runs) > 1 ?
		`${runs[0] === runs[1] ? runs[0] : runs.join(" and ")} runs per side` :
		header.scale.mode === "window" ? "one time range per side" : "one run per side";
	const isCode = ({ f }) => data.functions.kind[f] !== MARKER_KIND;
	const first = largestChange(filtered(found, isCode)) ?? largestChange(found);
	const between = low !== null && high !== null &&
		`between ${formatPercentChange(low / 100)} and ${formatPercentChange(high / 100)}`;
	const certain = word !== "slower" && word !== "faster" && first &&
		`certain: ${sayChange(data, first)}`;
	return [between, certain, many];
}

const MOSTLY = 0.5; // part of a change
const LISTED = 6; // functions per line
const LEADING = 3; // functions if there is no room for the list

// Changes, one line per group (listed_changes.js), shown if there is no list.
function changeLines({ data }, found) {
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
		this.last = {}; // function last reached by a group's number
	}

	// found: result of listed_changes.js; null: nothing was judged.
	update(found) {
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
			el("span", { class: "quiet" },
				`no ${wordsOfFrames(this.model.data.header).one} certainly changed`);
		const lines = bench?.lines ??
			this.answer(found);
		this.box.replaceChildren(el("div", {}, ...lines),
			el("div", { class: "chips" }, ...[...chips, none, bench?.back].filter(Boolean)));
	}

	// Show the verdict and the function with most of the change; in a second line its
	// certainty.
	answer(found) {
		const { data, acts } = this.model;
		const verdict = runHeadline(data), costs = runCosts(data);
		const culprit = found && culpritOf(this.model, found);
		if (!culprit)
			return [dotted("answer", verdict, costs), dotted("quiet", ...certainty(data, found))];
		const { entry, words } = culprit;
		const headline = el("span", {}, verdict, `, ${words} `, el("button", {
			class: "culprit", title: "Show in the flame graph",
			onclick: () => acts.goToChange(entry),
		}, nameOfChange(data, entry), " ", el("span", { class: "place" },
			entry.isImport ? "" : this.model.shortPlaceOf(entry.f))));
		return [dotted("answer", headline), dotted("quiet", costs, ...certainty(data, found))];
	}

	// Show the largest changes, one line each: visible where the sidebar, which lists them, is
	// not.
	lead(groups) {
		const { data, acts } = this.model;
		const first = groups.flatMap(([g, list]) => list.map((entry) => [g, entry]))
			.slice(0, LEADING);
		const named = (entry, name = nameOfChange(data, entry)) =>
			twoParts("what", splitName(name), name);
		const items = first.map(([g, entry]) => el("li", {}, el("button", {
			onclick: () => acts.goToChange(entry),
		},
			`${glyphs[g]} `, named(entry),
			el("span", { class: "quiet" }, formatPair(entry.change, data.unit)),
			el("span", { class: `much ${entry.change.delta > 0 ? "more" : "less"}` },
				formatChange(entry.change.delta, data.unit)))));
		this.list.hidden = !items.length;
		this.list.replaceChildren(el("ol", {}, ...items));
	}

	// Each press goes to the next function.
	chip(group, list) {
		const next = () => {
			const at = list.findIndex(({ f }) => f === this.last[group]) + 1;
			this.last[group] = list[at % list.length].f;
			this.model.acts.goToChange(list[at % list.length]);
		};
		return el("button", {
			class: `chip ${group}`, onclick: next,
			title: "Step through these, largest change first",
		},
			`${glyphs[group]} ${list.length} ${manyWord(this.model.data.header, group)}`);
	}
}
