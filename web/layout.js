// SPDX-License-Identifier: MIT
// Which frames of a view are visible, and where.
//
// Only frames inside the window and at least half a pixel wide are descended into. Narrower ones
// are drawn as grey columns of one pixel (narrow_frames.js), as deep as the tree is at that place.
// Vertical scrolling does not affect the layout.
import { Silhouette } from "./narrow_frames.js";

export const MIN_WIDTH = 0.5;
const OVER = 2; // pixels by which a box may exceed its view

// A view is {picture, left, span} in values and {offset, width} in pixels.
function addView(view, layout) {
	const { tree, w } = view.picture;
	const { n, end, parent, depth } = tree;
	const { offset, width } = view;
	const scale = width / view.span;
	// next[d]: left edge of the next frame of row d, in values.
	const next = new Float64Array(tree.deepest + 2);
	for (let i = 0; i < n;) {
		const row = depth[i], x = next[row];
		const left = (x - view.left) * scale;
		if (left >= width) {
			// All later callees of the same caller are outside, too.
			i = i > 0 ? end[parent[i]] : n;
			continue;
		}
		next[row] = x + w[i];
		const px = w[i] * scale;
		if (px < MIN_WIDTH || left + px <= 0) {
			if (px > 0 && left + px > 0)
				layout.shadow.add(offset + left, px, row, view.picture.rowsBelow(i));
			i = end[i];
			continue;
		}
		next[row + 1] = x;
		if (row > layout.deepest) layout.deepest = row;
		layout.boxes.push({
			i, view, row, left: offset + Math.max(left, -OVER),
			right: offset + Math.min(left + px, width + OVER),
		});
		i++;
	}
}

// Layout of views: {boxes, callers first; shadow; deepest row}.
export function layOut(views, width) {
	const layout = { views, width, boxes: [], deepest: 0, shadow: new Silhouette(width) };
	for (const view of views) if (view.picture.all > 0) addView(view, layout);
	return layout;
}

const same = ["picture", "left", "span", "offset", "width"];

// Does a layout belong to these views?
export function isLaidOut(layout, views, width) {
	return layout !== null && layout.width === width && layout.views.length === views.length &&
		views.every((view, k) => same.every((key) => view[key] === layout.views[k][key]));
}
