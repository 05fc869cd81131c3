// SPDX-License-Identifier: MIT
// Cost of the source lines of a function, and the line that explains a frame.
//
//   stored text of both sides --aligned--> rows [{a, b, self, total}], a before, b after
//
// A line's total counts every sample that passes through it, callees included, once. Lines are of
// the whole recording: filters and zooms do not change them.
import { alignmentKey, BASE, HEAD } from "./data.js";
import { CHANGED } from "./colors.js";
import { compare } from "./format.js";
import { linePairs, swappedRuns } from "./line_pairs.js";
import { functionCosts, straightTree } from "./tree.js";

const AROUND = 3; // lines shown around those that cost something
const CONTEXT = 40; // lines taken around those, as far as the page has them
const BODY = 400; // lines of a function that is counted as a whole
const FEW_SAMPLES = 36; // fewer are too few for percentages

// Costs of a function's lines on one side: number -> {self, total}.
export function lineCosts({ lines }, f, side) {
	const costs = new Map();
	for (let i = lines.first[f]; i < lines.end[f]; i++) {
		const self = lines.self[side][i], total = lines.total[side][i];
		if (self > 0 || total > 0) costs.set(lines.number[i], { self, total });
	}
	return costs;
}

// Number of samples in a cost; Infinity if costs are counted.
function sampleCount({ header, unit }, side, cost) {
	const { counted, samples, sum } = header[side === BASE ? "base" : "head"] ?? {};
	if (counted || (unit === "count" && header.metric !== "samples")) return Infinity;
	return sum > 0 ? (cost / sum) * samples : 0;
}

export const isFew = (data, side, cost) => sampleCount(data, side, cost) < FEW_SAMPLES;

const none = { self: 0, total: 0 };

// Is a function's cost only known as a whole, on its first line, as in counted recordings?
export function isWhole({ header, functions, lines, unit }, f) {
	const end = lines.end[f];
	return unit !== "ns" && header.metric !== "samples" && end === lines.first[f] + 1 &&
		lines.number[end - 1] === functions.line[f];
}

// Stored lines near a function on one side: [{number, text, self, total}].
function storedLines(data, f, side, around) {
	const { functions, chunks } = data;
	const source = functions.source[side][f];
	const stored = source ? chunks[source - 1] ?? [] : [];
	const costs = lineCosts(data, f, side);
	// The page has first lines only of the head, or of the base if the head lacks the function.
	const begins = side === HEAD || !functions.ran[HEAD][f] || !costs.size;
	const numbers = [...costs.keys(), ...(begins ? [functions.line[f]] : [])];
	const first = Math.min(...numbers) - around;
	const last = Math.max(...numbers) + (isWhole(data, f) ? BODY : around);
	return stored.flatMap(({ start, lines }) => lines.map((text, k) => ({
		number: start + k, text: text.trimEnd(), ...(costs.get(start + k) ?? none),
	}))).filter(({ number }) => number >= first && number <= last);
}

export const rowOf = (data, a, b) => ({
	a, b,
	self: compare(a?.self ?? 0, b?.self ?? 0, data.factor),
	total: compare(a?.total ?? 0, b?.total ?? 0, data.factor),
});

// Numbers of the lines of both versions in pairs, 0 if one has none. Without an alignment, both
// have the same text or only one version exists.
function numberPairs(data, f, before, after) {
	const { alignments: { runs, of }, isSwapped, functions } = data;
	const found = of.get(alignmentKey(functions, f, isSwapped));
	if (found)
		return linePairs(isSwapped ? swappedRuns(runs) : runs, found.at, found.n,
			isSwapped ? [...found.first].reverse() : found.first);
	const isSame = functions.source[BASE][f] === functions.source[HEAD][f];
	if (!isSame) return [...[...before.keys()].map((n) => [n, 0]),
		...[...after.keys()].map((n) => [0, n])];
	return [...new Set([...before.keys(), ...after.keys()])].sort((a, b) => a - b)
		.map((n) => [n, n]);
}

const linesNear = (data, f) => [BASE, HEAD].map((side) =>
	new Map(storedLines(data, f, side, CONTEXT).map((line) => [line.number, line])));

// The same as numbers, 0 if a side has none.
export function alignedNumbers(data, f) {
	const lines = linesNear(data, f);
	return numberPairs(data, f, ...lines)
		.filter((numbers) => numbers.some((number, side) => lines[side].has(number)));
}

// Pairs of lines in order, null if a side has none. The page may have only one version of a line
// that both sides have: the line costs nothing on the other side.
function alignLines(data, f) {
	const lines = linesNear(data, f);
	return numberPairs(data, f, ...lines).map((numbers) => {
		const found = numbers.map((number, side) => lines[side].get(number));
		const text = (found[HEAD] ?? found[BASE])?.text;
		return text === undefined ? null : numbers.map((number, side) =>
			(number ? found[side] ?? { number, text, ...none } : null));
	}).filter(Boolean);
}

// Are lines left out between two rows?
export const isGap = (row, next) => ["a", "b"].some((side) =>
	row[side] && next[side] && next[side].number !== row[side].number + 1);

// End of the body of the definition in a row, by indentation.
function bodyEnd(rows, from) {
	const text = ({ a, b }) => (b ?? a).text, indent = (row) => text(row).search(/\S/);
	let end = from + 1;
	if (from < 0) return 0;
	for (let i = end; i < rows.length; i++) {
		const deep = indent(rows[i]);
		if (deep < 0) continue;
		if (deep <= indent(rows[from]) && !/^\s*[)\]{]/.test(text(rows[i]))) break;
		end = i + 1;
	}
	return end;
}

// The rows near lines with a cost or a change.
function nearCosts(data, f, all) {
	const { line, ran } = data.functions;
	const isFirst = ({ a, b }) => (ran[HEAD][f] ? b : a)?.number === line[f];
	const begin = all.findIndex(isFirst);
	const after = bodyEnd(all, begin), isPair = all.some(({ a, b }) => a && b);
	const isChanged = ({ a, b }, i) => isPair && i > begin && i < after && !(a && b);
	const isNear = (row, i) => (row.a?.total ?? 0) > 0 || (row.b?.total ?? 0) > 0 || i === begin ||
		isChanged(row, i);
	const first = Math.max(0, all.findIndex(isNear) - AROUND);
	const end = all.findLastIndex(isNear) + 1;
	return { rows: end ? all.slice(first, end + AROUND) : [] };
}

// The aligned lines of both versions of a function: {rows}. Rows of one side only if the
// other did not run it; null if it did, but its source was not recorded.
export function alignedLines(data, f) {
	const { source, ran } = data.functions;
	if ([BASE, HEAD].some((side) => ran[side][f] && !source[side][f])) return null;
	data.alignedOf ??= new Map();
	if (!data.alignedOf.has(f)) {
		const rows = alignLines(data, f).map(([a, b]) => rowOf(data, a, b));
		data.alignedOf.set(f, nearCosts(data, f, rows));
	}
	return data.alignedOf.get(f);
}

// The same for one side.
export function linesOfSide(data, f, side) {
	const rows = storedLines(data, f, side, CONTEXT).map((line) =>
		rowOf(data, side === BASE ? line : null, side === HEAD ? line : null));
	return nearCosts(data, f, rows);
}

// Total of a function in the whole recording, like those of lines.
export function wholeTotal(data, f, side) {
	data.wholeTotals ??= functionCosts(straightTree(data, null, null), data.functions.n).total;
	return data.wholeTotals[side][f];
}

// The row with the largest `weight`; null if none has any.
function mostOf(rows, weight) {
	let best = null;
	for (const row of rows)
		if (weight(row) > 0 && (!best || weight(row) > weight(best))) best = row;
	return best;
}

export const hottestRow = (rows, side, family) =>
	mostOf(rows, (row) => row[family][side === BASE ? "base" : "head"]);

// The row with most of a change: the one that grew most if `delta` is positive, else the one that
// shrank most.
export const changedRow = (rows, family, delta) =>
	mostOf(rows, (row) => row[family].delta * Math.sign(delta));

// Which cost of lines to compare: the wanted one, or "self" if only the function's own time
// certainly changed; "" without a certain change. Without verdicts, the wanted one.
export function changedFamily({ verdicts, unjudged, functions: { ran } }, f, wanted = "total") {
	if (!verdicts || unjudged?.[f] || ran[BASE][f] !== ran[HEAD][f]) return wanted;
	if (verdicts[wanted].word[f] === CHANGED) return wanted;
	return verdicts.self.word[f] === CHANGED ? "self" : "";
}
