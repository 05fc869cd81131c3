// SPDX-License-Identifier: MIT
// Reading a heat map's data, and selecting what belongs to one file.
//
// Lists of lines are in order of files; "file.lines" has their number per file. On a page of one
// file the other files have none. Index 0 is the base, 1 the head; a map of one profile has an
// empty base.
import { CHANGED } from "./colors.js";
import { BASE, Columns, HEAD, unpackData } from "./data.js";
import { formatShare, scaleHint } from "./format.js";
import { linePairs, readRuns } from "./line_pairs.js";

const FORMAT = "fizeau-heatmap";
const VERSION = 1;

// States of functions, in the order of enum fz_state.
const states = ["common", "new", "removed", "moved"];

const sides = (columns, name, Type, n) =>
	["base", "head"].map((s) => columns.numbers(`${name}.${s}`, Type, n));
// For own costs and totals.
const families = (columns, name, n) => Object.fromEntries(["self", "total"].map((family) =>
	[family, columns.numbers(`${name}.${family}`, Uint8Array, n)]));

// Places at which parts of these lengths start.
function startsOf(counts) {
	let at = 0;
	return counts.map((count) => (at += count) - count);
}

function readFiles(columns) {
	const name = columns.strings("file.name"), n = name.length;
	const lines = sides(columns, "file.lines", Uint32Array, n);
	const aligned = columns.numbers("file.aligned", Uint32Array, n);
	return {
		n, name, lines,
		path: columns.strings("file.path"),
		origin: columns.numbers("file.origin", Uint8Array, n),
		self: sides(columns, "file.self", Float64Array, n),
		total: sides(columns, "file.total", Float64Array, n),
		has: sides(columns, "file.has", Uint8Array, n),
		text: sides(columns, "file.text", Uint32Array, n),
		changed: families(columns, "file.changed", n),
		first: lines.map(startsOf),
		aligned, firstAligned: startsOf(aligned),
	};
}

function readLines(columns, side) {
	const number = columns.numbers(`line.number.${side}`, Uint32Array, 0), n = number.length;
	return {
		number,
		self: columns.numbers(`line.self.${side}`, Float64Array, n),
		total: columns.numbers(`line.total.${side}`, Float64Array, n),
		func: columns.numbers(`line.function.${side}`, Uint32Array, n),
	};
}

function readFunctions(columns, isDiff) {
	const name = columns.strings("function.name"), n = name.length;
	const side = columns.numbers("function.side", Uint8Array, n);
	return {
		n, name,
		file: columns.numbers("function.file", Uint32Array, n),
		line: columns.numbers("function.line", Uint32Array, n),
		side: isDiff ? side : side.fill(HEAD),
		state: columns.numbers("function.state", Uint8Array, n),
		presence: columns.numbers("function.presence", Uint8Array, n),
		verdict: families(columns, "function.verdict", n),
		self: sides(columns, "function.self", Float64Array, n),
		total: sides(columns, "function.total", Float64Array, n),
	};
}

// Parallel columns "name.x", "name.y", ... of one length.
function readList(columns, name, fields) {
	const list = {};
	for (const field of fields) list[field] = columns.numbers(`${name}.${field}`, Float64Array, 0);
	list.n = list[fields[0]].length;
	return list;
}

// The hottest lines, or the most changed functions: see src/report/heatmap_hot.h.
function readHot(columns) {
	if (!columns.has("hot.file")) return [];
	const { file, line, state, presence, n } =
		readList(columns, "hot", ["file", "line", "state", "presence"]);
	const [self, total] = ["hot.self",
		"hot.total"].map((name) => sides(columns, name, Float64Array, n));
	const name = columns.strings("hot.name"), text = columns.strings("hot.text");
	return Array.from(file, (f, i) => ({
		file: f, line: line[i], name: name[i], text: text[i], self: [self[BASE][i], self[HEAD][i]],
		total: [total[BASE][i], total[HEAD][i]], state: states[state[i]], presence: presence[i],
	}));
}

export async function loadHeat() {
	const header = JSON.parse(document.getElementById("fz-header").textContent);
	if (header.format !== FORMAT || header.version !== VERSION)
		throw new Error(
			"this page was written by an incompatible version of Fizeau");
	const columns = new Columns(header.columns, await unpackData());
	const isDiff = header.kind === "diff";
	const heat = {
		header, isDiff, unit: header.unit, factor: header.factor,
		sum: [header.base?.sum ?? 0, header.head.sum],
		judged: columns.has("file.changed.self"),
		files: readFiles(columns),
		lines: ["base", "head"].map((side) => readLines(columns, side)),
		hot: readHot(columns),
		texts: columns.strings("text"), runs: readRuns(columns),
		functions: readFunctions(columns, isDiff),
		calls: readList(columns, "call", ["file", "line", "callee", "weight"]),
		spans: readList(columns, "span", ["file", "line", "end", "from", "to", "self", "total"]),
		ops: readList(columns, "op", ["file", "line", "name", "self", "total"]),
		opcodes: { name: columns.strings("opcode.name"), base: columns.strings("opcode.base") },
	};
	heat.share = (v) => formatShare(v / (heat.sum[HEAD] || 1));
	// Explains why a change is not after − before; "" if it is.
	heat.hint = isDiff ? scaleHint(heat.factor, header.scale) : "";
	// Files with a function whose own cost, or total, certainly changed; all files if nothing was
	// judged.
	heat.isReal = (file, family) => !heat.judged || heat.files.changed[family][file] > 0;
	// The same for a function.
	heat.isChanged = (f, family) => !heat.judged ||
		(f >= 0 && heat.functions.verdict[family][f] === CHANGED);
	heat.stateOf = (f) =>
		({ state: states[heat.functions.state[f]], presence: heat.functions.presence[f] });
	heat.lineFunction = (file, line) => {
		const from = heat.files.first[HEAD][file], to = from + heat.files.lines[HEAD][file];
		for (let i = from; i < to; i++) if (heat.lines[HEAD].number[i] === line)
			return heat.lines[HEAD].func[i] - 1;
		return -1;
	};
	return heat;
}

// ---- one file ----

function push(map, key, value) {
	const list = map.get(key);
	if (list) list.push(value);
	else map.set(key, [value]);
}

// Map of a side from line number to {self, total, func}.
function linesOf(heat, file, side) {
	const { first, lines } = heat.files, list = heat.lines[side];
	const map = new Map();
	for (let i = first[side][file]; i < first[side][file] + lines[side][file]; i++)
		map.set(list.number[i], {
			self: list.self[i], total: list.total[i], func: list.func[i] - 1,
		});
	return map;
}

function textOf(heat, file, side) {
	const text = heat.files.text[side][file];
	return text ? heat.texts[text - 1].replace(/\n$/, "").split("\n")
		.map((line) => line.replace(/\r$/, "")) : null;
}

// Lines to show of a file without recorded text: those with a cost, or a function.
function bareRows(costs, starts) {
	const numbers = new Set(starts);
	for (const map of costs) for (const number of map.keys()) numbers.add(number);
	return [...numbers].sort((a, b) => a - b);
}

// Rows of the listing: {number: [base, head], text, cost: [base, head]}; number 0: missing on that
// side.
function rowsOf(heat, file, costs, starts) {
	const [before, after] = [BASE, HEAD].map((side) => textOf(heat, file, side));
	const nothing = { self: 0, total: 0, func: -1 };
	const row = (b, h, text) => ({
		number: [b, h], text, cost: [costs[BASE].get(b) ?? nothing, costs[HEAD].get(h) ?? nothing],
	});
	if (!heat.isDiff)
		return after ? after.map((text, i) => row(0, i + 1, text)) :
			bareRows(costs, starts).map((n) => row(0, n, null));
	const { has, aligned, firstAligned } = heat.files;
	if (aligned[file])
		return linePairs(heat.runs, firstAligned[file], aligned[file], [1, 1])
			.map(([b, h]) => row(b, h, h ? after[h - 1] : before[b - 1]));
	const lines = after ?? before;
	const only = (n) => [has[BASE][file] ? n : 0, has[HEAD][file] ? n : 0];
	return lines ? lines.map((line, i) => row(...only(i + 1), line)) :
		bareRows(costs, starts).map((n) => row(...only(n), null));
}

export function fileData(heat, file) {
	const { functions, calls, spans, ops } = heat;
	const costs = [BASE, HEAD].map((side) => linesOf(heat, file, side));
	const defined = new Map(), callees = new Map(), callers = new Map(), spots = new Map(),
		code = new Map();
	for (let f = 0; f < functions.n; f++)
		if (functions.file[f] === file && functions.line[f])
			push(defined, `${functions.side[f]}:${functions.line[f]}`, f);
	for (let i = 0; i < calls.n; i++) {
		const call = {
			file: calls.file[i], line: calls.line[i], callee: calls.callee[i],
			weight: calls.weight[i],
		};
		if (call.file === file) push(callees, call.line, call);
		if (functions.file[call.callee] === file) push(callers, call.callee, call);
	}
	for (const list of callers.values()) list.sort((a, b) => b.weight - a.weight);
	for (let i = 0; i < spans.n; i++)
		if (spans.file[i] === file && spans.end[i] === spans.line[i])
			push(spots, spans.line[i], {
				from: spans.from[i], to: spans.to[i], self: spans.self[i], total: spans.total[i],
			});
	for (let i = 0; i < ops.n; i++)
		if (ops.file[i] === file)
			push(code, ops.line[i], {
				name: heat.opcodes.name[ops.name[i]], base: heat.opcodes.base[ops.name[i]],
				self: ops.self[i], total: ops.total[i],
			});
	const starts = [];
	for (let f = 0; f < functions.n; f++)
		if (functions.file[f] === file && functions.line[f] && functions.side[f] === HEAD)
			starts.push(functions.line[f]);
	return {
		file, defined, callees, callers, spots, code, rows: rowsOf(heat, file, costs, starts),
	};
}
