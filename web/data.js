// SPDX-License-Identifier: MIT
// Reading the page's own data: a header in JSON and columns of bytes, deflated, in base64.
//
// Nodes become typed arrays in preorder, with one node more than the file has: node 0 stands for
// everything, so every other node has a parent. A subtree is [i, end[i]). self[0] is the base,
// self[1] the head; a page of one profile has only zeros in the base.

const FORMAT = "fizeau-page";
const VERSION = 1;

export const BASE = 0;
export const HEAD = 1;

function fromBase64(text) {
	if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
	const binary = atob(text);
	const bytes = new Uint8Array(binary.length);
	for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
	return bytes;
}

async function inflate(bytes) {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Decode numbers of a column into an array that is given.
function readNumbers(bytes, column, out, from) {
	let p = column.at;
	const { n, unit } = column;
	const zigzag = column.type === "z";
	for (let i = 0; i < n; i++) {
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
		if (zigzag) v = v % 2 ? -(v + 1) / 2 : v / 2;
		out[from + i] = unit === 1 ? v : v * unit;
	}
	if (p !== column.at + column.size) throw new Error(`column ${column.name} is damaged`);
	return out;
}

function readStrings(bytes, column) {
	const out = new Array(column.n);
	const decoder = new TextDecoder();
	let p = column.at;
	for (let i = 0; i < column.n; i++) {
		let length = 0, factor = 1, b;
		do {
			b = bytes[p++];
			length += (b & 127) * factor;
			factor *= 128;
		} while (b >= 128);
		out[i] = decoder.decode(bytes.subarray(p, p + length));
		p += length;
	}
	return out;
}

class Columns {
	constructor(directory, bytes) {
		this.bytes = bytes;
		this.byName = new Map(directory.map((column) => [column.name, column]));
	}
	has(name) {
		return this.byName.has(name);
	}
	// Numbers as `Type`, with `before` elements of 0 in front. Absent columns are all zero.
	numbers(name, Type, n, before = 0) {
		const column = this.byName.get(name);
		const out = new Type((column ? column.n : n) + before);
		return column ? readNumbers(this.bytes, column, out, before) : out;
	}
	strings(name) {
		const column = this.byName.get(name);
		return column ? readStrings(this.bytes, column) : [];
	}
}

// Functions of nodes. A node names its function by its place among the callees that its caller's
// function has had so far, counted from 1; 0 is a new one, the next of "callee.function".
function readCallees(columns, count, parent) {
	const func = columns.numbers("node.callee", Int32Array, count, 1);
	const fresh = columns.numbers("callee.function", Int32Array, 0);
	const callees = [];
	let next = 0;
	func[0] = -1;
	for (let i = 1; i <= count; i++) {
		const known = (callees[func[parent[i]] + 1] ??= []);
		if (func[i] === 0) known.push((func[i] = fresh[next++]));
		else func[i] = known[func[i] - 1];
	}
	return func;
}

function readNodes(columns, count) {
	const n = count + 1;
	const up = columns.numbers("node.up", Uint32Array, count, 1);
	const depth = up;
	let deepest = 0;
	for (let i = 1; i < n; i++) {
		depth[i] = depth[i - 1] + 1 - up[i];
		if (depth[i] > deepest) deepest = depth[i];
	}
	const parent = new Int32Array(n), end = new Uint32Array(n).fill(n);
	const last = new Int32Array(deepest + 2);
	let above = 0;
	parent[0] = -1;
	for (let i = 1; i < n; i++) {
		const d = depth[i];
		for (let k = above; k >= d; k--) end[last[k]] = i;
		last[d] = i;
		parent[i] = last[d - 1];
		above = d;
	}
	const func = readCallees(columns, count, parent);
	return { n, func, depth, parent, end, deepest };
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
		self: [
			columns.numbers("cell.self.base", Float64Array, n),
			columns.numbers("cell.self.head", Float64Array, n),
		],
	};
}

// Self values of all threads, or of those in `threads` (a Uint8Array of flags).
export function selfValues(data, threads) {
	const { cells } = data;
	if (!cells) return data.self;
	const self = [new Float64Array(data.n), new Float64Array(data.n)];
	for (let i = 0; i < cells.n; i++) {
		if (threads && !threads[cells.thread[i]]) continue;
		self[BASE][cells.node[i]] += cells.self[BASE][i];
		self[HEAD][cells.node[i]] += cells.self[HEAD][i];
	}
	return self;
}

function readFunctions(columns, data) {
	const names = columns.strings("function.name");
	const n = names.length;
	return {
		n, names,
		file: columns.numbers("function.file", Uint32Array, n),
		line: columns.numbers("function.line", Int32Array, n),
		kind: columns.numbers("function.kind", Uint8Array, n),
		files: columns.strings("file.name"),
		source: [
			columns.numbers("function.source.base", Uint32Array, n),
			columns.numbers("function.source.head", Uint32Array, n),
		],
	};
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

// chunks[source]: [{start, lines}] in order.
function readChunks(columns) {
	const texts = columns.strings("chunk.text");
	const source = columns.numbers("chunk.source", Uint32Array, 0);
	const start = columns.numbers("chunk.start", Uint32Array, 0);
	const chunks = [];
	texts.forEach((text, i) => {
		(chunks[source[i]] ??= []).push({ start: start[i], lines: text.replace(/\n$/, "").split("\n") });
	});
	return chunks;
}

// Of functions, by self and by total: 0 cannot tell, 1 unchanged, 2 changed, and half of the 95 %
// interval (-1: none). null: this page was not judged.
function readVerdicts(columns, n) {
	if (!columns.has("function.verdict.self")) return null;
	const of = (family) => ({
		word: columns.numbers(`function.verdict.${family}`, Uint8Array, n),
		margin: columns.numbers(`function.margin.${family}`, Float64Array, n),
	});
	return { self: of("self"), total: of("total") };
}

function decode(header, bytes) {
	const columns = new Columns(header.columns, bytes);
	const data = { header, isDiff: header.kind === "diff", ...readNodes(columns, header.nodes) };
	data.factor = header.scale?.factor ?? 1;
	data.unit = header.unit;
	data.cells = readCells(columns);
	data.self = [
		columns.numbers("node.self.base", Float64Array, header.nodes, 1),
		columns.numbers("node.self.head", Float64Array, header.nodes, 1),
	];
	if (data.cells) data.self = selfValues(data, null);
	data.functions = readFunctions(columns, data);
	data.verdicts = readVerdicts(columns, data.functions.n);
	data.lines = readLines(columns, data.functions.n);
	data.chunks = readChunks(columns);
	return data;
}

export async function loadPage() {
	const header = JSON.parse(document.getElementById("fz-header").textContent);
	if (header.format !== FORMAT || header.version !== VERSION)
		throw new Error("this page was written by a version of Fizeau that its viewer does not know");
	const element = document.getElementById("fz-data");
	const packed = fromBase64(element.textContent.trim());
	element.textContent = "";
	return decode(header, await inflate(packed));
}
