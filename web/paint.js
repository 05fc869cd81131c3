// SPDX-License-Identifier: MIT
// Drawing one frame: fill, edge, texture, label, and the outline of a selected one. The context is
// a canvas's or an SvgContext (svg_context.js), so only what both support is used.
import { blinkFill, blinkNames } from "./flip.js";
import { ownFlags } from "./listed_changes.js";
import {
	ABOVE_REMOVED, glyphOf, isTogether, MOVED, MOVED_AWAY, NEW, NEW_UNSURE, REMOVED, solidOf,
		UNSURE,
} from "./colors.js";
import { formatShare, formatValue } from "./format.js";
import { frameName } from "./folds.js";
import { fitName, fitText, lastComponent, shortName } from "./labels.js";
import { MIN_WIDTH } from "./layout.js";
import { nodeClass, ownChange } from "./frame_colour.js";

export const ROW = 21;
export const FONT_SIZE = 12;
export const FONT_FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
export const FONT = `${FONT_SIZE}px ${FONT_FAMILY}`;
// For places, whose paler ink would be illegible on many colours, and names that do not fit.
const SMALL_FONT = `10px ${FONT_FAMILY}`;
const GLYPH = 9; // width of a glyph, pixels
const HATCH = 9; // pixels between the hatching lines of unsure frames; 6.4 across (style.css)
// Pixels below the text, for the mark of own change and for the texture below a plate.
const MARK = 3;
const DASH = 3; // pixels of a dash in the underline of a change that is certain only in a sum

function fillBox(ctx, left, y, px) {
	if (px < 6) {
		ctx.fillRect(left, y, px, ROW - 1);
		return;
	}
	ctx.beginPath();
	ctx.roundRect(left, y, px, ROW - 1, 2.5);
	ctx.fill();
}

// Thin slanted lines: unsure, or certain only together with others.
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

// The colour of such lines on a frame; null: none.
export function linesOf(colour, isPale, palette) {
	if (isTogether(colour)) return palette.linesOf(colour, isPale);
	return colour === UNSURE ? palette.quiet : colour === NEW_UNSURE ? palette.removed : null;
}

// Style of edges: dotted if new or moved.
function edgeOf(colour, palette) {
	switch (solidOf(colour)) {
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

	// Flags of functions of the program's own code.
	get own() {
		return ownFlags(this.flame.data);
	}

	isFaint(i) {
		const f = this.flame.picture.tree.func[i];
		return this.flame.matched && f >= 0 && !this.flame.matched[f];
	}

	box(ctx, box, colours) {
		const { picture } = box.view;
		const { tree } = picture;
		const { i, left, y } = box;
		if (this.flame.blink !== null && i > 0) {
			this.blinking(ctx, box, colours);
			return;
		}
		const isAbove = picture === this.flame.picture &&
			tree.depth[i] < tree.depth[this.flame.focus];
		const palette = isAbove ? colours.above : colours;
		const gap = box.right - left > 3 ? 1 : 0;
		const px = Math.max(box.right - left - gap, MIN_WIDTH);
		const colour = i === 0 ? -1 : nodeClass(tree, i, picture.what);
		const hollow = colour === ABOVE_REMOVED || colour === MOVED_AWAY;
		const faint = this.isFaint(i);
		ctx.globalAlpha = faint ? 0.25 : 1;
		const isPale = this.isForeign(picture, i), lines = linesOf(colour, isPale, palette);
		ctx.fillStyle = i === 0 ? palette.root : palette[isPale ? "pale" : "fill"][colour];
		if (colour === REMOVED && palette.isHollow) {
			ctx.fillStyle = palette.removed;
			const alpha = ctx.globalAlpha;
			if (px > 2) ctx.globalAlpha = alpha * 0.13;
			fillBox(ctx, left, y, px);
			ctx.globalAlpha = alpha;
		} else if (!hollow) {
			fillBox(ctx, left, y, px);
			if (px > 4 && lines) hatchBox(ctx, left, y, px, lines);
		} else if (px <= 4) {
			ctx.fillStyle = palette.quiet;
			fillBox(ctx, left, y, px);
		}
		if (i > 0 && !hollow && colour !== REMOVED) this.mark(ctx, box, colour, px, palette);
		if (px > 4) paintEdge(ctx, colour, left, y, px, palette);
		if (px > 24) {
			// Frames that do not match are so pale that they need the page's ink.
			const ink = faint || i === 0 || hollow ? palette.ink :
				colour === REMOVED && palette.isHollow ? palette.removed :
				palette.inkOf(colour, isPale);
			const plate = lines && palette[isPale ? "pale" : "fill"][colour];
			if (faint) ctx.globalAlpha = 0.55;
			this.label(ctx, box, colour, px, ink, plate);
		}
	}

	// Is it foreign code to be drawn pale? Not in CPython's palette.
	isForeign({ tree, what }, i) {
		return i > 0 && !what.isTachyonPalette && this.own[tree.func[i]] === 0;
	}

	// Underline for the change of the frame's own time, to the scale of frames.
	mark(ctx, { i, view, left, y }, colour, px, palette) {
		const change = ownChange(view.picture.tree, i, view.picture.what);
		if (!change) return;
		const width = Math.min(px, (Math.abs(change.delta) / view.span) * view.width),
			top = y + ROW - 1 - MARK;
		if (width < MIN_WIDTH) return;
		ctx.fillStyle = palette.fill[change.colour];
		const step = isTogether(change.colour) ? DASH : width;
		for (let x = 0; x < width; x += 2 * step)
			ctx.fillRect(left + x, top, Math.min(step, width - x), MARK);
		// A line separates it from a frame of the same colour.
		ctx.fillStyle = palette.page;
		if (solidOf(change.colour) === solidOf(colour)) ctx.fillRect(left, top, width, 1);
	}

	blinking(ctx, box, palette) {
		const { i, left, y } = box;
		const { colour, part, share } = blinkFill(box.view.picture, this.flame.blink, i);
		const px = Math.max(box.right - left - 1, MIN_WIDTH), filled = px * Math.min(part, 1);
		ctx.globalAlpha = this.isFaint(i) ? 0.25 : 1;
		ctx.fillStyle = palette.fill[colour];
		if (filled > 0) fillBox(ctx, left, y, filled);
		if (px > 4) paintEdge(ctx, ABOVE_REMOVED, left, y, px, palette);
		if (filled > 24) this.label(ctx, box, colour, filled, palette.inkOf(colour), null, share);
	}

	// plate: colour of the area between the text and a texture, or null. share: the
	// share to print; null: that of the frame's width in the whole.
	label(ctx, { i, view, left, y, tail }, colour, px, ink, plate, share = null) {
		const { picture } = view;
		const from = Math.max(left, view.offset) + 6;
		const room = Math.min(left + px, view.offset + view.width + 2) - 5 - from;
		if (room < 14) return;
		const middle = y + (ROW - 1) / 2 + 0.5;
		ctx.fillStyle = ink;
		if (i === 0) {
			this.root(ctx, this.rootLabel(picture), picture.what.rootName, from, middle, room);
			return;
		}
		const part = ` (${formatShare(share ?? picture.w[i] / picture.all)})`;
		const words = this.words(ctx, i, picture, colour, room, tail ?? part);
		const last = words.at(-1);
		if (!last) return;
		if (plate) {
			ctx.fillStyle = plate;
			ctx.fillRect(from - 3, y, Math.min(last.at + last.width + 7, room + 6),
				ROW - 1 - MARK);
			ctx.fillStyle = ink;
		}
		for (const { text, at, isSmall } of words) {
			if (isSmall) ctx.font = SMALL_FONT;
			ctx.fillText(text, from + at, middle);
			if (isSmall) ctx.font = FONT;
		}
	}

	// A root's label: whole, else in smaller type, else only its name, cut if need be.
	root(ctx, text, name, x, y, room) {
		const fits = () => ctx.measureText(text).width <= room;
		if (!fits()) ctx.font = SMALL_FONT;
		const isWhole = fits();
		if (!isWhole) ctx.font = FONT;
		ctx.fillText(isWhole ? text : fitText(ctx, name, room), x, y);
		ctx.font = FONT;
	}

	// A frame's name cut to fit: whole, else without template arguments, else its last component,
	// else that in smaller type, else cut.
	name(ctx, { tree }, i, room) {
		const { labels, data } = this.flame;
		const f = tree.func[i], own = labels.name(f), whole = frameName(data, tree, i, own);
		const width = whole === own ? labels.width(ctx, f) : ctx.measureText(whole).width;
		if (width <= room) return { text: whole, width, isCut: false, isSmall: false };
		const text = shortName(whole), taken = text === whole ? width : ctx.measureText(text).width;
		if (taken <= room) return { text, width: taken, isCut: false, isSmall: false };
		const last = lastComponent(text) > 0 ? fitName(ctx, text, room) : "";
		if (last.startsWith("…")) return {
			text: last, width: ctx.measureText(last).width, isCut: true, isSmall: false,
		};
		const wanted = this.smallWidth(ctx, text);
		if (wanted <= room) return { text, width: wanted, isCut: true, isSmall: true };
		ctx.font = SMALL_FONT;
		const small = fitName(ctx, text, room), smallWidth = ctx.measureText(small).width;
		ctx.font = FONT;
		return { text: small, width: smallWidth, isCut: true, isSmall: true };
	}

	// Texts in a frame, from left to right, as far as there is room: [{text, at, width}].
	words(ctx, i, picture, colour, room, figure) {
		const f = picture.tree.func[i], words = [];
		let at = 0;
		const add = (text, width, gap = 0, isSmall = false) => {
			words.push({ text, at, width, isSmall });
			at += width + gap;
		};
		const glyph = picture.what.isDiff ? glyphOf(colour) : "";
		const beside = glyph && room > 34 ? this.name(ctx, picture, i, room - GLYPH - 5) : null;
		if (beside?.text) add(glyph, GLYPH, 5);
		// Without room for both, prefer the name to the glyph, which only repeats the
		// colour.
		const name = beside?.text ? beside : this.name(ctx, picture, i, room);
		if (!name.text) return words;
		add(name.text, name.width, 0, name.isSmall);
		if (name.isCut) return words;
		const isNew = solidOf(colour) === NEW || colour === NEW_UNSURE;
		const tail = `${figure}${isNew ? " (new)" : ""}`;
		const { width } = ctx.measureText(tail);
		if (room - at < width) return words;
		add(tail, width, 10);
		const place = this.flame.placeOf(f);
		const wanted = place ? this.smallWidth(ctx, place) : Infinity;
		if (room - at >= wanted) add(place, wanted, 0, true);
		return words;
	}

	smallWidth(ctx, text) {
		return this.flame.labels.smallWidth(text, () => {
			ctx.font = SMALL_FONT;
			const { width } = ctx.measureText(text);
			ctx.font = FONT;
			return width;
		});
	}

	// Tooltip of a frame in a saved picture.
	title({ i, view: { picture } }) {
		if (i === 0) return this.rootLabel(picture);
		const f = picture.tree.func[i];
		const place = this.flame.placeOf(f);
		const name = frameName(this.flame.data, picture.tree, i, this.flame.labels.name(f));
		return `${name} (${formatShare(picture.w[i] / picture.all)})${place ? ` ${place}` : ""}`;
	}

	rootLabel(picture) {
		const { data } = this.flame;
		const { what, tree } = picture;
		const { blink } = this.flame;
		const value = (v) => formatValue(v, data.unit);
		if (blink !== null) return `${blinkNames[blink]} · ${value(tree.total[blink][0])}`;
		if (what.widths === "delta") return `${what.rootName} · ${value(picture.all)} of change`;
		if (!what.isDiff || tree.elided) return `${what.rootName} · ${value(picture.all)}`;
		return `${what.rootName} · ${value(tree.total[0][0])} → ${value(tree.total[1][0])}`;
	}

	marks(ctx, boxes, palette) {
		for (const box of boxes) {
			const f = this.flame.picture.tree.func[box.i];
			const isHit = this.flame.matched && f >= 0 && this.flame.matched[f];
			const strong = box.i === this.flame.selected;
			if (!isHit && !strong) continue;
			const px = box.right - box.left;
			if (px < 3 && !strong) continue;
			ctx.setLineDash([]);
			ctx.strokeStyle = isHit && !strong ? palette.match : palette.select;
			ctx.lineWidth = strong ? 2 : 1.25;
			ctx.strokeRect(box.left + 0.5, box.y + 0.5, Math.max(px - 2, 1), ROW - 2);
		}
	}
}
