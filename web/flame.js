// SPDX-License-Identifier: MIT
// Drawing a shown tree on a canvas, and finding the frame under a point.
//
// The view is a window on the x axis: [left, left + span) in the tree's own values. Zooming moves
// that window, so callers of a zoomed frame fill the width automatically.
//
// Beside the picture there may be an aside: the removed paths, outside the head's 100 % but to the
// same scale. Both trees use the same node numbers. The aside is hidden while zoomed.
//
//   [ picture: 100 % of the head        ] [ removed ]
import { el } from "./dom.js";
import { Labels } from "./labels.js";
import { isLaidOut, layOut, MIN_WIDTH } from "./layout.js";
import { FONT, Painter, ROW } from "./paint.js";
import { holderOf, panned, partOf, windowOfPart, zoomed } from "./window.js";

const PAD = 6;
const GAP = 14;
const ROWS_SEEN = 6; // minimum number of rows visible above a sheet
const ASIDE_MIN = 28;
const ASIDE_MAX = 0.6;

export class Flame {
	constructor(data, { canvas, space, scroller, placeOf }) {
		this.setData(data);
		this.canvas = canvas;
		this.space = space;
		this.scroller = scroller;
		this.placeOf = placeOf;
		this.ctx = canvas.getContext("2d", { alpha: false });
		// The hovered frame is outlined by an element, so that no frame is redrawn.
		this.outline = el("div", { class: "outline", hidden: true });
		canvas.after(this.outline);
		this.painter = new Painter(this);
		this.up = false;
		this.focus = 0;
		this.selected = -1;
		this.matched = null;
		// The side that is shown while blinking, or null.
		this.blink = null;
		this.palette = null;
		this.picture = null;
		this.aside = null;
		this.laid = null;
		this.asideShown = 0;
		this.covered = 0; // pixels covered at the lower edge
		this.hidden = 0; // rows at the root that are not drawn
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
	// Width of the picture, without the aside.
	get width() {
		const aside = this.asideWidth;
		return this.full - (aside ? this.asideShown * (aside + GAP) : 0);
	}
	// Width of the aside: to the picture's scale, limited so that the picture has room, and 0 if it
	// would be too narrow.
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

	// Is the window moving in an animation?
	get isMoving() {
		return this.animation !== 0;
	}

	stopMoving() {
		cancelAnimationFrame(this.animation);
		this.animation = 0;
	}

	// Takes effect with the next settle().
	setPicture(picture, focus, aside = null, part = "") {
		this.stopMoving();
		this.picture = picture;
		this.aside = aside;
		this.selected = -1;
		this.focus = focus;
		Object.assign(this, this.windowOf(focus, part));
	}

	// The window after zooming to a part of a node.
	windowOf(node, part) {
		const { picture } = this;
		const { left, span } = windowOfPart(part, picture.placeOf(node), picture.w[node] || 1,
			picture.all || 1);
		return { left, span, asideShown: node === 0 && this.isWhole(span) ? 1 : 0 };
	}

	// Is the whole picture shown? Only then the aside is, too.
	isWhole(span = this.span) {
		return span >= this.picture.all;
	}

	// The window as a part of the zoomed node.
	get part() {
		return partOf(this, this.picture.placeOf(this.focus), this.picture.w[this.focus] || 1);
	}

	// Zoom by hand; the value at px stays there.
	zoomAt(px, factor) {
		const at = this.left + Math.min(1, px / this.width) * this.span;
		const { span } = zoomed(this, this.picture.all, 0, factor);
		this.asideShown = this.isWhole(span) ? 1 : 0;
		this.moveTo(panned({ left: at - Math.min(1, px / this.width) * span, span },
			this.picture.all, 0));
	}

	// Pan by hand, in pixels; returns whether there is anything beside the window.
	panBy(px) {
		if (this.isWhole()) return false;
		this.moveTo(panned(this, this.picture.all, -px / this.width));
		return true;
	}

	// Move the window; draws once per animation frame.
	moveTo(to) {
		if (!(this.picture.all > 0)) return;
		this.stopMoving();
		Object.assign(this, to);
		this.focus = holderOf(this.picture, to, this.focus);
		this.animation = requestAnimationFrame(() => {
			this.animation = 0;
			this.draw();
		});
	}

	// After moves by hand: make rows that came into the window scrollable.
	rest() {
		const { content } = this;
		this.stopMoving();
		this.resize();
		if (this.up) this.scroller.scrollTop += this.content - content;
		this.draw();
		this.twin.update();
	}

	// Zoom to a node; the window glides there unless the reader prefers no motion.
	setFocus(node, animate, part = "") {
		this.focus = node;
		this.hover(-1);
		const to = this.windowOf(node, part);
		this.stopMoving();
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
				this.animation = 0;
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

	// Adapt the canvas to its element; returns true if its size changed, which clears it.
	resize() {
		const { full: width, height, ratio } = this;
		this.content = Math.max(height, this.needed + this.covered);
		this.space.style.height = `${this.content}px`;
		if (this.canvas.width === Math.round(width * ratio) &&
			this.canvas.height === Math.round(height * ratio)) return false;
		this.canvas.width = Math.round(width * ratio);
		this.canvas.height = Math.round(height * ratio);
		this.canvas.style.width = `${width}px`;
		this.canvas.style.height = `${height}px`;
		return true;
	}

	// The views: {picture, left, span} in values, {offset, width} in pixels.
	views() {
		const views = [{
			picture: this.picture, left: this.left, span: this.span, offset: 0, width: this.width,
		}];
		const width = this.asideWidth;
		if (width && this.asideShown === 1)
			views.push({
				picture: this.aside, left: 0, span: this.aside.all, offset: this.full - width,
				width,
			});
		return views;
	}

	isAside(px) {
		return px > this.width;
	}

	// The visible frames of the views; cached until they change.
	layout() {
		const views = this.views(), { full } = this;
		if (!isLaidOut(this.laid, views, full)) this.laid = layOut(views, full);
		return this.laid;
	}

	// Number of rows that the views reach down to.
	visibleRows() {
		return Math.max(0, this.layout().deepest + 1 - this.hidden);
	}

	// Height of all rows.
	get needed() {
		return (this.visibleRows() + 1) * ROW + PAD * 2;
	}

	// Draw for printing: wide enough for a page, every row up to a limit. null: back to the
	// screen.
	setPaper(width, longest) {
		this.paper = null;
		if (width) {
			this.paper = { width, height: 0 };
			this.paper.height = Math.min(longest, this.needed);
		}
		this.resize();
		this.draw();
	}

	// The y below the root's row if roots are at the bottom.
	get floor() {
		return this.content - this.covered - PAD;
	}

	// The window is covered from `y` on: make rows scrollable above that, and the node's
	// visible.
	cover(y, node = -1) {
		if (node >= 0) this.comeUp(y);
		const { bottom } = this.scroller.getBoundingClientRect();
		this.covered = Math.max(0, bottom - y);
		this.resize();
		const over = node < 0 ? 0 :
			this.rowTop(this.picture.tree.depth[node]) + ROW * 2 - this.scroller.scrollTop -
			(this.height - this.covered);
		if (over > 0) this.scroller.scrollTop += over;
		this.draw();
	}

	// If the page scrolls, scroll it until rows are visible above y.
	comeUp(y) {
		const { top } = this.scroller.getBoundingClientRect();
		if (y - top < ROWS_SEEN * ROW) document.scrollingElement.scrollTop += top - PAD;
	}

	// y of a row within the scrolled content.
	rowTop(row) {
		const at = row - this.hidden;
		return this.up ? this.floor - (at + 1) * ROW : PAD + at * ROW;
	}

	// Scroll a node's row into view.
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

	// Draw all rows, or as many from the root as fit into `height`, on any context.
	paintAll(ctx, height) {
		this.paint(ctx, {
			width: this.full, height, top: this.up ? this.floor + PAD - height : 0,
			palette: this.palette, marks: true,
		});
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
			if (box.row >= this.hidden && box.y > -ROW && box.y < height) boxes.push(box);
		}
		shadow.paint(ctx, palette, this.matched ? 0.25 : 0.65, (row) => this.rowTop(row) - top,
			this.up, ROW);
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
		const row = Math.floor(this.up ? (this.floor - y) / ROW : (y - PAD) / ROW) + this.hidden;
		const value = view.left + ((px - view.offset) / view.width) * view.span;
		const narrowest = MIN_WIDTH * (view.span / view.width);
		if (row < this.hidden) return -1;
		let node = 0, x = 0;
		while (tree.depth[node] < row) {
			let child = node + 1;
			for (; child < tree.end[node] &&
				!(value >= x && value < x + w[child]); child = tree.end[child]) x += w[child];
			if (child >= tree.end[node] || w[child] < narrowest) return -1;
			node = child;
		}
		return node;
	}

	// The box of a node on the canvas.
	boxOf(i, isAside = false) {
		const { picture, left: from, span, offset, width } = this.views()[isAside ? 1 : 0];
		const scale = width / span;
		const x = offset + (picture.placeOf(i) - from) * scale;
		const left = Math.max(offset, x);
		const right = Math.min(offset + width, x + picture.w[i] * scale);
		return { left, right, top: this.rowTop(picture.tree.depth[i]) - this.scroller.scrollTop };
	}

	isInView(i) {
		const { left, right } = this.boxOf(i);
		return right > left;
	}

	// Outline the hovered frame; -1: none.
	hover(node, isAside = false) {
		const { outline } = this;
		outline.hidden = node < 0;
		if (node < 0) return;
		const { left, right, top } = this.boxOf(node, isAside);
		const at = {
			left, top: top + this.scroller.scrollTop, width: Math.max(right - left - 1, 2),
			height: ROW - 1,
		};
		for (const [key, px] of Object.entries(at)) outline.style.setProperty(key, `${px}px`);
	}
}
