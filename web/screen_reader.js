// SPDX-License-Identifier: MIT
// The flame graph for screen readers: an invisible tree grid beside the canvas that has the
// keyboard focus and holds the frames around the selected one.
//
//      main                          the nearest callers
//        parse                       neighbours on both sides
//      > decode                      the selected frame
//          split                     the first of its callees
//        write
//
// It has a few dozen rows, however many frames there are; ARIA attributes give each row's position
// among its siblings.
import { el } from "./dom.js";
import { nodeFacts } from "./frame_facts.js";
import { frameName } from "./folds.js";
import { wordsOfFrames } from "./cost_words.js";
import { capital, formatChange, formatRatio, formatShare, formatValue } from "./format.js";
import { showName } from "./labels.js";
import { changeWord, sumWord } from "./verdicts.js";

const CALLERS = 16, NEIGHBOURS = 6, CALLEES = 8;

// Verdict on a frame's own time or total, in words.
function verdictOf(data, side, word, isOfSum, delta) {
	if (word === undefined) return side;
	return isOfSum ? sumWord(data, delta, side) : changeWord(data, word, delta, side);
}

// Description of a frame: [[title, text]], the same in a row and when announced.
function cellsOf(model, flame, node) {
	const facts = nodeFacts(model.data, flame, node);
	const { f, isDiff, self, unit } = facts;
	const value = (v) => formatValue(v, unit);
	const share = ["Share", `${formatShare(facts.width / facts.all)} of ${facts.allName}`];
	if (!isDiff) return [share, ["Self", value(self)], ["Total", value(facts.total)]];
	const isFunction = f >= 0 && f < model.data.functions.n;
	const known = (word, isOfSum, { delta }) => (isFunction ?
		verdictOf(model.data, facts.side, word, isOfSum, delta) : "");
	const changeOf = (c) => (c.delta === 0 ? "no change" :
		`${formatChange(c.delta, unit)} (${formatRatio(c)})`);
	const { total, totalWord, ofSum, word } = facts;
	const all = [`${value(total.base)} to ${value(total.head)}`, changeOf(total),
		known(totalWord, ofSum?.total, total)].filter(Boolean).join(", ");
	return [share, ["Before", value(self.base)],
		...(facts.isScaled ? [["Expected", value(self.expected)]] : []),
		["After", value(self.head)], ["Change", changeOf(self)],
		["Verdict", known(word, ofSum?.self, self)],
		...(flame.picture.tree.inverted ? [] : [["Total", all]])];
}

function nameOf(model, flame, node) {
	const f = flame.picture.tree.func[node];
	return f >= 0 ? frameName(model.data, flame.picture.tree, node,
		showName(model.data.functions.names[f])) : flame.picture.what.rootName;
}

// Description of a frame as a sentence.
export function sentenceOf(model, flame, node) {
	const cells = new Map(cellsOf(model, flame, node));
	const words = [nameOf(model, flame, node), cells.get("Share")];
	if (cells.has("Before"))
		words.push(cells.has("Total") && `total ${cells.get("Total")}`,
			`self ${cells.get("Before")} to ${cells.get("After")}`,
			cells.has("Expected") && `expected ${cells.get("Expected")}`, cells.get("Change"),
			cells.get("Verdict"));
	else words.push(`self ${cells.get("Self")}`);
	return words.filter(Boolean).join(", ");
}

// Visible siblings, and the position of `node` among them.
function siblingsOf({ tree, w }, node) {
	if (node === 0) return { list: [0], at: 0 };
	const list = [], parent = tree.parent[node];
	let at = 0;
	for (let c = parent + 1; c < tree.end[parent]; c = tree.end[c]) {
		if (c === node) at = list.length;
		if (w[c] > 0 || c === node) list.push(c);
	}
	return { list, at };
}

function calleesOf({ tree, w }, node) {
	const list = [];
	for (let c = node + 1; c < tree.end[node]; c = tree.end[c]) if (w[c] > 0) list.push(c);
	return list;
}

// The rows around a node, callers first: [{node, at, of, isOpen}].
function rowsAround(picture, node) {
	const rows = [];
	for (let i = picture.tree.parent[node]; i >= 0 &&
		rows.length < CALLERS; i = picture.tree.parent[i]) {
			const { list, at } = siblingsOf(picture, i);
			rows.push({ node: i, at, of: list.length, isOpen: true });
		}
	rows.reverse();
	const { list, at } = siblingsOf(picture, node);
	const row = (k) => ({ node: list[k], at: k, of: list.length, isOpen: k === at });
	for (let k = Math.max(0, at - NEIGHBOURS); k <= at; k++) rows.push(row(k));
	const callees = calleesOf(picture, node);
	callees.slice(0, CALLEES).forEach((c, k) => rows.push({
		node: c, at: k, of: callees.length, isOpen: false,
	}));
	for (let k = at + 1; k < Math.min(list.length, at + 1 + NEIGHBOURS); k++) rows.push(row(k));
	return rows;
}

export class AccessibleTree {
	constructor(model, flame, grid) {
		this.model = model;
		this.flame = flame;
		this.grid = grid;
		grid.setAttribute("role", "treegrid");
		grid.setAttribute("aria-rowcount", "-1");
		grid.tabIndex = 0;
		grid.classList.add("twin");
		flame.twin = this;
		// From the context menu key.
		grid.addEventListener("contextmenu", (event) => {
			event.preventDefault();
			model.acts.selectionMenu();
		});
		// The browser moves the focus after a press. Take it back, unless the reader has since
		// moved it elsewhere.
		flame.canvas.addEventListener("pointerdown", () => {
			const before = document.activeElement;
			setTimeout(() => {
				const now = document.activeElement;
				if (now === document.body || now === before) this.focus();
			});
		});
	}

	focus() {
		this.grid.focus({ preventScroll: true });
	}

	update() {
		const { model, flame, grid } = this;
		const { picture } = flame;
		const current = flame.selected >= 0 ? flame.selected : flame.focus;
		const rows = rowsAround(picture, current).map((row) => this.rowElement(row, current));
		const titles = [capital(wordsOfFrames(model.data.header).one),
			...cellsOf(model, flame, current).map(([title]) => title)];
		grid.replaceChildren(el("div", { role: "row" },
			...titles.map((t) => el("span", { role: "columnheader" }, t))), ...rows);
		grid.setAttribute("aria-activedescendant", this.idOf(current));
	}

	idOf(node) {
		return `${this.grid.id}-${node}`;
	}

	rowElement({ node, at, of, isOpen }, current) {
		const { model, flame } = this;
		const { tree } = flame.picture;
		const hasCallees = calleesOf(flame.picture, node).length > 0;
		return el("div", {
			role: "row", id: this.idOf(node), "aria-level": String(tree.depth[node] + 1),
			"aria-posinset": String(at + 1), "aria-setsize": String(of),
			"aria-selected": String(node === current),
			"aria-expanded": hasCallees ? String(isOpen) : null,
			onclick: () => model.acts.select(node, flame),
		}, el("span", { role: "rowheader" }, nameOf(model, flame, node)),
		...cellsOf(model, flame, node).map(([, text]) => el("span", { role: "gridcell" }, text)));
	}
}
