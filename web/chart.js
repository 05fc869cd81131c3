// SPDX-License-Identifier: MIT
// The flame chart: what ran when, one track per thread. A frame's bar is as long as the frame
// stayed on the stack; the window is the range chosen on the strip, or a part of it.
//
//   main    | run                                   |
//           | parse      |gc| parse     |  | emit   |
//   worker  |            wait                | job  |
//
// Bars come from the level whose cells are about a pixel wide (chart_data.js), so drawing costs no
// more than the screen's width. Narrower bars are grey below the frame that contains them.
import { eachBar, extentOf, levelFor, rowsOf } from "./chart_data.js";
import { HEAD } from "./data.js";
import { el } from "./dom.js";
import { choosesPaths, pathFilter } from "./filters.js";
import { frameName } from "./folds.js";
import { formatValue, ticksOf } from "./format.js";
import { bindPointers, bindWheel } from "./gestures.js";
import { isTouch } from "./last_pointer.js";
import { fitText, Labels, showName } from "./labels.js";
import { MIN_WIDTH } from "./layout.js";
import { FONT, Painter, ROW } from "./paint.js";
import { Picture } from "./picture.js";
import { Silhouette } from "./narrow_frames.js";
import { edgeOf } from "./strip_data.js";
import { straightTree } from "./tree.js";
import { panned, zoomed } from "./window.js";

const AXIS = 20, TITLE = 18, GAP = 8; // px
const TICK = 90; // minimum distance between ticks, px
const FAINT = 0.7; // opacity of text that is not a frame's

const timeText = (ns) => formatValue(ns, "ns");

// Maximum number of consecutive missing samples that do not end a call: with the wall clock, and
// with CPU time.
const MISSED_MOST = 1000, OFF_CPU_MOST = 20;

export class Chart {
	// `main` has the colours and the search.
	constructor(model, main, tooltip, section) {
		Object.assign(this, {
			model, main, tooltip, scroller: section, picture: null, focus: 0, blink: null,
			selected: -1, mark: null,
			tracks: [],
		});
		this.canvas = el("canvas", {
			tabindex: "0", role: "img",
			"aria-label": "Flame chart: arrow keys go from frame to frame",
		});
		this.outline = el("div", { class: "outline", hidden: true });
		this.space = el("div", {}, this.canvas, this.outline);
		section.append(this.space);
		this.ctx = this.canvas.getContext("2d", { alpha: false });
		this.painter = new Painter(this);
		this.bind();
	}

	get data() {
		return this.model.data;
	}
	get palette() {
		return this.main.palette;
	}
	get matched() {
		return this.main.matched;
	}
	get full() {
		return this.scroller.clientWidth;
	}
	get needed() {
		return this.tracks.reduce((y, { height }) => y + height + GAP, AXIS);
	}

	placeOf(f) {
		return this.model.shortPlaceOf(f);
	}

	// ---- what is drawn ----

	update() {
		const { model, data } = this, { state } = model, { time } = data;
		this.runs = time.runs();
		const tree = model.trees.drawn(model.trees.straight());
		if (this.labels?.source !== data.functions.names) this.labels = new Labels(data.functions);
		this.picture = new Picture(tree, model.describe());
		this.place = this.placeIn(tree);
		this.bounds = (state.range ?? [0, time.buckets]).map((i) => edgeOf(time, i));
		this.takeWindow();
		this.measure();
		this.mark = null;
		this.settle();
	}

	placeIn(tree) {
		const { model, data } = this, nodeOf = model.trees.folded?.nodeOf, { parent } = data;
		const passing = choosesPaths(model.state) ?
			straightTree(data, null, pathFilter(data, model.modules, model.state)) : null;
		const mapped = (node) => (nodeOf ? nodeOf[node] : node);
		return {
			depth: tree.depth, parent: tree.parent, nodeOf: mapped,
			isShown: (node, isWhole) => !passing ||
			(isWhole ? passing.self : passing.total)[HEAD][node] > 0,
			sharedDepth(node, mixed) {
				let at = node;
				for (let k = 0; k < mixed && at > 0; k++) at = parent[at];
				return tree.depth[mapped(at)];
			},
		};
	}

	// Take the window from the link, limited to the range.
	takeWindow() {
		const [from, to] = this.bounds, found = /^(\d{1,18})-(\d{1,18})$/.exec(this.model.state.at);
		const [lo, hi] = found ? found.slice(1).map(Number) : [from, to];
		const isInside = lo < hi && lo >= from && hi <= to;
		Object.assign(this, isInside ? { left: lo - from, span: hi - lo } :
			{ left: 0, span: to - from });
	}

	get all() {
		return this.bounds[1] - this.bounds[0];
	}

	// Lay out one track for each chosen thread with samples.
	measure() {
		const { model: { state }, data: { header }, runs, place } = this;
		if (this.measured?.place !== place) this.measured = {
			place, rows: header.threads.map((_, t) => rowsOf(runs, t, place)),
		};
		let y = AXIS;
		this.tracks = header.threads.flatMap(({ label, process }, thread) => {
			const rows = this.measured.rows[thread];
			if (!rows || (state.threads && !state.threads[thread])) return [];
			const track = {
				thread, y, rows, label: process ? `${process}: ${label}` : label,
				height: TITLE + rows * ROW,
			};
			y += track.height + GAP;
			return [track];
		});
	}

	get cell() {
		return this.data.time.end / this.runs.levels[this.level];
	}

	// The longest gap, in cells, across which a call is drawn. With the wall clock a gap means
	// missed samples; with CPU time the thread may have been off the CPU.
	get bridge() {
		const { interval_ns = 0, mode } = this.data.header.head.recording;
		return (interval_ns * (mode === "wall" ? MISSED_MOST : OFF_CPU_MOST)) / this.cell;
	}

	xOf(ns) {
		return ((ns - this.bounds[0] - this.left) / this.span) * this.width;
	}

	// Bars of a track in the window, and columns of those that are too narrow.
	layOut(track, width) {
		const { runs, place } = this, { end } = this.data.time, from = this.bounds[0] + this.left;
		this.width = width;
		this.level = levelFor(runs, (end / this.span) * width);
		const { cell } = this, bars = [], shadow = new Silhouette(width);
		const at = (c) => this.xOf(Math.max(from, Math.min(from + this.span, c * cell)));
		const view = { picture: this.picture, offset: 0, width };
		const narrow = (row, x, px, rows) => {
			for (let c = Math.floor(x); c < x + px; c++)
				shadow.add(c, Math.min(1, x + px - c), row, rows);
		};
		eachBar(runs, this.level, track.thread,
			[Math.floor(from / cell), Math.ceil((from + this.span) / cell)], place, {
				bar: (bar) => {
					const left = at(bar.from), right = at(bar.to), px = right - left;
					if (px <= 0) return;
					if (px < MIN_WIDTH) shadow.add(left, px, bar.row, 0);
					else bars.push({
						...bar, i: bar.node, view, left, right, tail: this.tailOf(bar, from),
					});
				},
				more: (row, a, b, rows) => narrow(row, at(a), at(b) - at(a), rows - 1),
				bridge: this.bridge,
			});
		return { bars, shadow };
	}

	// Duration of a bar, if both ends are visible.
	tailOf({ from, to }, start) {
		const { cell } = this;
		return from * cell >= start && to * cell <= start + this.span ?
			` ${timeText((to - from) * cell)}` : "";
	}

	settle() {
		this.resize();
		this.draw();
	}

	resize() {
		const { canvas, scroller } = this, ratio = devicePixelRatio || 1;
		const width = scroller.clientWidth, height = scroller.clientHeight;
		this.space.style.height = `${Math.max(height, this.needed)}px`;
		Object.assign(canvas, {
			width: Math.round(width * ratio), height: Math.round(height * ratio),
		});
		Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
	}

	draw() {
		if (!this.picture || !this.full) return;
		const ratio = devicePixelRatio || 1;
		this.ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.paint(this.ctx, this.full, this.scroller.clientHeight, this.scroller.scrollTop);
	}

	// Paint all tracks, for a saved picture.
	paintAll(ctx, height) {
		this.paint(ctx, this.full, height, 0);
	}

	paint(ctx, width, height, top) {
		const { palette } = this;
		ctx.fillStyle = palette.page;
		ctx.fillRect(0, 0, width, height);
		ctx.textBaseline = "middle";
		this.drawn = [];
		for (const track of this.tracks) {
			const y = track.y - top;
			if (y + track.height > 0 && y < height) this.paintTrack(ctx, track, width, y);
		}
		ctx.globalAlpha = 1;
		this.paintAxis(ctx, width);
	}

	paintTrack(ctx, track, width, y) {
		const { palette, mark } = this, { bars, shadow } = this.layOut(track, width);
		ctx.globalAlpha = FAINT;
		ctx.font = FONT;
		ctx.fillStyle = palette.ink;
		ctx.fillText(fitText(ctx, track.label, width - 8), 2, y + TITLE / 2);
		shadow.paint(ctx, palette, this.matched ? 0.25 : 0.65, (row) => y + TITLE + row * ROW,
			false, ROW);
		for (const bar of bars) {
			bar.y = y + TITLE + bar.row * ROW;
			ctx.enter?.(this.words(track, bar));
			this.painter.box(ctx, bar, palette);
			if (bar.mixed) this.perforate(ctx, bar);
			ctx.leave?.();
		}
		ctx.globalAlpha = 1;
		this.painter.marks(ctx, bars, palette);
		this.drawn.push({ track, y, bars });
		const marked = mark?.track.thread === track.thread &&
			bars.find((bar) => this.isSame(bar, mark));
		if (marked) {
			ctx.strokeStyle = palette.select;
			ctx.lineWidth = 2;
			ctx.strokeRect(marked.left + 0.5, marked.y + 0.5,
				Math.max(marked.right - marked.left - 2, 1), ROW - 2);
		}
	}

	// Mark a bar that is not all of one stack.
	perforate(ctx, { left, right, y }) {
		ctx.globalAlpha = 1;
		ctx.strokeStyle = this.palette.page;
		ctx.lineWidth = 2;
		ctx.setLineDash([2, 3]);
		ctx.beginPath();
		ctx.moveTo(left, y + ROW - 2);
		ctx.lineTo(right, y + ROW - 2);
		ctx.stroke();
		ctx.setLineDash([]);
	}

	paintAxis(ctx, width) {
		const { palette, span } = this, from = this.bounds[0] + this.left;
		ctx.fillStyle = palette.page;
		ctx.fillRect(0, 0, width, AXIS);
		ctx.font = FONT;
		ctx.fillStyle = palette.ink;
		ctx.globalAlpha = FAINT;
		for (const { ns, text } of ticksOf(from, from + span, (span * TICK) / width)) {
			const x = ((ns - from) / span) * width;
			ctx.fillRect(Math.min(x, width - 1), AXIS - 5, 1, 4);
			if (x + ctx.measureText(text).width + 4 <= width) ctx.fillText(text, x + 3, AXIS / 2);
		}
		ctx.globalAlpha = 1;
	}

	// ---- bars ----

	isSame(bar, { row, node, at }) {
		return bar.row === row && bar.node === node && bar.from * this.cell <= at &&
			bar.to * this.cell >= at;
	}

	// {track, bar} at a point of the canvas.
	hit(px, py) {
		if (py < AXIS) return null;
		const drawn = this.drawn?.find(({ track, y }) => py >= y + TITLE && py < y + track.height);
		const bar = drawn?.bars.find((b) => py >= b.y && py < b.y + ROW && px >= b.left &&
			px < b.right);
		return bar ? { track: drawn.track, bar } : null;
	}

	// Start and end of a frame's time on the stack, ns.
	timesOf(track, bar) {
		return extentOf(this.runs, this.level, track.thread, bar, this.place, this.bridge)
			.map((c) => c * this.cell);
	}

	words(track, bar) {
		const [from, to] = this.timesOf(track, bar), { data, picture: { tree } } = this;
		const own = showName(data.functions.names[tree.func[bar.node]]);
		return `${frameName(data, tree, bar.node, own)}: ${timeText(to - from)}, ` +
			`from ${timeText(from)} to ${timeText(to)}` +
			(bar.mixed ? "; most of this time, with shorter frames in between" : "");
	}

	frameOf({ bar }) {
		return { flame: this, node: bar.node, isAside: false, f: this.picture.tree.func[bar.node] };
	}

	tell(found, at) {
		const { tooltip } = this;
		tooltip.hide();
		this.note = this.words(found.track, found.bar).replace(/^.*: /, "");
		tooltip.show(found.bar.node, at, false, this);
	}

	hover(found) {
		const { outline } = this;
		outline.hidden = !found;
		if (!found) return;
		const { left, right, y } = found.bar, px = {
			left, top: y + this.scroller.scrollTop, width: Math.max(right - left - 1, 2),
			height: ROW - 1,
		};
		for (const [key, value] of Object.entries(px)) outline.style.setProperty(key, `${value}px`);
	}

	remember({ track, bar: { from, to, row, node } }) {
		this.mark = { track, row, node, at: (from + to) / 2 * this.cell };
	}

	select(found) {
		const { model, canvas } = this, { left, y } = found.bar;
		this.remember(found);
		if (y < AXIS || y + ROW > this.scroller.clientHeight)
			this.scroller.scrollTop += y - this.scroller.clientHeight / 2;
		this.draw();
		const shown = this.marked() ?? found, box = canvas.getBoundingClientRect();
		if (isTouch()) {
			this.note = this.words(shown.track, shown.bar).replace(/^.*: /, "");
			model.acts.showSheet(this.frameOf(shown));
		} else {
			this.tell(shown, {
				x: box.left + Math.max(0, left), y: box.top + shown.bar.y, below: 28,
			});
		}
		model.acts.say(`${shown.track.label}: ${this.words(shown.track, shown.bar)}`);
	}

	// The drawn bar of the selected frame; null if none is selected or visible.
	marked() {
		const { mark } = this, drawn = mark &&
			this.drawn.find(({ track }) => track.thread === mark.track.thread);
		const bar = drawn?.bars.find((b) => this.isSame(b, mark));
		return bar ? { track: drawn.track, bar } : null;
	}

	// ---- keys ----

	// Left and right: the next frame in the row; up and down: the caller, the first callee.
	move(key) {
		const now = this.marked();
		if (!now) {
			const first = this.drawn.find(({ bars }) => bars.length);
			if (first) this.select({
				track: first.track,
				bar: first.bars.reduce((a, b) =>
					(b.row < a.row || (b.row === a.row && b.left < a.left) ? b : a)),
			});
			return;
		}
		const { bars } = this.drawn.find(({ track }) => track === now.track),
			{ row, left, right } = now.bar;
		const next = {
			ArrowLeft: () => bars.filter((b) => b.row === row && b.right <= left + 0.01).at(-1),
			ArrowRight: () => bars.find((b) => b.row === row && b.left >= right - 0.01),
			ArrowUp: () => bars.find((b) => b.row === row - 1 && b.left <= left + 0.01 &&
				b.right >= right - 0.01),
			ArrowDown: () => bars.filter((b) => b.row === row + 1 && b.left >= left - 0.01 &&
				b.right <= right + 0.01).sort((a, b) => a.left - b.left)[0],
		}[key]();
		if (next) this.select({ track: now.track, bar: next });
	}

	// Select the next frame in view that matches the search, in order of time.
	nextMatch(step) {
		const { func } = this.picture.tree, now = this.marked();
		const found = this.drawn.flatMap(({ track, bars }) =>
			bars.filter((b) => this.matched?.[func[b.node]]).map((bar) => ({ track, bar })))
			.sort((a, b) => a.bar.left - b.bar.left || a.track.y - b.track.y ||
				a.bar.row - b.bar.row);
		if (!found.length) return;
		const at = now ? found.findIndex(({ bar }) => bar === now.bar) : -1;
		this.select(found[at < 0 && step < 0 ? found.length - 1 :
			(at + step + found.length) % found.length]);
	}

	menu() {
		const now = this.marked();
		if (!now) return;
		const box = this.canvas.getBoundingClientRect();
		this.model.acts.openMenu(this.frameOf(now), {
			x: box.left + Math.max(0, now.bar.left) + 12, y: box.top + now.bar.y + 20,
		});
	}

	// ---- the window ----

	moveTo({ left, span }) {
		Object.assign(this, { left, span });
		this.waiting ??= requestAnimationFrame(() => {
			this.waiting = null;
			this.draw();
		});
	}

	zoomAt(px, factor) {
		this.moveTo(zoomed(this, this.all, Math.max(0, Math.min(1, px / this.full)), factor));
	}

	panBy(px) {
		if (this.span >= this.all) return false;
		this.moveTo(panned(this, this.all, -px / this.full));
		return true;
	}

	moveWindow(factor, fifths) {
		const now = this.marked()?.bar;
		if (fifths) this.panBy(-fifths * this.full / 5);
		else this.zoomAt(now ? (Math.max(0, now.left) + Math.min(this.full, now.right)) / 2 :
			this.full / 2, factor);
		this.keep();
	}

	// Zoom to the time of the selected frame.
	zoomToSelected() {
		const now = this.marked();
		if (!now) return;
		const [from, to] = this.timesOf(now.track, now.bar), [low, high] = this.bounds;
		const lo = Math.max(from, low), hi = Math.min(to, high);
		this.moveTo({ left: lo - low, span: hi - lo });
		this.keep(true);
	}

	whole() {
		this.moveTo({ left: 0, span: this.all });
		this.keep(true);
	}

	// Store the window in the link and draw it.
	keep(isStep = false) {
		const { model, bounds: [low] } = this,
			ends = [low + this.left, low + this.left + this.span].map(Math.round);
		this.tooltip.hide();
		model.state.at = this.span >= this.all ? "" : ends.join("-");
		model.acts.remember(isStep);
		this.draw();
	}

	// ---- pointers ----

	bind() {
		const { model, canvas, scroller } = this;
		const inside = ({ clientX, clientY }) => {
			const box = canvas.getBoundingClientRect();
			return [clientX - box.left, clientY - box.top];
		};
		const quiet = () => {
			this.hover(null);
			this.tooltip.hide();
		};
		const on = {
			hover: (event) => {
				const found = this.hit(...inside(event));
				canvas.style.cursor = found ? "pointer" : "";
				this.hover(found);
				if (found) this.tell(found, { x: event.clientX, y: event.clientY });
				else this.tooltip.hide();
			},
			leave: quiet,
			tap: (event) => {
				const found = this.hit(...inside(event));
				if (!found) return;
				this.select(found);
				if (event.detail === 2) this.zoomToSelected();
			},
			pan: (dx, dy) => {
				quiet();
				if (dy) scroller.scrollTop -= dy;
				return this.panBy(dx);
			},
			zoom: (x, y, factor) => {
				quiet();
				this.zoomAt(inside({ clientX: x, clientY: y })[0], factor);
				return true;
			},
			end: () => this.keep(),
		};
		bindPointers(canvas, on);
		bindWheel(scroller, on);
		canvas.addEventListener("contextmenu", (event) => {
			const found = this.hit(...inside(event));
			if (!found) return;
			event.preventDefault();
			this.remember(found);
			this.draw();
			model.acts.openMenu(this.frameOf(found), { x: event.clientX, y: event.clientY });
		});
		scroller.addEventListener("scroll", () => {
			quiet();
			this.draw();
		});
		new ResizeObserver(() => this.picture && this.settle()).observe(scroller);
	}
}
