// SPDX-License-Identifier: MIT
// What changed between two time ranges, from a diff as JSON (docs/diff-json.md): the number of
// functions with a certain change, and a row for each.
import { manyWord, oneWord, verdictOn } from "./cost_words.js";
import { el } from "./dom.js";
import { formatCount, formatPercentChange, formatShare } from "./format.js";

const LISTED = 200;
const kinds = [["slower", "▲", "more"], ["faster", "▼", "less"], ["new", "+", "new"],
	["gone", "−", "quiet"]];

function kindOf(f) {
	return f.state === "new" ? "new" : f.state === "removed" ? "gone" :
		verdictOn(f.diff_self);
}

// Functions whose own cost changed; callers of changed functions are not listed.
function changedOf({ functions }) {
	return functions.filter((f) => f.self_verdict === "changed")
		.sort((a, b) => Math.abs(b.diff_self) - Math.abs(a.diff_self));
}

function headline(answer, changed) {
	const { verdict } = answer;
	if (verdict.method === "none") return el("p", { class: "answer" }, verdict.text);
	const counts = kinds.map(([kind, glyph, color]) => {
		const n = changed.filter((f) => kindOf(f) === kind).length;
		return n > 0 && el("span", { class: color }, 
			`${glyph} ${formatCount(n)} ${manyWord(answer, kind)}`);
	});
	return el("p", { class: "answer" },
		...(changed.length ? counts : ["No function certainly changed"]));
}

function row(answer, f) {
	const kind = kindOf(f);
	const [, glyph, color] = kinds.find(([name]) => name === kind);
	const expected = answer.scale.factor * f.base_self;
	const part = (v) => (expected > 0 && v !== null ? formatPercentChange(v / expected) : null);
	const [change, low, high] = [f.diff_self, f.self_low, f.self_high].map(part);
	return el("tr", {},
		el("td", { class: color }, `${glyph} ${f.word ?? oneWord(answer, kind)}`),
		el("td", { class: "name" }, f.name, f.file && el("small", {}, f.file)),
		el("td", { class: color }, change ?? "–"),
		el("td", { class: "quiet" }, low && high ? `${low} to ${high}` : ""),
		el("td", {}, formatShare(f.base_self / answer.base.total)),
		el("td", {}, formatShare(f.head_self / answer.head.total)));
}

function table(answer, changed) {
	if (!changed.length) return null;
	const titles = ["Verdict", "Function", "Change", "Interval", "Before", "After"];
	const more = changed.length - LISTED;
	return el("div", {
		class: "wide", tabindex: "0", role: "region", "aria-label": "Changed functions",
	},
		el("table", {},
			el("thead", {}, el("tr", {}, ...titles.map((title) => el("th", {}, title)))),
			el("tbody", {}, ...changed.slice(0, LISTED).map((f) => row(answer, f)))),
		more > 0 &&
			el("p", { class: "quiet" }, `and ${formatCount(more)} more, in the flame graph`));
}

// page: the URL of the flame graph of the same two ranges.
export function showChanges(box, answer, page) {
	const changed = changedOf(answer);
	const seen = ["base", "head"].map((side) => answer[side].facts.fleet);
	const parts = [headline(answer, changed),
		answer.verdict.method === "none" && el("p", {},
			"Too little data to know how much costs vary on their own: " +
			"choose longer ranges or more hosts."),
		el("p", { class: "quiet" },
			`Self costs as shares of the total. Before: ${seen[0]}. After: ${seen[1]}.`),
		answer.verdict.power && el("p", { class: "quiet" }, answer.verdict.power),
		...answer.warnings.map((text) => el("p", {}, text)),
		el("div", { class: "acts" },
			el("a", { class: "button", href: page }, "Flame graph of both ranges")),
		table(answer, changed)];
	box.replaceChildren(...parts.filter(Boolean));
}
