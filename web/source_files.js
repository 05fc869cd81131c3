// SPDX-License-Identifier: MIT
// The files of the recordings: their functions, what they cost, and their lines.
//
// A file of the base is compared with the file of the head with which it shares most of its
// functions' cost ("pair.*" in the page), so a file that was moved is compared with itself. Costs
// are those of the whole recordings.
import { CHANGED } from "./colors.js";
import { BASE, HEAD, MARKER_KIND, TASK_KIND } from "./data.js";
import { alignedNumbers, lineCosts, rowOf } from "./function_lines.js";
import { linePairs, swappedRuns } from "./line_pairs.js";
import { fromFolder, isFile } from "./source_places.js";
import { straightTree } from "./tree.js";

const both = [BASE, HEAD];

// Index of the side that was recorded as `side`.
const recorded = ({ isSwapped }, side) => (isSwapped ? 1 - side : side);

// By side and function, the file that contains the function's lines there; -1: none.
function filesBySide(data) {
	const { functions, alignments: { pairs } } = data;
	const base = recorded(data, BASE), head = recorded(data, HEAD);
	const { n, file, files, kind, source } = functions;
	const ofHead = new Map(), ofBase = new Map();
	for (let f = 0; f < n; f++)
		if (source[head][f]) ofHead.set(source[head][f], file[f]);
		else if (source[base][f]) ofBase.set(source[base][f], file[f]);
	const isCode = (f) => ![MARKER_KIND, TASK_KIND].includes(kind[f]) && isFile(files[file[f]]);
	const on = [new Int32Array(n), new Int32Array(n)];
	for (let f = 0; f < n; f++) {
		const text = source[base][f];
		on[head][f] = isCode(f) ? file[f] : -1;
		on[base][f] = isCode(f) ?
			ofHead.get(pairs.get(text)?.head) ?? ofBase.get(text) ?? file[f] : -1;
	}
	return on;
}

function addCosts(data, on, byId) {
	const tree = straightTree(data, null, null), { n, func, end } = tree;
	const open = both.map(() => new Uint32Array(byId.length));
	for (let i = 1; i < n; i++)
		for (const side of both) {
			const id = on[side][func[i]];
			if (id < 0) continue;
			byId[id].self[side] += tree.self[side][i];
			if (i < open[side][id]) continue;
			open[side][id] = end[i];
			byId[id].total[side] += tree.total[side][i];
		}
	return both.map((side) => tree.total[side][0]);
}

function groupFunctions(data) {
	const { functions } = data, on = filesBySide(data), byId = [];
	for (let f = 0; f < functions.n; f++)
		for (const side of both) {
			const id = on[side][f];
			if (id < 0) continue;
			const name = functions.files[id];
			byId[id] ??= { id, name, place: fromFolder(data, name), origin: functions.origin[f],
				functions: [], self: [0, 0], total: [0, 0] };
			if (byId[id].functions.at(-1) !== f) byId[id].functions.push(f);
		}
	return { on, byId };
}

// Files without costs, which take long to compute in a large page.
const groupsOf = (data) => (data.fileGroups ??= groupFunctions(data));

function listFiles(data) {
	const { on, byId } = groupsOf(data), sum = addCosts(data, on, byId);
	return { sum, list: byId.filter(({ total }) => total.some((v) => v > 0)) };
}

// {list: [{id, name, place, origin, functions, self, total}], sum}; costs by side, a total counts
// each sample once. place: the name, relative to the folder of a recording.
export const filesOf = (data) => (data.fileList ??= listFiles(data));

// Where a function's first line is: on the head if that has it.
const startSide = ({ isDiff, functions: { ran } }, f) => (!isDiff || ran[HEAD][f] ? HEAD : BASE);

// The file of a function; undefined: none.
export function fileOf(data, f) {
	const { on, byId } = groupsOf(data);
	return byId[on[startSide(data, f)][f]];
}

// Does the file have a function whose own cost, or total, certainly changed? True for all files if
// nothing was judged.
export const isReal = ({ verdicts }, { functions }, family) =>
	!verdicts || functions.some((f) => verdicts[family].word[f] === CHANGED);

// The file's source on a side; 0: none.
function sourceOf({ functions }, { on }, { id, functions: members }, side) {
	const f = members.find((g) => on[side][g] === id && functions.source[side][g]);
	return f === undefined ? 0 : functions.source[side][f];
}

// Does the page have all recorded lines of the file?
export const hasWhole = (data, file) => both.every((side) => {
	const source = sourceOf(data, groupsOf(data), file, side);
	return !source || data.wholeSources[source - 1];
});
export const hasText = (data, file) =>
	both.some((side) => sourceOf(data, groupsOf(data), file, side) > 0);

// Costs of the file's lines on one side: number -> {self, total, fs}, fs: its functions there, the
// costliest first.
function costsOf(data, { on }, { id, functions }, side) {
	const costs = new Map(), { shared } = data;
	for (const f of functions) {
		if (on[side][f] !== id) continue;
		for (const [number, { self, total }] of lineCosts(data, f, side)) {
			const known = costs.get(number);
			if (!known) costs.set(number, { self, total, fs: [f] });
			else {
				known.self += self;
				known.fs[total > known.total ? "unshift" : "push"](f);
				known.total = Math.max(known.total, total);
			}
		}
	}
	shared.func.forEach((f, k) => {
		if (recorded(data, shared.side[k]) !== side || on[side][f] !== id) return;
		if (costs.has(shared.line[k])) costs.get(shared.line[k]).total = shared.total[k];
	});
	return costs;
}

function textOf({ chunks }, source) {
	const text = new Map();
	for (const { start, lines } of chunks[source - 1] ?? [])
		lines.forEach((line, k) => text.set(start + k, line.trimEnd()));
	return text;
}

// Numbers of lines in pairs by the alignments of functions, each once.
function numbersByFunction(data, { functions }) {
	const seen = both.map(() => new Set()), blocks = [];
	for (const f of functions) {
		const block = alignedNumbers(data, f).filter((numbers) =>
			!numbers.some((n, side) => n && seen[side].has(n)));
		for (const numbers of block) numbers.forEach((n, side) => n && seen[side].add(n));
		if (block.length) blocks.push(block);
	}
	const first = (block) => block.find(([, b]) => b)?.[1] ?? block[0][0];
	return blocks.sort((a, b) => first(a) - first(b)).flat();
}

function numbersOf(data, file, sources, known) {
	const { alignments: { pairs, runs }, isSwapped, isDiff } = data;
	const [base, head] = isSwapped ? [...sources].reverse() : sources;
	const pair = pairs.get(base);
	if (base && head && base !== head)
		return pair?.head === head && pair.n ?
			linePairs(isSwapped ? swappedRuns(runs) : runs, pair.at, pair.n, [1, 1]) :
			numbersByFunction(data, file);
	filesOf(data); // adds its costs
	const has = both.map((side) => isDiff && file.total[side] > 0);
	return [...known].sort((a, b) => a - b)
		.map((n) => [has[BASE] ? n : 0, has[HEAD] || !isDiff ? n : 0]);
}

// Rows of a file: {a, b, self, total, fs} as in function_lines.js; text is null where it is not
// known. starts: its functions that begin there.
export function linesOfFile(data, file) {
	const files = groupsOf(data), { line } = data.functions;
	const sources = both.map((side) => sourceOf(data, files, file, side));
	const texts = sources.map((source) => textOf(data, source));
	const costs = both.map((side) => costsOf(data, files, file, side));
	const starts = both.map(() => new Map());
	for (const f of file.functions) {
		const at = starts[startSide(data, f)];
		if (line[f] > 0) at.set(line[f], [...at.get(line[f]) ?? [], f]);
	}
	const known = new Set([...texts, ...costs, ...starts].flatMap((map) => [...map.keys()]));
	return numbersOf(data, file, sources, known).map((numbers) => {
		const found = both.map((side) => costs[side].get(numbers[side]));
		const text = texts[HEAD].get(numbers[HEAD]) ?? texts[BASE].get(numbers[BASE]) ?? null;
		const [a, b] = both.map((side) => (numbers[side] ? {
			number: numbers[side], text, self: found[side]?.self ?? 0,
			total: found[side]?.total ?? 0,
		} : null));
		return {
			...rowOf(data, a, b),
			fs: [...new Set([...found[HEAD]?.fs ?? [], ...found[BASE]?.fs ?? []])],
			starts: both.flatMap((side) => starts[side].get(numbers[side]) ?? []),
		};
	});
}

// Sampled parts of the recorded head's lines: number -> [{from, to, self, total}].
export function spotsOf(data, file) {
	const { spans } = data, on = groupsOf(data).on[recorded(data, HEAD)], spots = new Map();
	spans.func.forEach((f, k) => {
		if (on[f] !== file?.id) return;
		const spot = { from: spans.from[k], to: spans.to[k], self: spans.self[k],
			total: spans.total[k] };
		spots.set(spans.line[k], [...spots.get(spans.line[k]) ?? [], spot]);
	});
	return { side: recorded(data, HEAD), spots };
}

// The lines of all files with most own cost: [{file, number, text, f, self}].
export function hottestLines(data, most) {
	const files = groupsOf(data), lines = [];
	for (const file of filesOf(data).list)
		for (const [number, { self, fs }] of costsOf(data, files, file, HEAD))
			if (self > 0) lines.push({ file, number, self, fs });
	lines.sort((a, b) => b.self - a.self || a.file.id - b.file.id || a.number - b.number);
	return lines.slice(0, most).map(({ file, number, self, fs }) => {
		const own = (f) => lineCosts(data, f, HEAD).get(number)?.self ?? 0;
		const text = textOf(data, sourceOf(data, files, file, HEAD)).get(number) ?? "";
		return { file, number, self, text, f: fs.reduce((a, b) => (own(b) > own(a) ? b : a)) };
	});
}
