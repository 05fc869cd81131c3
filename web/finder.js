// SPDX-License-Identifier: MIT
// Finding frames: by words in the search box, and by how much they changed.
import { formatCount, formatShare, formatValue, plural } from "./format.js";
import { Searcher } from "./search.js";
import { matchedTotal, pathOf } from "./tree.js";
import { changedNodes, matchingNodes } from "./walk.js";

const $ = (id) => document.getElementById(id);

const NARROW = 40; // pixels below which a frame that is gone to is zoomed to
const PATIENCE = 60; // ms without typing before a search

// The index after a step through n things, round; -1 is before the first.
function nextIndex(at, step, n) {
	return at < 0 && step < 0 ? n - 1 : (at + step + n) % n;
}

export class Finder {
	constructor(app) {
		this.app = app;
		this.setData(app.data);
		let waiting = 0;
		$("query").addEventListener("input", (event) => {
			clearTimeout(waiting);
			waiting = setTimeout(() => this.search(event.target.value), PATIENCE);
		});
		$("next-match").addEventListener("click", () => this.nextMatch(1));
		$("previous-match").addEventListener("click", () => this.nextMatch(-1));
	}

	setData(data) {
		this.searcher = new Searcher(data);
	}

	// Flags of functions that the query matches, or null; says how many there are.
	match() {
		const { app } = this;
		const found = this.searcher.find(app.state.query);
		const output = $("found");
		this.matches = null;
		const isOn = found !== null;
		$("search").classList.toggle("on", isOn);
		$("next-match").hidden = $("previous-match").hidden = !isOn;
		if (!isOn) {
			output.textContent = "";
			return null;
		}
		const side = app.widthSide();
		const upright = app.upright();
		const total = matchedTotal(upright, found.matched)[side];
		const share = total / (upright.total[side][0] || 1);
		output.textContent = `${plural(found.count, "function")} · ${formatShare(share)}`;
		output.title = `${formatValue(total, app.data.unit)} in samples that pass through them`;
		return found.matched;
	}

	search(query) {
		const { app } = this;
		app.state.query = query;
		app.trail.remember(false);
		app.flame.matched = this.match();
		app.flame.draw();
	}

	focus() {
		$("query").focus();
		$("query").select();
	}

	findFunction(f) {
		const { app } = this;
		const name = app.data.functions.names[f];
		$("query").value = name;
		app.state.query = name;
		app.set({ tab: "flame" });
		this.nextMatch(1);
	}

	nextMatch(step) {
		const { app } = this;
		if (!app.flame.matched) return;
		if (!this.matches) {
			this.matches = matchingNodes(app.flame.picture, app.flame.matched);
			this.matchAt = -1;
		}
		const nodes = this.matches;
		if (!nodes.length) return;
		this.matchAt = nextIndex(this.matchAt, step, nodes.length);
		this.goTo(nodes[this.matchAt]);
		app.hint(`Match ${formatCount(this.matchAt + 1)} of ${formatCount(nodes.length)}`);
	}

	forgetChanges() {
		this.changes = null;
	}

	// In a judged page those that changed, the most certain first; else by the size of the change.
	nextChange(step) {
		const { app } = this;
		const { picture } = app.flame;
		if (!picture.what.isDiff) return;
		if (!this.changes) {
			this.changes = changedNodes(picture);
			this.changeAt = -1;
		}
		const nodes = this.changes;
		if (!nodes.length) {
			app.say("Nothing changed.");
			return;
		}
		this.changeAt = nextIndex(this.changeAt, step, nodes.length);
		this.goTo(nodes[this.changeAt]);
		app.hint(`Change ${formatCount(this.changeAt + 1)} of ${formatCount(nodes.length)}, the ${picture.what.verdicts ? "most certain" : "biggest"} first`);
	}

	// Select a frame, and zoom to its caller when it would be too narrow to be seen.
	goTo(node) {
		const { app } = this;
		const { flame } = app;
		const { tree, w } = flame.picture;
		const isOutside = w[node] / flame.span * flame.width < NARROW ||
			!(node >= flame.focus && node < tree.end[flame.focus]);
		if (isOutside) app.zoomTo(pathOf(tree, tree.parent[node]));
		app.selection.select(node);
	}

	clear() {
		const { app } = this;
		app.endBlink();
		$("query").value = "";
		document.activeElement?.blur?.();
		app.flame.selected = -1;
		app.tooltip.hide();
		this.search("");
	}
}
