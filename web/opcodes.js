// SPDX-License-Identifier: MIT
// Bytecode instructions, if recorded: of a node of the picture, and of the lines of a function.
// Their costs include all threads.
import { BASE, HEAD } from "./data.js";
import { el } from "./dom.js";
import { compare, formatChange, formatShare, formatValue, scaleHint } from "./format.js";
import { pageNodeOf } from "./tree.js";

const SHOWN = 8;
const SHOWN_OF_LINE = 3;

// Sums by name, on both sides.
class Sums {
	constructor() {
		this.of = new Map();
	}
	add(name, base, head) {
		const sum = this.of.get(name) ?? [0, 0];
		sum[BASE] += base;
		sum[HEAD] += head;
		this.of.set(name, sum);
	}
	// [[name, [base, head]]], costliest first.
	list() {
		return [...this.of].filter(([, s]) => s[BASE] > 0 || s[HEAD] > 0)
			.sort(([a, s], [b, t]) => Math.max(...t) - Math.max(...s) || a - b);
	}
}

function addNode(sums, ops, i) {
	for (let r = ops.first[i]; r < ops.first[i + 1]; r++)
		sums.add(ops.name[r], ops.total[BASE][r], ops.total[HEAD][r]);
}

// Add the instructions of caller `node` during its calls, for the part that belongs to one leaf.
function addCaller(sums, ops, node, leaf) {
	const below = [0, 0];
	for (let r = ops.first[node]; r < ops.first[node + 1]; r++)
		for (const s of [BASE, HEAD]) below[s] += ops.total[s][r] - ops.self[s][r];
	const part = [BASE, HEAD].map((s) => (below[s] > 0 ? Math.min(1, leaf[s] / below[s]) : 0));
	for (let r = ops.first[node]; r < ops.first[node + 1]; r++)
		sums.add(ops.name[r], (ops.total[BASE][r] - ops.self[BASE][r]) * part[BASE],
			(ops.total[HEAD][r] - ops.self[HEAD][r]) * part[HEAD]);
}

// Add up all leaves that were reached through the chain of callers of node i.
function addInverted(sums, data, tree, i) {
	const { opcodes: ops, func, parent, n } = data;
	const chain = [];
	for (let at = i; at > 0; at = tree.parent[at]) chain.unshift(tree.func[at]);
	for (let leaf = 1; leaf < n; leaf++) {
		if (func[leaf] !== chain[0]) continue;
		let at = leaf, k = 1;
		while (k < chain.length && parent[at] > 0 && func[parent[at]] === chain[k]) {
			at = parent[at];
			k++;
		}
		if (k < chain.length) continue;
		const self = [0, 0];
		for (let r = ops.first[leaf]; r < ops.first[leaf + 1]; r++) {
			for (const s of [BASE, HEAD]) self[s] += ops.self[s][r];
			if (at === leaf) sums.add(ops.name[r], ops.self[BASE][r], ops.self[HEAD][r]);
		}
		if (at !== leaf) addCaller(sums, ops, at, self);
	}
}

// Instructions of node i of a shown tree: [[name, [base, head]]].
export function opcodesOfNode(data, tree, i) {
	if (!data.opcodes || i <= 0) return [];
	const sums = new Sums();
	if (tree.inverted) addInverted(sums, data, tree, i);
	else if (pageNodeOf(tree, i) > 0) addNode(sums, data.opcodes, pageNodeOf(tree, i));
	return sums.list();
}

// Instructions of functions by line number, by own cost or total: Map of [[name, [base, head]]].
export function opcodesOfLines(data, functions, cost = "total") {
	const { opcodes: ops, func, n } = data, wanted = new Set(functions);
	const lines = new Map();
	if (!ops) return lines;
	for (let i = 1; i < n; i++) {
		if (!wanted.has(func[i])) continue;
		for (let r = ops.first[i]; r < ops.first[i + 1]; r++) {
			if (!lines.has(ops.line[r])) lines.set(ops.line[r], new Sums());
			lines.get(ops.line[r]).add(ops.name[r], ops[cost][BASE][r], ops[cost][HEAD][r]);
		}
	}
	return new Map([...lines].map(([line, sums]) => [line, sums.list()]));
}

// The name of an instruction; a specialised one is shown with its base.
export function nameParts(ops, name) {
	const [text, base] = ops.names[name];
	return [el("code", {}, text),
		text !== base && el("small", { title: "specialised form of" }, ` ${base}`)].filter(Boolean);
}

const nameCell = (ops, name) => el("th", { scope: "row" }, ...nameParts(ops, name));

// The tooltip's part on instructions; null if there are none.
export function opcodeBox(data, tree, i, what) {
	const list = opcodesOfNode(data, tree, i);
	if (!list.length) return null;
	const { opcodes: ops, unit, factor } = data;
	const side = what.isDiff ? HEAD : what.side ?? HEAD;
	const all = list.reduce((sum, [, s]) => sum + s[side], 0);
	const rows = list.slice(0, SHOWN).map(([name, s]) => {
		if (!what.isDiff)
			return el("tr", {}, nameCell(ops, name), el("td", {}, formatValue(s[side], unit)),
				el("td", {}, formatShare(s[side] / all)));
		const c = compare(s[BASE], s[HEAD], factor);
		return el("tr", { class: c.delta > 0 ? "up" : c.delta < 0 ? "down" : "" },
			nameCell(ops, name),
			el("td", {}, formatValue(c.base, unit)), el("td", {}, formatValue(c.head, unit)),
			el("td", { class: "delta", title: scaleHint(factor, data.header.scale.mode) || null },
				formatChange(c.delta, unit)));
	});
	return el("table", { class: "opcodes" }, el("caption", {}, "Instructions"), ...rows);
}

// Short text on the instructions of one line.
export function opcodeWords(data, list, side) {
	const all = (list ?? []).reduce((sum, [, s]) => sum + s[side], 0);
	if (!all) return "";
	return list.filter(([, s]) => s[side] > 0).slice(0, SHOWN_OF_LINE)
		.map(([name, s]) => `${data.opcodes.names[name][0]} ${formatShare(s[side] / all)}`)
			.join(", ");
}
