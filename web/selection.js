// SPDX-License-Identifier: MIT
// The selected frame: moved by keys, shown with its tooltip and announced to screen readers. In the
// sandwich, the half with the focus is used.
import { isTouch } from "./last_pointer.js";
import { ROW } from "./paint.js";
import { sentenceOf } from "./screen_reader.js";
import { pathOf } from "./tree.js";
import { neighbour } from "./neighbours.js";

export class Selection {
	constructor(app) {
		this.app = app;
	}

	get flame() {
		const { app } = this;
		if (app.state.tab !== "sandwich") return app.flame;
		const [callers, callees] = app.sandwich.halves;
		return callers.scroller.contains(document.activeElement) ? callers : callees;
	}

	// The chart has a selection of its own: a time, not a frame of a tree.
	get chart() {
		const { app } = this;
		return app.state.tab === "chart" ? app.chart : null;
	}

	select(node, flame = this.flame) {
		const { app } = this;
		flame.selected = node;
		flame.reveal(node);
		flame.draw();
		flame.twin.update();
		if (node <= 0) {
			app.tooltip.hide();
			app.say(sentenceOf(app.model, flame, Math.max(node, 0)));
			return;
		}
		const box = flame.boxOf(node);
		const frame = flame.canvas.getBoundingClientRect();
		if (isTouch()) app.sheet.show({
			flame, node, isAside: false, f: flame.picture.tree.func[node],
		});
		else if (!flame.isMoving)
			app.tooltip.show(node, {
				x: frame.left + box.left, y: frame.top + box.top, below: 28,
				avoid: this.pathBoxes(flame, node),
			}, false, flame);
		app.say(sentenceOf(app.model, flame, node));
	}

	// Boxes of the frames on the path through a node: its callers, itself, and the widest
	// callees.
	pathBoxes(flame, node) {
		const { tree, w } = flame.picture, frame = flame.canvas.getBoundingClientRect();
		const path = [];
		for (let at = node; at > 0; at = tree.parent[at]) path.push(at);
		for (let at = node; at >= 0;) {
			let widest = -1;
			for (let c = at + 1; c < tree.end[at]; c = tree.end[c])
				if (w[c] > 0 && (widest < 0 || w[c] > w[widest])) widest = c;
			if (widest >= 0) path.push(widest);
			at = widest;
		}
		return path.map((i) => {
			const { left, right, top } = flame.boxOf(i);
			return {
				left: frame.left + left, width: Math.max(0, right - left), top: frame.top + top,
				height: ROW,
			};
		});
	}

	// Open the menu of actions for the selected frame.
	menu() {
		if (this.chart) {
			this.chart.menu();
			return;
		}
		const { app, flame } = this, node = flame.selected;
		if (node <= 0) return;
		const { left, top } = flame.boxOf(node), frame = flame.canvas.getBoundingClientRect();
		app.openMenu({ flame, node, isAside: false, f: flame.picture.tree.func[node] }, {
			x: frame.left + left + 12, y: frame.top + top + 20,
		});
	}

	move(key) {
		if (this.chart) {
			this.chart.move(key);
			return;
		}
		const { flame } = this;
		if (flame.selected < 0) {
			this.select(flame.focus);
			return;
		}
		const next = neighbour(flame.picture, flame.selected, key, flame.up);
		if (next >= 0) this.select(next);
	}

	// Zoom to the selected frame; in the sandwich, put its function in the middle.
	zoom() {
		if (this.chart) {
			this.chart.zoomToSelected();
			return;
		}
		const { app, flame } = this;
		if (flame.selected < 0) return;
		const { tree } = flame.picture;
		if (flame === app.flame) app.zoomTo(pathOf(tree, flame.selected));
		else if (flame.selected > 0) app.set({ middle: tree.func[flame.selected] }, true);
	}
}
