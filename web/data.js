// SPDX-License-Identifier: MIT
// Reading the page's data: a header in JSON and columns of bytes, deflated, in base64.
//
// Nodes become typed arrays in preorder, with one more node than in the file: node 0 stands for
// everything, so every other node has a parent. A subtree is [i, end[i]). self[0] is the base,
// self[1] the head; a page of one profile has only zeros in the base.

import { addFolds } from "./fold_functions.js";
import { fromBase64, inflate } from "./decompress.js";
import { readRuns } from "./line_pairs.js";
import { addRange, readTime } from "./strip_data.js";

const FORMAT = "fizeau-page";
const VERSION = 2;

export const BASE = 0;
export const HEAD = 1;

// Kind of a function that is a task of asyncio.
export const TASK_KIND = 4;
// Kind of a function that is not code but was put into a stack by a tool, such as the name of a
// benchmark.
export const MARKER_KIND = 3;

// Decode numbers of a column into a given array. If all are one byte long, as in the longest
// columns, they are only copied.
function readNumbers(bytes, column, out, from) {
	let p = column.at;
	const to = from + column.n;
	if (column.size === column.n) {
		out.set(bytes.subarray(p, p + column.n), from);
		return;
	}
	for (let i = from; i < to; i++) {
		let v = bytes[p++];
		if (v >= 128) {
			let factor = 128, b;
			v &= 127;
			do {
				b = bytes[p++];
				v += (b & 127) * factor;
				factor *= 128;
			} while (b >= 128);
		}
		out[i] = v;
	}
	if (p !== column.at + column.size) throw new Error(`column ${column.name} is damaged`);
}

// Zigzag makes numbers positive: 0 -1 1 -2 2 ... `beside`: what was subtracted from each, or null.
function undoZigzag(values, from, unit, beside) {
	for (let i = from; i < values.length; i++) {
		const v = values[i];
		// Bit operations only work on 32 bits.
		const signed = (v <= 0xffffffff ? (v >>> 1) ^ -(v & 1) : v % 2 ? -(v + 1) / 2 :
			v / 2) * unit;
		values[i] = beside ? signed + beside[i] : signed;
	}
}

// The same for bytes, in one pass: typical for differences between the sides.
function addBytes(bytes, out, from, unit, beside) {
	for (let i = 0; i < bytes.length; i++) {
		const v = bytes[i];
		out[from + i] = ((v >>> 1) ^ -(v & 1)) * unit + beside[from + i];
	}
}

function readStrings(bytes, column) {
	const out = new Array(column.n), at = column.at;
	const decoder = new TextDecoder();
	const whole = bytes.subarray(at, at + column.size);
	// If each character is a byte, strings are parts of one long string, which is decoded once.
	const text = decoder.decode(whole), isPlain = text.length === whole.length;
	let p = 0;
	for (let i = 0; i < column.n; i++) {
		let length = 0, factor = 1, b;
		do {
			b = whole[p++];
			length += (b & 127) * factor;
			factor *= 128;
		} while (b >= 128);
		out[i] = isPlain ? text.slice(p, p + length) :
			decoder.decode(whole.subarray(p, p + length));
		p += length;
	}
	return out;
}

export class Columns {
	constructor(directory, bytes) {
		this.bytes = bytes;
		this.byName = new Map(directory.map((column) => [column.name, column]));
	}
	has(name) {
		return this.byName.has(name);
	}
	count(name) {
		return this.byName.get(name)?.n ?? 0;
	}
	// Does the file have one byte for each number? The byte is the number itself, or a difference
	// in a column of type "d". An absent column is all zero.
	areBytes(name) {
		const column = this.byName.get(name);
		return !column || (column.size === column.n && column.unit === 1);
	}
	// Numbers of a column, not copied if the file has them as bytes.
	raw(name, n) {
		const column = this.byName.get(name);
		return column && this.areBytes(name) ?
			this.bytes.subarray(column.at, column.at + n) : this.numbers(name, Uint32Array, n);
	}
	// Numbers as `Type`, after `before` elements of 0. Absent columns are all zero. `beside` is
	// the array to which a column of differences refers.
	numbers(name, Type, n, before = 0, beside = null) {
		const column = this.byName.get(name);
		const length = (column ? column.n : n) + before;
		if (!column) return new Type(length);
		const { type, unit } = column;
		if (type === "u") {
			const out = new Type(length);
			readNumbers(this.bytes, column, out, before);
			if (unit !== 1) for (let i = before; i < length; i++) out[i] *= unit;
			return out;
		}
		if (type === "d" && column.size === column.n) {
			const out = new Type(length);
			addBytes(this.bytes.subarray(column.at, column.at + column.n), out, before, unit,
				beside);
			return out;
		}
		// A zigzag code is twice as large as its value.
		const coded = new Float64Array(length);
		readNumbers(this.bytes, column, coded, before);
		undoZigzag(coded, before, unit, type === "d" ? beside : null);
		return Type === Float64Array ? coded : new Type(coded);
	}
	strings(name) {
		const column = this.byName.get(name);
		return column ? readStrings(this.bytes, column) : [];
	}
}

// Lists of callees by caller, in one array; a full list moves to its end and doubles its size.
class Callees {
	constructor(callers, callees) {
		this.first = new Int32Array(callers);
		this.n = new Int32Array(callers);
		this.room = new Int32Array(callers);
		this.all = new Int32Array(4 * (callers + callees));
		this.end = 0;
	}
	add(caller, f) {
		const n = this.n[caller]++;
		if (n === this.room[caller]) this.move(caller, n);
		this.all[this.first[caller] + n] = f;
	}
	move(caller, n) {
		const { all, first, room, end } = this;
		all.copyWithin(end, first[caller], first[caller] + n);
		first[caller] = end;
		room[caller] = Math.max(4, 2 * n);
		this.end += room[caller];
	}
	of(caller, place) {
		return this.all[this.first[caller] + place];
	}
}

// Nodes and their functions, in a single pass: each of several passes over a million nodes would
// run slowly until the browser has compiled it. A node stores its function as its place among the
// callees that its caller's function has had so far, counted from 1; 0 is a new one, the next of
// "callee.function".
function readNodes(columns, count) {
	const n = count + 1;
	const up = columns.raw("node.up", count), place = columns.raw("node.callee", count);
	const fresh = columns.numbers("callee.function", Int32Array, 0);
	const callees = new Callees(columns.count("function.name") + 1, fresh.length);
	const func = new Int32Array(n), depth = new Uint32Array(n);
	const parent = new Int32Array(n), end = new Uint32Array(n);
	// The callers of node i, as deep as the last node was.
	const last = [0];
	let above = 0, deepest = 0, next = 0;
	parent[0] = func[0] = -1;
	for (let i = 1; i < n; i++) {
		const d = above + 1 - up[i - 1], caller = last[d - 1], f = func[caller] + 1;
		for (; above >= d; above--) end[last[above]] = i;
		depth[i] = d;
		parent[i] = caller;
		last[d] = i;
		above = d;
		if (d > deepest) deepest = d;
		if (place[i - 1] === 0) callees.add(f, (func[i] = fresh[next++]));
		else func[i] = callees.of(f, place[i - 1] - 1);
	}
	for (; above >= 0; above--) end[last[above]] = n;
	return { n, func, depth, parent, end, deepest };
}

// Base and head of a pair of columns.
function readSides(columns, name, n, before, Type = Float64Array) {
	const base = columns.numbers(`${name}.base`, Type, n, before);
	return [base, columns.numbers(`${name}.head`, Type, n, before, base)];
}

// Array type of self values and their sums: half as large if they are whole numbers and no sum
// overflows. With a million nodes they are most of the memory, and allocating them takes much of
// the time to open a page.
export function selfType(columns, { nodes, base, head }) {
	const names = ["node.self.base", "node.self.head"];
	// One byte per node, and a difference of one byte for the other side.
	const most = nodes * (0xff + 0x7f);
	const isSmall = [most, base?.sum ?? 0, head?.sum ?? 0].every((sum) => sum === (sum | 0));
	return isSmall && names.every((name) => columns.areBytes(name)) ? Int32Array : Float64Array;
}

function readCells(columns) {
	if (!columns.has("cell.node")) return null;
	const node = columns.numbers("cell.node", Uint32Array, 0);
	const n = node.length;
	// Steps between nodes; the page's node 0 is not in the file.
	for (let i = 0, at = 1; i < n; i++) node[i] = at += node[i];
	return {
		n, node,
		thread: columns.numbers("cell.thread", Uint32Array, n),
		self: readSides(columns, "cell.self", n, 0),
	};
}

// Self values of all threads, or of those in `threads` (a Uint8Array of flags); for the whole time,
// or a range of it (strip_data.js).
export function selfValues(data, threads, range = null) {
	const { cells } = data;
	if (!cells && !range) return data.self;
	const self = [new Float64Array(data.n), new Float64Array(data.n)];
	if (range) {
		addRange(data.time, threads, range, self[HEAD]);
		return self;
	}
	for (let i = 0; i < cells.n; i++) {
		if (threads && !threads[cells.thread[i]]) continue;
		self[BASE][cells.node[i]] += cells.self[BASE][i];
		self[HEAD][cells.node[i]] += cells.self[HEAD][i];
	}
	return self;
}

function readFunctions(columns) {
	const names = columns.strings("function.name");
	const n = names.length;
	const sides = columns.numbers("function.sides", Uint8Array, n);
	return addFolds({
		n, names,
		file: columns.numbers("function.file", Uint32Array, n),
		line: columns.numbers("function.line", Int32Array, n),
		kind: columns.numbers("function.kind", Uint8Array, n),
		presence: columns.numbers("function.presence", Uint8Array, n),
		origin: columns.numbers("function.origin", Uint8Array, n),
		loads: columns.numbers("function.loads", Uint8Array, n),
		movedImport: columns.numbers("function.moved_import", Uint8Array, n),
		ran: [1, 2].map((side) => sides.map((bits) => (bits & side ? 1 : 0))),
		files: columns.strings("file.name"),
		source: [
			columns.numbers("function.source.base", Uint32Array, n),
			columns.numbers("function.source.head", Uint32Array, n),
		],
	});
}

// Lines of function f are [first[f], end[f]) of the arrays.
function readLines(columns, functionCount) {
	const count = columns.numbers("function.lines", Uint32Array, functionCount);
	const number = columns.numbers("line.step", Int32Array, 0);
	const first = new Uint32Array(functionCount), end = new Uint32Array(functionCount);
	const n = number.length;
	for (let f = 0, at = 0; f < functionCount; f++) {
		first[f] = at;
		end[f] = at += count[f];
		for (let i = first[f] + 1; i < at; i++) number[i] += number[i - 1];
	}
	return {
		first, end, number,
		self: ["base", "head"].map((s) => columns.numbers(`line.self.${s}`, Float64Array, n)),
		total: ["base", "head"].map((s) => columns.numbers(`line.total.${s}`, Float64Array, n)),
	};
}

// Bytecode instructions, {names, first, line, name, self, total}: rows of node i are [first[i],
// first[i + 1]). null: none were recorded.
function readOpcodes(columns, header, nodeCount) {
	if (!columns.has("op.node")) return null;
	const step = columns.numbers("op.node", Uint32Array, 0);
	const n = step.length;
	const first = new Uint32Array(nodeCount + 2);
	// The page's node 0 is not in the file.
	for (let i = 0, at = 1; i < n; i++) first[(at += step[i]) + 1]++;
	for (let i = 1; i < first.length; i++) first[i] += first[i - 1];
	const sides = (what) => ["base",
		"head"].map((s) => columns.numbers(`op.${what}.${s}`, Float64Array, n));
	return {
		names: header.opcodes, first,
		line: columns.numbers("op.line", Int32Array, n),
		name: columns.numbers("op.name", Uint32Array, n),
		self: sides("self"), total: sides("total"),
	};
}

// chunks[source]: [{start, lines}] in order.
function readChunks(columns) {
	const texts = columns.strings("chunk.text");
	const source = columns.numbers("chunk.source", Uint32Array, 0);
	const start = columns.numbers("chunk.start", Uint32Array, 0);
	const chunks = [];
	texts.forEach((text, i) => {
		(chunks[source[i]] ??= []).push({
			start: start[i], lines: text.replace(/\n$/, "").split("\n"),
		});
	});
	return chunks;
}

// Costs that functions' lines do not contain: of lines that functions share, and of parts of
// lines (src/report/page_places.h).
function readPlaces(columns) {
	const list = (name, ...fields) => Object.fromEntries(fields.map((field) =>
		[field === "function" ? "func" : field,
			columns.numbers(`${name}.${field}`, Float64Array, 0)]));
	return {
		shared: list("shared", "side", "function", "line", "total"),
		spans: list("span", "function", "line", "from", "to", "self", "total"),
	};
}

// Key of a function's alignment, independent of the function's number.
export const alignmentKey = ({ source, line }, f, isSwapped) =>
	`${source[isSwapped ? HEAD : BASE][f]} ${source[isSwapped ? BASE : HEAD][f]} ${line[f]}`;

// Both versions of the lines of functions that differ: {runs, of: key -> {at, n, first}}; and of
// whole files, pairs: source of the base -> {head: its source, at, n}; n is 0 without an alignment.
function readAlignments(columns, functions) {
	const [number, base, head, count] = ["function", "base", "head", "runs"].map((name) =>
		columns.numbers(`aligned.${name}`, Uint32Array, 0));
	const of = new Map();
	let at = 0;
	number.forEach((f, i) => {
		of.set(alignmentKey(functions, f), { at, n: count[i], first: [base[i], head[i]] });
		at += count[i];
	});
	const heads = columns.numbers("pair.head", Uint32Array, 0), pairs = new Map();
	const counts = columns.numbers("pair.runs", Uint32Array, heads.length);
	columns.numbers("pair.base", Uint32Array, 0).forEach((source, i) => {
		pairs.set(source, { head: heads[i], at, n: counts[i] });
		at += counts[i];
	});
	return { runs: readRuns(columns), of, pairs };
}

// Marks of nodes whose state does not follow from costs: 1 if its cost came from or went to a
// sibling, 2 for a wrapper that only one side has. null: none.
function readMarks(columns, count) {
	if (!columns.has("mark.node")) return null;
	const step = columns.numbers("mark.node", Uint32Array, 0),
		kind = columns.numbers("mark.kind", Uint8Array, 0);
	const marks = new Uint8Array(count + 1);
	for (let i = 0, at = 1; i < step.length; i++) marks[(at += step[i])] = kind[i];
	return marks;
}

// Recorded totals: of wrappers, because the samples below a drawn wrapper are not all its own; in a
// call graph of all functions, because its tree is only an estimate.
function readWrappers(columns) {
	const func = columns.numbers("wrapper.function", Uint32Array, 0);
	const total = ["base", "head"].map((s) =>
		columns.numbers(`wrapper.total.${s}`, Float64Array, func.length));
	return { func, total };
}

// For functions, by self and by total: verdict (0 unknown, 1 unchanged, 2 changed), length of the
// 95 % interval below and above the change, and -100 log10 p (-1: none). For paths the same
// verdicts, or 3: that of its function. null: this page was not judged.
function readVerdicts(columns, n, count) {
	if (!columns.has("function.verdict.self")) return null;
	const of = (family) => ({
		key: family, word: columns.numbers(`function.verdict.${family}`, Uint8Array, n),
		below: columns.numbers(`function.below.${family}`, Float64Array, n),
		above: columns.numbers(`function.above.${family}`, Float64Array, n),
		surprise: columns.numbers(`function.surprise.${family}`, Float64Array, n),
		path: columns.has(`node.verdict.${family}`) ?
		columns.numbers(`node.verdict.${family}`, Uint8Array, count, 1) : null,
	});
	return { self: of("self"), total: of("total") };
}

function decode(header, bytes) {
	const columns = new Columns(header.columns, bytes);
	const data = { header, isDiff: header.kind === "diff", ...readNodes(columns, header.nodes) };
	data.factor = header.scale?.factor ?? 1;
	data.unit = header.unit;
	data.cells = readCells(columns);
	data.self = data.cells ? selfValues(data, null) :
		readSides(columns, "node.self", header.nodes, 1, selfType(columns, header));
	data.functions = readFunctions(columns);
	data.verdicts = readVerdicts(columns, data.functions.n, header.nodes);
	data.marks = readMarks(columns, header.nodes);
	data.wrappers = readWrappers(columns);
	data.callColumns = columns.has("call.node") ? columns : null; // call_lines.js
	data.lines = readLines(columns, data.functions.n);
	data.chunks = readChunks(columns);
	data.wholeSources = columns.numbers("source.whole", Uint8Array, 0);
	Object.assign(data, readPlaces(columns));
	data.alignments = readAlignments(columns, data.functions);
	data.opcodes = readOpcodes(columns, header, data.n);
	data.time = readTime(header, columns);
	return data;
}

// The columns' bytes; frees the text that held them.
async function unpackData() {
	const element = document.getElementById("fz-data");
	const packed = fromBase64(element.textContent.trim());
	element.textContent = "";
	return inflate(packed);
}

export async function loadPage() {
	const header = JSON.parse(document.getElementById("fz-header").textContent);
	if (header.format !== FORMAT || header.version !== VERSION)
		throw new Error(
			"this page was written by an incompatible version of Fizeau");
	return decode(header, await unpackData());
}
