// SPDX-License-Identifier: MIT
// Drawing a shown tree on a canvas, and finding the frame under a point.
//
// The view is a window on the x axis: [left, left + span) in the tree's own values. Zooming moves
// that window, so callers of a zoomed frame fill the width by themselves.
//
// Beside the picture may stand an aside: what was removed, outside the head's 100 % but to the same
// scale. Both trees number their nodes alike. It makes room for a zoom.
//
//   [ picture: 100 % of the head        ] [ removed ]
import { Labels } from "./labels.js";
import { isLaidOut, layOut, MIN_WIDTH } from "./layout.js";
import { FONT, Painter, ROW } from "./paint.js";

const PAD = 6;
const GAP = 14;
const ASIDE_MIN = 28;
const ASIDE_MAX = 0.6;

export class Flame {
	constructor(data, { canvas, space, scroller, location }) {
		this.setData(data);
		this.canvas = canvas;
		this.space = space;
		this.scroller = scroller;
		this.location = location;
		this.ctx = canvas.getContext("2d", { alpha: false });
		this.painter = new Painter(this);
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
		this.laid = null;
		this.asideShown = 0;
		this.left = 0;
		this.span = 1;
		this.animation = 0;
	}

	setData(data) {
		this.data = data;
		this.labels = new Labels(data.functions);
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
		const { picture } = this;
		const { w } = picture;
		return { left: picture.placeOf(node), span: w[node] || 1, asideShown: node === 0 ? 1 : 0 };
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
		this.twin.update();
	}

	// Whether the canvas has another size now, and with that nothing on it.
	resize() {
		const { full: width, height, ratio } = this;
		this.content = Math.max(height, this.needed);
		this.space.style.height = `${this.content}px`;
		if (this.canvas.width === Math.round(width * ratio) && this.canvas.height === Math.round(height * ratio)) return false;
		this.canvas.width = Math.round(width * ratio);
		this.canvas.height = Math.round(height * ratio);
		this.canvas.style.width = `${width}px`;
		this.canvas.style.height = `${height}px`;
		return true;
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

	// What can be seen of them; made anew when they changed.
	layout() {
		const views = this.views(), { full } = this;
		if (!isLaidOut(this.laid, views, full)) this.laid = layOut(views, full);
		return this.laid;
	}

	// Number of rows that the views reach down to.
	visibleRows() {
		return this.layout().deepest + 1;
	}

	// Height of all rows.
	get needed() {
		return (this.visibleRows() + 1) * ROW + PAD * 2;
	}

	// Draw on paper: wide enough for a page, every row up to a limit. null: on the screen again.
	setPaper(width, longest) {
		this.paper = null;
		if (width) {
			this.paper = { width, height: 0 };
			this.paper.height = Math.min(longest, this.needed);
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

	// Draw all rows, or as many from the root as `height` has room for, on any context.
	paintAll(ctx, height) {
		const { hovered } = this;
		this.hovered = -1;
		this.paint(ctx, {
			width: this.full, height, top: this.up ? this.content - height : 0,
			palette: this.palette, marks: true,
		});
		this.hovered = hovered;
	}

	// Draw the part of the content that begins at `top` on a context of width x height.
	paint(ctx, to) {
		const { palette, width, height, top } = to;
		ctx.fillStyle = palette.page;
		ctx.fillRect(0, 0, width, height);
		if (!this.picture) return;
		const { shadow, boxes: all } = this.layout();
		const boxes = [];
		for (const box of all) {
			box.y = this.rowTop(box.row) - top;
			if (box.y > -ROW && box.y < height) boxes.push(box);
		}
		shadow.paint(ctx, palette, this.matched ? 0.25 : 0.65, (row) => this.rowTop(row) - top, this.up, ROW);
		ctx.font = FONT;
		ctx.textBaseline = "middle";
		for (const box of boxes) {
			ctx.enter?.(this.painter.title(box));
			this.painter.box(ctx, box, palette);
			ctx.leave?.();
		}
		ctx.globalAlpha = 1;
		if (to.marks) this.painter.marks(ctx, boxes, palette);
	}

	// The node at a point of the canvas, or -1.
	hit(px, py) {
		const view = this.views().find((v) => px >= v.offset && px <= v.offset + v.width);
		if (!view || !(view.picture.all > 0)) return -1;
		const { tree, w } = view.picture;
		const y = py + this.scroller.scrollTop;
		const row = Math.floor(this.up ? (this.content - PAD - y) / ROW : (y - PAD) / ROW);
		const value = view.left + ((px - view.offset) / view.width) * view.span;
		const narrowest = MIN_WIDTH * (view.span / view.width);
		if (row < 0) return -1;
		let node = 0, x = 0;
		while (tree.depth[node] < row) {
			let child = node + 1;
			for (; child < tree.end[node] && !(value >= x && value < x + w[child]); child = tree.end[child]) x += w[child];
			if (child >= tree.end[node] || w[child] < narrowest) return -1;
			node = child;
		}
		return node;
	}

	// Where a node is on the canvas.
	boxOf(i) {
		const { picture } = this;
		const scale = this.width / this.span;
		const x = (picture.placeOf(i) - this.left) * scale;
		const left = Math.max(0, x);
		const right = Math.min(this.width, x + picture.w[i] * scale);
		return { left, right, top: this.rowTop(picture.tree.depth[i]) - this.scroller.scrollTop };
	}
}
