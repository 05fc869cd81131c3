// SPDX-License-Identifier: MIT
// How one frame looks: its fill, edge, texture and label, and the outline of a marked one. The
// context may be a canvas's or a Pen's (pen.js): only what both know is called.
import { blinkFill, blinkNames } from "./blink.js";
import { ABOVE_REMOVED, glyphOf, MOVED, MOVED_AWAY, NEW, NEW_UNSURE, REMOVED, UNSURE } from "./colors.js";
import { formatShare, formatValue } from "./format.js";
import { fitText } from "./labels.js";
import { MIN_WIDTH } from "./layout.js";
import { nodeClass } from "./meaning.js";

export const ROW = 21;
export const FONT_SIZE = 12;
export const FONT_FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
export const FONT = `${FONT_SIZE}px ${FONT_FAMILY}`;
const HATCH = 9; // pixels between the lines of what cannot be told

function fillBox(ctx, left, y, px) {
	if (px < 6) {
		ctx.fillRect(left, y, px, ROW - 1);
		return;
	}
	ctx.beginPath();
	ctx.roundRect(left, y, px, ROW - 1, 2.5);
	ctx.fill();
}

// Thin slanted lines: neither a change nor none.
function hatchBox(ctx, left, y, px, colour) {
	const from = Math.max(left, 0), to = Math.min(left + px, from + 4096);
	ctx.strokeStyle = colour;
	ctx.lineWidth = 1;
	ctx.beginPath();
	for (let x = from - (from % HATCH); x < to; x += HATCH) {
		if (x < left || x + ROW - 1 > left + px) continue;
		ctx.moveTo(x, y + ROW - 1);
		ctx.lineTo(x + ROW - 1, y);
	}
	ctx.stroke();
}

// How edges look: what is new or moved is dotted.
function edgeOf(colour, palette) {
	switch (colour) {
	case NEW: return [palette.inkOf(NEW), true];
	case NEW_UNSURE: case MOVED: case MOVED_AWAY: return [palette.removed, true];
	case REMOVED: return [palette.removed, false];
	case ABOVE_REMOVED: return [palette.quiet, false];
	default: return null;
	}
}

function paintEdge(ctx, colour, left, y, px, palette) {
	const edge = edgeOf(colour, palette) ?? (palette.isOutlined ? [palette.ink, false] : null);
	if (!edge) return;
	ctx.lineWidth = 1;
	ctx.strokeStyle = edge[0];
	ctx.setLineDash(edge[1] ? [2, 2] : []);
	ctx.beginPath();
	ctx.roundRect(left + 0.5, y + 0.5, px - 1, ROW - 2, 2.5);
	ctx.stroke();
	ctx.setLineDash([]);
}

export class Painter {
	constructor(flame) {
		this.flame = flame;
	}

	isFaint(i) {
		const f = this.flame.picture.tree.func[i];
		return this.flame.matched && f >= 0 && !this.flame.matched[f];
	}

	box(ctx, box, palette) {
		const { picture } = box.view;
		const { tree } = picture;
		const { i, left, y } = box;
		if (this.flame.blink !== null && i > 0) {
			this.blinking(ctx, box, palette);
			return;
		}
		const isAbove = picture === this.flame.picture && tree.depth[i] < tree.depth[this.flame.focus];
		const gap = box.right - left > 3 ? 1 : 0;
		const px = Math.max(box.right - left - gap, MIN_WIDTH);
		const colour = i === 0 ? -1 : nodeClass(tree, i, picture.what);
		const hollow = colour === ABOVE_REMOVED || colour === MOVED_AWAY;
		const faint = this.isFaint(i);
		ctx.globalAlpha = faint ? 0.25 : isAbove ? 0.6 : 1;
		ctx.fillStyle = i === 0 ? palette.root : palette.fill[colour];
		if (colour === REMOVED && palette.isHollow) {
			ctx.fillStyle = palette.removed;
			const alpha = ctx.globalAlpha;
			if (px > 2) ctx.globalAlpha = alpha * 0.13;
			fillBox(ctx, left, y, px);
			ctx.globalAlpha = alpha;
		} else if (!hollow) {
			fillBox(ctx, left, y, px);
			if (px > 4 && colour === UNSURE) hatchBox(ctx, left, y, px, palette.quiet);
			if (px > 4 && colour === NEW_UNSURE) hatchBox(ctx, left, y, px, palette.removed);
		} else if (px <= 4) {
			ctx.fillStyle = palette.quiet;
			fillBox(ctx, left, y, px);
		}
		if (px > 4) paintEdge(ctx, colour, left, y, px, palette);
		if (px > 24) {
			// What does not match is so pale that it takes the page's ink.
			const ink = faint || i === 0 || hollow ? palette.ink :
				colour === REMOVED && palette.isHollow ? palette.removed : palette.inkOf(colour);
			if (faint) ctx.globalAlpha = 0.55;
			this.label(ctx, box, colour, px, ink);
		}
	}

	blinking(ctx, box, palette) {
		const { i, left, y } = box;
		const { colour, part, share } = blinkFill(box.view.picture, this.flame.blink, i);
		const px = Math.max(box.right - left - 1, MIN_WIDTH), filled = px * Math.min(part, 1);
		ctx.globalAlpha = this.isFaint(i) ? 0.25 : 1;
		ctx.fillStyle = palette.fill[colour];
		if (filled > 0) fillBox(ctx, left, y, filled);
		if (px > 4) paintEdge(ctx, ABOVE_REMOVED, left, y, px, palette);
		if (filled > 24) this.label(ctx, box, colour, filled, palette.inkOf(colour), share);
	}

	label(ctx, { i, view, left, y }, colour, px, ink, share = view.picture.w[i] / view.picture.all) {
		const { picture } = view;
		const from = Math.max(left, view.offset) + 6;
		const room = Math.min(left + px, view.offset + view.width + 2) - 5 - from;
		if (room < 14) return;
		const middle = y + (ROW - 1) / 2 + 0.5;
		ctx.fillStyle = ink;
		if (i === 0) {
			ctx.fillText(fitText(ctx, this.rootLabel(picture), room), from, middle);
			return;
		}
		const f = picture.tree.func[i];
		const glyph = picture.what.isDiff ? glyphOf(colour) : "";
		let at = from;
		if (glyph && room > 34) {
			ctx.fillText(glyph, at, middle);
			at += 14;
		}
		const leftOver = () => room - (at - from);
		const text = this.flame.labels.fit(ctx, f, leftOver());
		ctx.fillText(text, at, middle);
		at += this.flame.labels.width(ctx, f);
		const rest = [`(${formatShare(share)})`];
		if (colour === NEW || colour === NEW_UNSURE) rest.push("(new)");
		const tail = ` ${rest.join(" ")}`;
		const width = ctx.measureText(tail).width;
		if (leftOver() < width) return;
		ctx.fillText(tail, at, middle);
		at += width + 10;
		const place = this.flame.location(f);
		if (!place || leftOver() < ctx.measureText(place).width) return;
		ctx.globalAlpha *= 0.62;
		ctx.fillText(place, at, middle);
	}

	// The frame in words, for a picture that can be pointed at.
	title({ i, view: { picture } }) {
		if (i === 0) return this.rootLabel(picture);
		const f = picture.tree.func[i];
		const place = this.flame.location(f);
		return `${this.flame.labels.name(f)} (${formatShare(picture.w[i] / picture.all)})${place ? ` ${place}` : ""}`;
	}

	rootLabel(picture) {
		const { data } = this.flame;
		const { what, tree } = picture;
		if (this.flame.blink !== null) return `${blinkNames[this.flame.blink]} · ${formatValue(tree.total[this.flame.blink][0], data.unit)}`;
		if (what.widths === "delta") return `${what.rootName} · ${formatValue(picture.all, data.unit)} of change`;
		const before = what.isDiff && !tree.elided ? `${formatValue(tree.total[0][0], data.unit)} → ` : "";
		return `${what.rootName} · ${before}${formatValue(what.isDiff && !tree.elided ? tree.total[1][0] : picture.all, data.unit)}`;
	}

	marks(ctx, boxes, palette) {
		for (const box of boxes) {
			const f = this.flame.picture.tree.func[box.i];
			const isHit = this.flame.matched && f >= 0 && this.flame.matched[f];
			const strong = box.i === this.flame.selected;
			if (!isHit && !strong && box.i !== this.flame.hovered) continue;
			const px = box.right - box.left;
			if (px < 3 && !strong) continue;
			ctx.setLineDash([]);
			ctx.strokeStyle = isHit && !strong ? palette.match : palette.select;
			ctx.lineWidth = strong ? 2 : 1.25;
			ctx.strokeRect(box.left + 0.5, box.y + 0.5, Math.max(px - 2, 1), ROW - 2);
		}
	}
}
