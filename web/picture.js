// SPDX-License-Identifier: MIT
// A shown tree with its widths, as drawn on the canvas and in a saved picture.
//
// Children follow each other from their parent's left edge, in tree order. Positions are not stored
// but added up on the way down, so a million frames only need memory for their widths.
import { widthsOf } from "./widths.js";

export class Picture {
	// `what` is passed on to nodeClass.
	constructor(tree, what) {
		this.tree = tree;
		this.what = what;
		this.w = widthsOf(tree, what);
		this.all = this.w[0];
		this.known = new (tree.deepest < 0xffff ? Uint16Array : Uint32Array)(tree.n);
	}

	// Left edge of a node, in values.
	placeOf(node) {
		const { tree, w } = this;
		const path = [];
		for (let i = node; i > 0; i = tree.parent[i]) path.push(i);
		let x = 0;
		for (let k = path.length - 1; k >= 0; k--)
			for (let c = tree.parent[path[k]] + 1; c !== path[k]; c = tree.end[c]) x += w[c];
		return x;
	}

	// Number of visible rows of a node's subtree; computed once.
	rowsBelow(node) {
		const { tree: { depth, end }, w, known } = this;
		if (!known[node]) {
			let deepest = depth[node];
			for (let i = node + 1; i < end[node]; i++) if (depth[i] > deepest && w[i] > 0)
				deepest = depth[i];
			known[node] = deepest - depth[node] + 1;
		}
		return known[node] - 1;
	}
}

// The same, computed when it is drawn: its total (`all`) is known before.
export class LaterPicture {
	constructor(all, what, treeOf) {
		this.all = all;
		this.what = what;
		this.treeOf = treeOf;
		this.made = null;
	}
	get picture() {
		return (this.made ??= new Picture(this.treeOf(), this.what));
	}
	get tree() {
		return this.picture.tree;
	}
	get w() {
		return this.picture.w;
	}
	placeOf(node) {
		return this.picture.placeOf(node);
	}
	rowsBelow(node) {
		return this.picture.rowsBelow(node);
	}
}
