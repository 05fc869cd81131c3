// SPDX-License-Identifier: MIT
// Drawing a shown tree on a canvas, and finding the frame under a point.
//
// The view is a window on the x axis: [left, left + span) in the tree's own values. Zooming moves
// that window, so callers of a zoomed frame fill the width by themselves. Only what is inside the
// window and at least half a pixel wide is visited below; what is narrower adds to a silhouette,
// one grey column a pixel, as deep as the tree is there.
//
// Beside the picture may stand an aside: what was removed, outside the head's 100 % but to the same
// scale. Both trees number their nodes alike. It makes room for a zoom.
//
//   [ picture: 100 % of the head        ] [ removed ]
import { blinkFill, blinkNames } from "./blink.js";
import { glyphOf, nodeClass, NEW, REMOVED, ABOVE_REMOVED, UNSURE } from "./colors.js";
import { formatShare, formatValue } from "./format.js";
import { placeNodes } from "./tree.js";
import { widthsOf } from "./widths.js";

const ROW = 21;
const HATCH = 9; // pixels between the lines of what cannot be told
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const MIN_WIDTH = 0.5;
const PAD = 6;
const GAP = 14;
const ASIDE_MIN = 28;
const ASIDE_MAX = 0.6;

// Deepest row of each subtree that has any width.
function rowsBelow(tree, w) {
	const rows = new Uint32Array(tree.n);
	for (let i = tree.n - 1; i > 0; i--) {
		if (!(w[i] > 0)) continue;
		const p = tree.parent[i];
		if (rows[p] < rows[i] + 1) rows[p] = rows[i] + 1;
	}
	return rows;
}

// A tree with widths: what the canvas draws. `what` is passed on to nodeClass.
export function makePicture(tree, what) {
	const w = widthsOf(tree, what);
	return { tree, w, x: placeNodes(tree, w), rows: rowsBelow(tree, w), what, all: w[0] };
}

const odd = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

// A name fit for one line.
export function showName(name) {
	if (!name) return "(no name)";
	return (name.length > 400 ? `${name.slice(0, 400)}…` : name).replace(odd, "\ufffd");
}

class Labels {
	constructor(functions) {
		this.names = new Array(functions.n);
		this.widths = new Float32Array(functions.n);
		this.source = functions.names;
	}
	name(f) {
		return (this.names[f] ??= showName(this.source[f]));
	}
	width(ctx, f) {
		return (this.widths[f] ||= ctx.measureText(this.name(f)).width);
	}
	// The name, cut to fit.
	fit(ctx, f, room) {
		const name = this.name(f), width = this.width(ctx, f);
		if (width <= room) return name;
		return cutText(ctx, name, width, room);
	}
}

export class Flame {
	constructor(data, { canvas, space, scroller, location }) {
		this.data = data;
		this.canvas = canvas;
		this.space = space;
		this.scroller = scroller;
		this.location = location;
		this.ctx = canvas.getContext("2d", { alpha: false });
		this.labels = new Labels(data.functions);
		this.up = false;
		this.focus = 0;
		this.selected = -1;
		this.hovered = -1;
		this.matched = null;
		// The side that blinks, or null.
		this.blink = null;
		this.palette = null;
		this.picture = null;
		this.aside = null;
		this.asideShown = 0;
		this.left = 0;
		this.span = 1;
		this.animation = 0;
	}

	// `paper` is a size to draw all rows at, for printing.
	get full() {
		return this.paper?.width ?? this.scroller.clientWidth;
	}
	// What the picture has of it.
	get width() {
		const aside = this.asideWidth;
		return this.full - (aside ? this.asideShown * (aside + GAP) : 0);
	}
	// To the picture's scale, but never so wide that the picture has no room, and 0 when too narrow.
	get asideWidth() {
		if (!this.aside) return 0;
		const removed = this.aside.all * this.aside.what.factor;
		const px = Math.min(ASIDE_MAX, removed / (removed + this.picture.all)) * (this.full - GAP);
		return px < ASIDE_MIN ? 0 : px;
	}
	get height() {
		return this.paper?.height ?? this.scroller.clientHeight;
	}
	get ratio() {
		return this.paper ? 2 : window.devicePixelRatio || 1;
	}
	get top() {
		return this.paper ? 0 : this.scroller.scrollTop;
	}

	// Whether the window has not yet arrived at the zoomed frame.
	get isMoving() {
		return this.span !== (this.picture.w[this.focus] || 1);
	}

	// Takes effect with the next settle().
	setPicture(picture, focus, aside = null) {
		cancelAnimationFrame(this.animation);
		this.picture = picture;
		this.aside = aside;
		this.selected = this.hovered = -1;
		this.focus = focus;
		Object.assign(this, this.windowOf(focus));
	}

	// The window that a zoom to a node ends at.
	windowOf(node) {
		const { x, w } = this.picture;
		return { left: x[node], span: w[node] || 1, asideShown: node === 0 ? 1 : 0 };
	}

	// Zoom to a node; the window glides there unless the reader prefers no motion.
	setFocus(node, animate) {
		this.focus = node;
		const to = this.windowOf(node);
		cancelAnimationFrame(this.animation);
		if (!animate || matchMedia("(prefers-reduced-motion: reduce)").matches) {
			Object.assign(this, to);
			this.settle();
			return;
		}
		const from = { left: this.left, span: this.span, asideShown: this.asideShown };
		const start = performance.now();
		const step = (now) => {
			const t = Math.min(1, (now - start) / 180);
			const e = 1 - (1 - t) ** 3;
			if (t >= 1) {
				Object.assign(this, to);
				this.settle();
				return;
			}
			this.left = from.left + (to.left - from.left) * e;
			this.span = from.span * (to.span / from.span) ** e;
			this.asideShown = from.asideShown + (to.asideShown - from.asideShown) * e;
			this.draw();
			this.animation = requestAnimationFrame(step);
		};
		this.animation = requestAnimationFrame(step);
	}

	settle() {
		this.resize();
		this.reveal(this.focus);
		this.draw();
	}

	resize() {
		const { full: width, height, ratio } = this;
		this.content = Math.max(height, (this.visibleRows() + 1) * ROW + PAD * 2);
		this.space.style.height = `${this.content}px`;
		if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
			this.canvas.width = Math.round(width * ratio);
			this.canvas.height = Math.round(height * ratio);
			this.canvas.style.width = `${width}px`;
			this.canvas.style.height = `${height}px`;
		}
	}

	// What is drawn where: {picture, left, span} in values, {offset, width} in pixels.
	views() {
		const views = [{ picture: this.picture, left: this.left, span: this.span, offset: 0, width: this.width }];
		const width = this.asideWidth;
		if (width && this.asideShown === 1)
			views.push({ picture: this.aside, left: 0, span: this.aside.all, offset: this.full - width, width });
		return views;
	}

	isAside(px) {
		return px > this.width;
	}

	// Number of rows that the views reach down to.
	visibleRows() {
		let deepest = 0;
		for (const { picture, left, span, width } of this.views()) {
			const { tree, w, x } = picture;
			const scale = width / span, right = left + span;
			for (let i = 0; i < tree.n;) {
				if (x[i] >= right || x[i] + w[i] <= left || w[i] * scale < MIN_WIDTH) {
					i = tree.end[i];
					continue;
				}
				if (tree.depth[i] > deepest) deepest = tree.depth[i];
				i++;
			}
		}
		return deepest + 1;
	}

	// Draw on paper: wide enough for a page, every row up to a limit. null: on the screen again.
	setPaper(width, longest) {
		this.paper = null;
		if (width) {
			this.paper = { width, height: 0 };
			this.paper.height = Math.min(longest, (this.visibleRows() + 1) * ROW + PAD * 2);
		}
		this.resize();
		this.draw();
	}

	// y of a row in the scrolled content.
	rowTop(row) {
		return this.up ? this.content - PAD - (row + 1) * ROW : PAD + row * ROW;
	}

	// Scroll so that a node's row can be seen.
	reveal(node) {
		const top = this.rowTop(this.picture.tree.depth[node]);
		const { scroller, height } = this;
		if (top < scroller.scrollTop + ROW || top + ROW > scroller.scrollTop + height - ROW)
			scroller.scrollTop = this.up ? top - height + ROW * 4 : top - ROW * 3;
	}

	draw() {
		const { ratio } = this;
		this.ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.paint(this.ctx, {
			width: this.full, height: this.height, top: this.top,
			palette: this.palette, marks: true,
		});
	}

	// Draw the part of the content that begins at `top` on a context of width x height.
	paint(ctx, to) {
		const { palette, width, height } = to;
		ctx.fillStyle = palette.page;
		ctx.fillRect(0, 0, width, height);
		if (!this.picture) return;
		const shadow = new Silhouette(width);
		const boxes = this.views().filter((v) => v.picture.all > 0).flatMap((v) => this.collect(to, shadow, v));
		shadow.paint(ctx, palette, this.matched ? 0.25 : 0.65, (row) => this.rowTop(row) - to.top, this.up);
		ctx.font = FONT;
		ctx.textBaseline = "middle";
		for (const box of boxes) this.paintBox(ctx, box, palette);
		ctx.globalAlpha = 1;
		if (to.marks) this.paintMarks(ctx, boxes, palette);
	}

	// Boxes of a view that can be seen, callers first.
	collect(to, shadow, view) {
		const { tree, w, x, rows } = view.picture;
		const { offset, width } = view;
		const { height, top } = to;
		const scale = width / view.span, boxes = [];
		for (let i = 0; i < tree.n;) {
			const px = w[i] * scale, left = (x[i] - view.left) * scale;
			if (left >= width || left + px <= 0 || px === 0) {
				i = tree.end[i];
				continue;
			}
			const row = tree.depth[i], y = this.rowTop(row) - top;
			const beyond = this.up ? y < -ROW : y > height;
			if (px < MIN_WIDTH || beyond) {
				if (!beyond) shadow.add(offset + left, px, row, rows[i]);
				i = tree.end[i];
				continue;
			}
			if (y > -ROW && y < height)
				boxes.push({ i, view, left: offset + Math.max(left, -2), right: offset + Math.min(left + px, width + 2), y });
			i++;
		}
		return boxes;
	}

	isFaint(i) {
		const f = this.picture.tree.func[i];
		return this.matched && f >= 0 && !this.matched[f];
	}

	paintBox(ctx, box, palette) {
		const { picture } = box.view;
		const { tree } = picture;
		const { i, left, y } = box;
		if (this.blink !== null && i > 0) {
			this.paintBlink(ctx, box, palette);
			return;
		}
		const isAbove = picture === this.picture && tree.depth[i] < tree.depth[this.focus];
		const gap = box.right - left > 3 ? 1 : 0;
		const px = Math.max(box.right - left - gap, MIN_WIDTH);
		const colour = i === 0 ? -1 : nodeClass(tree, i, picture.what);
		const hollow = colour === ABOVE_REMOVED;
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
			if (colour === UNSURE && px > 4) hatchBox(ctx, left, y, px, palette);
		} else if (px <= 4) {
			ctx.fillStyle = palette.quiet;
			fillBox(ctx, left, y, px);
		}
		if (px > 4) paintEdge(ctx, colour, left, y, px, palette);
		if (px > 24) {
			// What does not match is so pale that it takes the page's ink.
			const ink = faint || i === 0 || colour === ABOVE_REMOVED ? palette.ink :
				colour === REMOVED && palette.isHollow ? palette.removed : palette.inkOf(colour);
			if (faint) ctx.globalAlpha = 0.55;
			this.paintLabel(ctx, box, colour, px, ink);
		}
	}

	paintBlink(ctx, box, palette) {
		const { i, left, y } = box;
		const { colour, part, share } = blinkFill(box.view.picture, this.blink, i);
		const px = Math.max(box.right - left - 1, MIN_WIDTH), filled = px * Math.min(part, 1);
		ctx.globalAlpha = this.isFaint(i) ? 0.25 : 1;
		ctx.fillStyle = palette.fill[colour];
		if (filled > 0) fillBox(ctx, left, y, filled);
		if (px > 4) paintEdge(ctx, ABOVE_REMOVED, left, y, px, palette);
		if (filled > 24) this.paintLabel(ctx, box, colour, filled, palette.inkOf(colour), share);
	}

	paintLabel(ctx, { i, view, left, y }, colour, px, ink, share = view.picture.w[i] / view.picture.all) {
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
		const text = this.labels.fit(ctx, f, leftOver());
		ctx.fillText(text, at, middle);
		at += this.labels.width(ctx, f);
		const rest = [`(${formatShare(share)})`];
		if (colour === NEW) rest.push("(new)");
		const tail = ` ${rest.join(" ")}`;
		const width = ctx.measureText(tail).width;
		if (leftOver() < width) return;
		ctx.fillText(tail, at, middle);
		at += width + 10;
		const place = this.location(f);
		if (!place || leftOver() < ctx.measureText(place).width) return;
		ctx.globalAlpha *= 0.62;
		ctx.fillText(place, at, middle);
	}

	rootLabel(picture) {
		const { data } = this;
		const { what, tree } = picture;
		if (this.blink !== null) return `${blinkNames[this.blink]} · ${formatValue(tree.total[this.blink][0], data.unit)}`;
		if (what.widths === "delta") return `${what.rootName} · ${formatValue(picture.all, data.unit)} of change`;
		const before = what.isDiff && !tree.elided ? `${formatValue(tree.total[0][0], data.unit)} → ` : "";
		return `${what.rootName} · ${before}${formatValue(what.isDiff && !tree.elided ? tree.total[1][0] : picture.all, data.unit)}`;
	}

	paintMarks(ctx, boxes, palette) {
		for (const box of boxes) {
			const f = this.picture.tree.func[box.i];
			const isHit = this.matched && f >= 0 && this.matched[f];
			const strong = box.i === this.selected;
			if (!isHit && !strong && box.i !== this.hovered) continue;
			const px = box.right - box.left;
			if (px < 3 && !strong) continue;
			ctx.setLineDash([]);
			ctx.strokeStyle = isHit && !strong ? palette.match : palette.select;
			ctx.lineWidth = strong ? 2 : 1.25;
			ctx.strokeRect(box.left + 0.5, box.y + 0.5, Math.max(px - 2, 1), ROW - 2);
		}
	}

	// The node at a point of the canvas, or -1.
	hit(px, py) {
		const view = this.views().find((v) => px >= v.offset && px <= v.offset + v.width);
		if (!view || !(view.picture.all > 0)) return -1;
		const { tree, w, x } = view.picture;
		const y = py + this.scroller.scrollTop;
		const row = Math.floor(this.up ? (this.content - PAD - y) / ROW : (y - PAD) / ROW);
		const value = view.left + ((px - view.offset) / view.width) * view.span;
		const narrowest = MIN_WIDTH * (view.span / view.width);
		if (row < 0) return -1;
		let node = 0;
		while (tree.depth[node] < row) {
			let child = node + 1;
			while (child < tree.end[node] && !(value >= x[child] && value < x[child] + w[child]))
				child = tree.end[child];
			if (child >= tree.end[node] || w[child] < narrowest) return -1;
			node = child;
		}
		return node;
	}

	// Where a node is on the canvas.
	boxOf(i) {
		const { w, x, tree } = this.picture;
		const scale = this.width / this.span;
		const left = Math.max(0, (x[i] - this.left) * scale);
		const right = Math.min(this.width, (x[i] + w[i] - this.left) * scale);
		return { left, right, top: this.rowTop(tree.depth[i]) - this.scroller.scrollTop };
	}
}

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
function hatchBox(ctx, left, y, px, palette) {
	const from = Math.max(left, 0), to = Math.min(left + px, from + 4096);
	ctx.strokeStyle = palette.quiet;
	ctx.lineWidth = 1;
	ctx.beginPath();
	for (let x = from - (from % HATCH); x < to; x += HATCH) {
		if (x < left || x + ROW - 1 > left + px) continue;
		ctx.moveTo(x, y + ROW - 1);
		ctx.lineTo(x + ROW - 1, y);
	}
	ctx.stroke();
}

function paintEdge(ctx, colour, left, y, px, palette) {
	if (colour !== NEW && colour !== REMOVED && colour !== ABOVE_REMOVED) return;
	ctx.lineWidth = 1;
	ctx.setLineDash(colour === NEW ? [2, 2] : []);
	ctx.strokeStyle = colour === NEW ? palette.inkOf(NEW) : colour === REMOVED ? palette.removed : palette.quiet;
	ctx.beginPath();
	ctx.roundRect(left + 0.5, y + 0.5, px - 1, ROW - 2, 2.5);
	ctx.stroke();
	ctx.setLineDash([]);
}

// Text of a known width, shortened until it fits; "" when less than two letters would stay.
function cutText(ctx, text, width, room) {
	let keep = Math.floor((room / width) * text.length);
	for (; keep >= 2; keep--) {
		const cut = `${text.slice(0, keep)}…`;
		if (ctx.measureText(cut).width <= room) return cut;
	}
	return "";
}

function fitText(ctx, text, room) {
	const { width } = ctx.measureText(text);
	return width <= room ? text : cutText(ctx, text, width, room);
}

// What is too narrow to be drawn, as one column of a pixel each.
class Silhouette {
	constructor(width) {
		this.n = Math.ceil(width) + 1;
		this.cover = new Float32Array(this.n);
		this.first = new Uint32Array(this.n).fill(0xffffffff);
		this.last = new Uint32Array(this.n);
	}
	add(left, px, row, below) {
		const c = Math.max(0, Math.floor(left));
		if (c >= this.n) return;
		this.cover[c] += px;
		if (row < this.first[c]) this.first[c] = row;
		if (row + below > this.last[c]) this.last[c] = row + below;
	}
	paint(ctx, palette, alpha, top, up) {
		ctx.fillStyle = palette.quiet;
		ctx.globalAlpha = alpha;
		for (let c = 0; c < this.n;) {
			let e = c + 1;
			if (this.cover[c] < 0.2) {
				c = e;
				continue;
			}
			while (e < this.n && this.cover[e] >= 0.2 && this.first[e] === this.first[c] && this.last[e] === this.last[c]) e++;
			const a = top(up ? this.last[c] : this.first[c]);
			const b = top(up ? this.first[c] : this.last[c]) + ROW - 1;
			ctx.fillRect(c, a, e - c, b - a);
			c = e;
		}
		ctx.globalAlpha = 1;
	}
}
