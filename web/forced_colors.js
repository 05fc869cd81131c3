// SPDX-License-Identifier: MIT
// Forced colours of the reader's system (high contrast), applied to the canvas: frames are
// outlined, those that cost more are filled, and glyphs show the direction of a change.
import { LESS, MORE, solidOf } from "./colors.js";

const query = matchMedia("(forced-colors: active)");

export function whenForced(changed) {
	query.addEventListener("change", changed);
}

// The system colours, in a form that a canvas accepts.
function systemColours() {
	const probe = document.createElement("span");
	document.body.append(probe);
	const of = (name) => {
		probe.style.color = name;
		return getComputedStyle(probe).color;
	};
	const names = ["Canvas", "CanvasText", "Highlight", "HighlightText", "GrayText"].map(of);
	probe.remove();
	return names;
}

// The palette, replaced by the system's colours if these are forced.
export function forcePalette(palette) {
	if (!query.matches) return palette;
	const [page, ink, strong, onStrong, quiet] = systemColours();
	const isMore = (colour) => solidOf(colour) >= MORE && solidOf(colour) < LESS;
	const inkOf = (colour) => (isMore(colour) ? onStrong : ink);
	const fillOf = (_, colour) => (isMore(colour) ? strong : page);
	const forced = {
		...palette, page, ink, quiet, select: ink, match: strong, root: page, removed: ink,
		isOutlined: true, isHollow: true,
		fill: palette.fill.map(fillOf), pale: palette.fill.map(fillOf),
		inkOf, linesOf: inkOf,
	};
	return { ...forced, above: forced };
}
