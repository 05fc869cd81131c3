// SPDX-License-Identifier: MIT
// Moving from one frame of a picture to its neighbours. Frames without width are skipped; -1 is no
// frame.
import { BASE, HEAD } from "./data.js";
import { ownTime } from "./tree.js";

function widestChild({ tree, w }, node) {
	let best = -1;
	for (let c = node + 1; c < tree.end[node]; c = tree.end[c])
		if (w[c] > 0 && (best < 0 || w[c] > w[best])) best = c;
	return best;
}

function sibling({ tree, w }, node, step) {
	if (node === 0) return -1;
	const parent = tree.parent[node];
	let before = -1, isPast = false;
	for (let c = parent + 1; c < tree.end[parent]; c = tree.end[c]) {
		if (c === node) {
			if (step < 0) return before;
			isPast = true;
		} else if (w[c] > 0) {
			if (isPast) return c;
			before = c;
		}
	}
	return -1;
}

// The frame in the direction of an arrow key, as drawn: `up` has the roots at the bottom.
export function neighbour(picture, node, key, up) {
	if (key === "ArrowLeft" || key === "ArrowRight")
		return sibling(picture, node, key === "ArrowRight" ? 1 : -1);
	const isToCaller = (key === "ArrowUp") !== up;
	return isToCaller ? Math.max(0, picture.tree.parent[node]) : widestChild(picture, node);
}

// Minimum own change of a frame to step to, as a share of all change.
const LEAST_CHANGE = 1 / 1000;

// Visible nodes whose own time changed, the largest change first.
export function changedNodes({ tree, w, what }) {
	const size = (i) => Math.abs(ownTime(tree, HEAD, i) - ownTime(tree, BASE, i) * what.factor);
	const isOwn = (i) => !tree.inverted || tree.depth[i] === 1;
	let all = 0;
	for (let i = 1; i < tree.n; i++) if (isOwn(i)) all += size(i);
	const nodes = [];
	for (let i = 1; i < tree.n; i++)
		if (w[i] > 0 && isOwn(i) && size(i) > 0 && size(i) >= all * LEAST_CHANGE) nodes.push(i);
	return nodes.sort((a, b) => size(b) - size(a) || a - b);
}

// Visible nodes of matched functions, widest first.
export function matchingNodes({ tree, w }, matched) {
	const nodes = [];
	for (let i = 1; i < tree.n; i++) if (matched[tree.func[i]] && w[i] > 0) nodes.push(i);
	return nodes.sort((a, b) => w[b] - w[a] || a - b);
}
