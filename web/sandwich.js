// SPDX-License-Identifier: MIT
// The Sandwich view: one function in the middle, all callers above, all callees below, merged over
// all calls.
//
//      [ main      ][ worker ]      callers, upside down
//      [ parse               ]      the function
//      [ split ][ decode ]          callees
//
// A half that needs less than its part of the window leaves the rest to the other.
//
// In both halves a sample counts once, at its outermost frame of the function.
import { wordsOfFrames } from "./cost_words.js";
import { BASE, HEAD } from "./data.js";
import { el } from "./dom.js";
import { Flame } from "./flame.js";
import { capital } from "./format.js";
import { isTouch } from "./last_pointer.js";
import { showName } from "./labels.js";
import { Picture } from "./picture.js";
import { callersTree } from "./tree.js";
import { AccessibleTree } from "./screen_reader.js";

const OPEN_ALL_BELOW = 1e5, NARROWEST = 1 / 20000;

function outermost(tree, f) {
	const nodes = [];
	for (let i = 1; i < tree.n;) {
		if (tree.func[i] === f) nodes.push(i);
		i = tree.func[i] === f ? tree.end[i] : i + 1;
	}
	return nodes;
}

// The callers' half: the paths to the outermost frames, each with its total.
export function callersOf(tree, f, functionCount, factor) {
	const nodes = outermost(tree, f);
	const all = tree.total.map((values) => nodes.reduce((sum, i) => sum + values[i], 0));
	const callers = callersTree(tree, nodes, tree.total, all, functionCount, factor);
	callers.ofTotals = true;
	return callers;
}

// Callees of nodes, by function: [[function, nodes]].
function calleesByFunction(tree, nodes) {
	const groups = new Map();
	for (const i of nodes)
		for (let c = i + 1; c < tree.end[i]; c = tree.end[c]) {
			const group = groups.get(tree.func[c]);
			if (group) group.push(c);
			else groups.set(tree.func[c], [c]);
		}
	return [...groups];
}

// The callees' half: subtrees of all outermost frames, merged.
export function calleesOf(tree, f, factor) {
	const func = [-1], parent = [-1], depth = [0];
	const self = [[0], [0]], total = [[0], [0]];
	const sum = (values, nodes) => nodes.reduce((s, i) => s + values[i], 0);
	const pending = [];
	const push = (groups, up) => groups
		.map(([g, nodes]) => ({
			g, nodes, up,
			weight: Math.max(sum(tree.total[BASE], nodes) * factor, sum(tree.total[HEAD], nodes)),
		}))
		.sort((a, b) => a.weight - b.weight || b.g - a.g).forEach((group) => pending.push(group));
	const roots = outermost(tree, f);
	push([[f, roots]], 0);
	// In large trees, parts that are too small for any screen are not opened.
	const size = roots.reduce((all, i) => all + tree.end[i] - i, 0);
	const limit = size > OPEN_ALL_BELOW ? pending[0].weight * NARROWEST : 0;
	while (pending.length) {
		const { g, nodes, up, weight } = pending.pop();
		const at = func.push(g) - 1;
		parent.push(up);
		depth.push(depth[up] + 1);
		for (const side of [BASE, HEAD]) {
			self[side].push(sum(tree.self[side], nodes));
			total[side].push(sum(tree.total[side], nodes));
			if (up === 0) total[side][0] += total[side][at];
		}
		if (weight >= limit) push(calleesByFunction(tree, nodes), at);
	}
	const n = func.length, end = Uint32Array.from(func, (_, i) => i + 1);
	for (let i = n - 1; i > 0; i--) end[parent[i]] = Math.max(end[parent[i]], end[i]);
	const floats = (sides) => sides.map((v) => Float64Array.from(v));
	return {
		n, end, func: Int32Array.from(func), parent: Int32Array.from(parent),
		depth: Uint32Array.from(depth),
		deepest: depth.reduce((a, b) => Math.max(a, b), 0), self: floats(self),
		total: floats(total), inverted: false,
	};
}

export class Sandwich {
	// `main` has the colours and the search.
	constructor(model, main, tooltip, section) {
		this.model = model;
		this.main = main;
		this.tooltip = tooltip;
		this.title = el("h2", {});
		const [callers, callees] = ["Callers", "Callees"].map((name) => this.half(name));
		const { above, below } = wordsOfFrames(model.data.header);
		this.halves = [callers, callees];
		this.none = [`No ${above}.`, `No ${below}.`]
			.map((words) => el("p", { class: "quiet" }, words));
		callers.up = true;
		// The function is drawn once, as the first row of the callees.
		callers.hidden = 2;
		callees.hidden = 1;
		section.append(this.title, this.none[0], callers.scroller, callees.scroller, this.none[1]);
	}

	// The halves that are drawn.
	get shown() {
		return this.halves.filter(({ scroller }) => !scroller.hidden);
	}

	half(name) {
		const { model, tooltip } = this;
		const canvas = el("canvas", { "aria-hidden": "true" });
		const grid = el("div", {
			id: `grid-${name.toLowerCase()}`, "aria-describedby": "grid-help",
		});
		const space = el("div", {}, grid, canvas);
		const scroller = el("div", { class: "half" }, space);
		const flame = new Flame(model.data, {
			canvas, space, scroller, placeOf: (f) => model.shortPlaceOf(f),
		});
		new AccessibleTree(model, flame, grid);
		const at = (event) => {
			const box = canvas.getBoundingClientRect();
			return flame.hit(event.clientX - box.left, event.clientY - box.top);
		};
		canvas.addEventListener("pointermove", (event) => {
			if (event.pointerType === "touch") return;
			const node = at(event);
			canvas.style.cursor = node > 0 ? "pointer" : "";
			flame.hover(node);
			if (node > 0)
				tooltip.show(node, { x: event.clientX, y: event.clientY }, false, flame);
			else tooltip.hide();
		});
		canvas.addEventListener("pointerleave", () => {
			flame.hover(-1);
			tooltip.hide();
		});
		canvas.addEventListener("click", (event) => {
			const node = at(event);
			if (node > 0 && isTouch()) model.acts.select(node, flame);
			else if (node > 0) model.acts.set({ middle: flame.picture.tree.func[node] }, true);
		});
		canvas.addEventListener("contextmenu", (event) => {
			const node = at(event);
			if (node <= 0) return;
			event.preventDefault();
			model.acts.openMenu({ flame, node, isAside: false, f: flame.picture.tree.func[node] },
				{ x: event.clientX, y: event.clientY });
		});
		scroller.addEventListener("scroll", () => flame.draw());
		new ResizeObserver(() => flame.picture && this.draw()).observe(scroller);
		return flame;
	}

	// Show both halves of function f in a tree; a diff is as wide as both sides, so nothing is
	// hidden.
	update(tree, f, what) {
		const { data } = this.model;
		const drawn = { ...what, widths: what.isDiff ? "union" : "side", rootName: "All" };
		const trees = [callersOf(tree, f, data.functions.n, data.factor),
			calleesOf(tree, f, data.factor)];
		const name = showName(data.functions.names[f]);
		const { above, below } = wordsOfFrames(data.header);
		this.title.textContent = `${name}: ${above} above, ${below} below`;
		const isAlone = trees.map(({ deepest }) => deepest < 2);
		this.none.forEach((note, k) => (note.hidden = !isAlone[k]));
		this.halves[0].scroller.hidden = isAlone[0];
		this.halves.forEach((flame, k) => {
			flame.setPicture(new Picture(trees[k], drawn), 0);
			flame.twin.grid.setAttribute("aria-label", `${capital(k ? below : above)} of ${name}`);
		});
		this.draw();
	}

	draw() {
		for (const flame of this.shown) {
			flame.palette = this.main.palette;
			flame.matched = this.main.matched;
			if (!flame.scroller.clientWidth) continue;
			flame.scroller.style.maxHeight = `${flame.needed}px`;
			flame.settle();
		}
	}
}
