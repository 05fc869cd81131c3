// SPDX-License-Identifier: MIT
// The visible part of a picture: {left, span} in values, moved by the reader. It never leaves the
// picture.
const NARROWEST = 1e-8; // of the picture

function fit({ left, span }, all) {
	return { left: Math.max(0, Math.min(left, all - span)), span };
}

// The window zoomed by `factor`; the point at `at`, a fraction of the span, stays there.
export function zoomed({ left, span }, all, at, factor) {
	const to = Math.max(all * NARROWEST, Math.min(all, span / factor));
	return fit({ left: left + (span - to) * at, span: to }, all);
}

// The window moved by a fraction of the span.
export function panned({ left, span }, all, by) {
	return fit({ left: left + span * by, span }, all);
}

// The innermost frame that contains the window: the zoomed one. A frame exactly as wide as the
// window counts only if it is on the path to the previously zoomed frame.
export function holderOf({ tree, w, all }, { left, span }, focus) {
	if (span >= all) return 0;
	const way = new Set();
	for (let i = focus; i > 0; i = tree.parent[i]) way.add(i);
	const isWithin = (i, x) => left >= x && left + span <= x + w[i] && (w[i] > span || way.has(i));
	let node = 0, x = 0;
	for (;;) {
		let c = node + 1, at = x;
		for (; c < tree.end[node] && !isWithin(c, at) && at <= left; c = tree.end[c]) at += w[c];
		if (c >= tree.end[node] || !isWithin(c, at)) return node;
		node = c;
		x = at;
	}
}

// A window in fractions of a frame's width, for a link; "": all of it.
export function partOf({ left, span }, x, width) {
	if (left === x && span === width) return "";
	return [(left - x) / width, span / width].map((v) => String(Number(v.toPrecision(7))))
		.join(" ");
}

export function windowOfPart(part, x, width, all) {
	const [from, share] = part.split(" ").map(Number);
	const isGood = part !== "" && Number.isFinite(from) && share > 0;
	return isGood ?
		fit({ left: x + from * width,
			span: Math.max(all * NARROWEST, Math.min(all, share * width)) }, all) :
			{ left: x, span: width };
}
