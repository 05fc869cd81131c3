// SPDX-License-Identifier: MIT
// The marks of lines: costs for a recording, changes for a comparison.
//
//   {line, lines, kind, text, hover}      lines from 1; kind: h1..h8, m1..m4 more, l1..l4 less,
//                                         "unsure", "note" for text without a colour
"use strict";
const { changeStep, formatChange, formatShare, formatValue, heatStep } = require("./format.js");

const most = (values) => values.reduce((a, b) => Math.max(a, b), 0);

function heatMarks(report, file, cost) {
	const hottest = most(report.files.flatMap((f) => f.lines.map((line) => line[cost])));
	const value = (v) => `${formatValue(v, report.unit)} (${formatShare(v / report.head.total)})`;
	return file.lines.filter((line) => line[cost] > 0).map((line) => ({
		line: line.line, lines: 1, kind: `h${heatStep(line[cost], hottest)}`,
		text: `${formatValue(line[cost], report.unit)} · ${formatShare(line[cost] / report.head.total)}`,
		hover: `self ${value(line.self)}, total ${value(line.total)}, of ${report.metric}`,
	}));
}

// A place's change is certain only if its function's own cost changed significantly and in the same
// direction: single lines are not judged.
function isCertain(report, place) {
	if (place.verdict !== "changed" || place.function === undefined) return false;
	return Math.sign(place.diff_self) === Math.sign(report.functions[place.function].diff_self);
}

function changeWords(report, { base_lines: before, lines: after, base_self, head_self, diff_self }, sure) {
	const change = `${formatChange(diff_self, report.unit)}${sure ? "" : " ?"}`;
	const pair = `${formatValue(base_self, report.unit)} → ${formatValue(head_self, report.unit)}`;
	const lines = (n) => `${n} line${n === 1 ? "" : "s"}`;
	if (!after) return [`${change} · ${lines(before)} gone`, pair];
	if (!before) return [`${change} · new`, pair];
	return [before === 1 && after === 1 && diff_self !== 0 ? change : `${change} · ${lines(after)} for ${lines(before)}`, pair];
}

function changeHover(report, place, pair, sure) {
	const f = report.functions[place.function];
	const factor = report.scale.factor === 1 ? "" :
		`, expected ${formatValue(place.base_self * report.scale.factor, report.unit)}`;
	const word = !f ? "" : f.verdict === "changed" ?
		` ${f.name} certainly ${f.diff_self > 0 ? "costs more" : "costs less"} itself` +
			`${sure ? "" : ", this line the other way"}; single lines are not judged.` :
		` The change of ${f.name} may be noise.`;
	return `self ${pair}${factor}.${word}`;
}

function changeMarks(report, file) {
	const fileNumber = report.files.indexOf(file);
	const shown = (file.places ?? []).filter((place) => place.verdict !== "unchanged" && place.diff_self !== 0);
	const largest = most(report.files.flatMap((f) => f.places ?? []).filter((p) => isCertain(report, p))
		.map((p) => Math.abs(p.diff_self)));
	const marks = shown.map((place) => {
		const sure = isCertain(report, place), step = changeStep(place.diff_self, largest);
		const [text, pair] = changeWords(report, place, sure);
		const colour = !sure ? "unsure" : step > 0 ? `m${step}` : `l${-step}`;
		return {
			line: place.line, lines: Math.max(place.lines, 1), kind: place.lines ? colour : "note", text,
			hover: changeHover(report, place, pair, sure),
		};
	});
	for (const f of report.functions)
		if (f.file === fileNumber && f.verdict === "changed" && f.state !== "removed" && f.line > 0)
			marks.push({
				line: f.line, lines: 1, kind: "note",
				text: `${f.diff_self > 0 ? "▲" : "▼"} ${f.name}: ${formatChange(f.diff_self, report.unit)}`,
				hover: `${f.name}: self ${formatValue(f.base_self, report.unit)} → ${formatValue(f.head_self, report.unit)}, certain.`,
			});
	return marks;
}

// A report of either kind.
const marksOf = (report, file, cost) =>
	(report.kind === "diff-lines" ? changeMarks(report, file) : heatMarks(report, file, cost));

module.exports = { marksOf };
