// SPDX-License-Identifier: MIT
// The overview above the picture: a track for each thread, or for each kind of thread if there are
// many, with its activity over time. A range chosen here limits everything below.
import { el, twoParts } from "./dom.js";
import { formatCount, formatShare, formatValue, plural, ticksOf } from "./format.js";
import { splitNames } from "./labels.js";
import { Brush } from "./strip_brush.js";
import { edgeOf } from "./strip_data.js";

const ROW = 18, GROUP = 30, GAP = 3, AXIS = 16, MARKS = 17; // px
const LANES = 3, TICK = 8; // lanes for marks close to each other; px of a mark without a label
const LIVE = 60000; // maximum number of slices for updates during a drag

const timeText = (ns) => formatValue(ns, "ns");

export class Strip {
	constructor(model, box) {
		this.model = model;
		this.box = box;
		const { time } = model.loaded;
		box.hidden = !time;
		if (!time) return;
		this.time = time;
		this.canvas = el("canvas", { "aria-hidden": "true" });
		this.marks = this.markButtons();
		this.area = el("div", { class: "tracks" }, this.canvas,
			...this.marks.map(({ button }) => button));
		this.lanes = this.marks.length > 0 ? 1 : 0;
		this.labels = el("div", { class: "labels" });
		this.readout = el("output", { class: "quiet" });
		this.legend = el("span", { class: "colours" });
		this.clear = el("button", {
			class: "link", onclick: () => model.acts.set({ range: null }, true),
		},
			"Whole recording");
		box.replaceChildren(
			el("div", { class: "about" }, el("strong", {}, this.title()), this.readout, this.clear,
				this.legend),
			el("div", { class: "frame" }, this.labels, this.area));
		this.waits = time.states.indexOf("waiting");
		this.measure();
		this.buildLabels();
		this.brush = time.buckets > 1 ? new Brush(this.area, {
			count: time.buckets, textOf: (i) => timeText(edgeOf(time, i)),
			chosen: (range, isDone) => this.chosen(range, isDone),
		}) : null;
		this.area.addEventListener("pointermove", (e) => this.point(e));
		this.area.addEventListener("pointerleave", () => this.tell());
		new ResizeObserver(() => this.draw()).observe(this.area);
	}

	// "300 threads in 4.33 s"
	title() {
		const { tracks, end } = this.time;
		const threads = tracks.reduce((n, t) => n + t.threads, 0);
		return `${plural(threads, "thread")} in ${timeText(end)}`;
	}

	value(track, state, slot) {
		const { states, slots, activity } = this.time;
		return activity[(track * states.length + state) * slots + slot];
	}

	// Positions of tracks, and the values that their full height stands for: the maximum number of
	// threads present, and of threads that do more than wait.
	measure() {
		const { time } = this;
		let y = this.lanes * MARKS;
		this.rows = time.tracks.map((track, t) => {
			let most = time.parts, busiest = time.parts;
			for (let i = 0; i < time.slots; i++) {
				let all = 0;
				for (let s = 0; s < time.states.length; s++) all += this.value(t, s, i);
				const waits = this.value(t, this.waits, i);
				most = Math.max(most, all);
				busiest = Math.max(busiest, all - waits);
			}
			const row = { y, height: track.threads > 1 ? GROUP : ROW, most, busiest };
			y += row.height + GAP;
			return row;
		});
		this.hasMissed = time.missed.some((n) => n > 0);
		this.height = y + (this.hasMissed ? 5 : 0) + AXIS;
		this.used = time.states.map((_, s) => time.tracks.some((track, t) => {
			for (let i = 0; i < time.slots; i++) if (this.value(t, s, i) > 0) return true;
			return false;
		}));
	}

	buildLabels() {
		const { model, time } = this;
		const names = splitNames(time.tracks.map(({ label }) => label));
		time.tracks.forEach(({ label, threads }, t) => {
			if (threads > 1) names[t] = [label, `\u00a0× ${formatCount(threads)}`];
		});
		this.labels.replaceChildren(...time.tracks.map((track, t) => {
			const { y, height } = this.rows[t];
			const only = track.threads > 1 ? "only these threads" : "only this thread";
			const label = el(time.tracks.length > 1 ? "button" : "span", {
				class: "label",
				onclick: time.tracks.length > 1 ?
					() => model.acts.set({ threads: this.flagsOf(t) }, true) : null,
			}, twoParts("what", names[t], `${names[t].join("")}: ${only}`));
			Object.assign(label.style, { top: `${y}px`, height: `${height}px` });
			return label;
		}));
		this.labels.style.height = `${this.height}px`;
		this.area.style.height = `${this.height}px`;
		this.legend.replaceChildren(...time.states.flatMap((name, s) => (this.used[s] ?
			[el("span", { class: "key" }, el("i", { class: `state-${s}` }), name)] : [])),
		this.hasMissed ? el("span", { class: "key" }, el("i", { class: "state-missed" }),
			"samples missed") : "");
	}

	// Buttons at instants; one selects the time until the next instant.
	instants(list, kind, labelOf, titleOf, then) {
		const { model, time } = this;
		const bucket = (ns) =>
			Math.min(time.buckets - 1, Math.round((ns / time.end) * time.buckets));
		return list.map((instant, i) => {
			const { ns } = instant, from = bucket(ns);
			const next = list.slice(i + 1).map((m) => bucket(m.ns)).find((b) => b > from);
			const button = el("button", {
				class: kind,
				title: titleOf(instant),
				onpointerdown: (e) => e.stopPropagation(),
				onclick: () => {
					if (time.buckets > 1)
						model.acts.set({ range: [from, next ?? time.buckets] }, true);
					then?.(instant);
				},
			}, labelOf(instant));
			return { button, ns };
		});
	}

	markButtons() {
		const { model, time } = this, name = model.data.header.head.label || "RECORDING";
		const toCompare = ({ ranges }) => `fizeau diff ${name} ${ranges}`;
		return [
			...this.instants(time.marks, "mark", ({ text }) => text,
				({ ns, text }) => `${text} at ${timeText(ns)}: select from here to the next mark`),
			// Points where the program's behaviour changed; the time before can be
			// compared.
			...this.instants(time.changes, "mark change", (change) => `→ ${change.name}`,
				(change) => `At ${timeText(change.ns)} its behaviour changed: ` +
					`${change.words}. Select from here to the next change; ` +
					`to compare: ${toCompare(change)}`,
				(change) => model.acts.say(toCompare(change))),
		].sort((a, b) => a.ns - b.ns);
	}

	// A label is on the right of its line, or on the left at the end of the time; if it would
	// overlap another label, it is a lane lower. Without room in any lane, the mark is a tick below
	// them.
	placeMarks(width) {
		const ends = [];
		for (const { button } of this.marks) button.classList.remove("bare");
		for (const { button, ns } of this.marks) {
			const at = (ns / this.time.end) * width, room = button.offsetWidth;
			const isLate = at + room > width, left = isLate ? Math.max(0, at - room) : at;
			let lane = ends.findIndex((end) => end <= left);
			if (lane < 0) lane = ends.length;
			const isBare = lane >= LANES;
			if (isBare) lane = LANES;
			ends[lane] = isBare ? Infinity : left + room + 1;
			button.classList.toggle("bare", isBare);
			button.classList.toggle("late", isLate && !isBare);
			const x = isBare ? Math.min(at, width - TICK) : left;
			Object.assign(button.style, { left: `${x}px`, top: `${lane * MARKS}px` });
		}
		if (ends.length === this.lanes) return;
		this.lanes = ends.length;
		this.measure();
		this.buildLabels();
	}

	// A second press undoes the choice.
	flagsOf(track) {
		const { model: { state }, time } = this;
		const flags = Uint8Array.from(time.trackOf, (t) => (t === track + 1 ? 1 : 0));
		return state.threads?.join() === flags.join() ? null : flags;
	}

	chosen(range, isDone) {
		const { model } = this;
		model.state.range = range;
		if (isDone) model.acts.set({ range }, true);
		else if (this.time.slices().n < LIVE) this.follow();
		this.tell();
	}

	// At most once per animation frame.
	follow() {
		this.waiting ??= requestAnimationFrame(() => {
			this.waiting = null;
			this.model.acts.refresh();
		});
	}

	update() {
		if (!this.time) return;
		this.brush?.show(this.model.state.range);
		this.tell();
		this.draw();
	}

	tell() {
		const { range } = this.model.state;
		this.clear.hidden = !range;
		if (!range) {
			this.readout.textContent = this.brush ? "Drag to select a range of time." : "";
			return;
		}
		const [from, to] = range.map((i) => edgeOf(this.time, i));
		this.readout.textContent = `${timeText(from)} to ${timeText(to)}: ${timeText(to - from)}`;
	}

	// Show what happened at the pointer's time.
	point(event) {
		if (this.brush?.drag) return;
		const { time } = this, { left, top, width } = this.area.getBoundingClientRect();
		const slot = Math.max(0,
			Math.min(time.slots - 1, Math.floor(((event.clientX - left) / width) * time.slots)));
		const below = event.clientY - top;
		const track = this.rows.findIndex(({ y, height }) => below < y + height + GAP);
		if (track < 0) {
			this.tell();
			return;
		}
		const many = time.tracks[track].threads > 1;
		const parts = time.states.map((name, s) => [name, this.value(track, s, slot) / time.parts])
			.filter(([, v]) => v > 0);
		const words = parts.map(([name, v]) =>
			(many ? `${v.toFixed(1)} ${name}` : `${name} ${formatShare(v)}`));
		const at = timeText((time.end * (slot + 0.5)) / time.slots), { label } = time.tracks[track];
		this.readout.textContent = `${at} · ${label}: ${words.join(", ") || "not running"}`;
	}

	// ---- drawing ----

	draw() {
		const { area, canvas, time } = this, ratio = devicePixelRatio || 1;
		const width = area.clientWidth;
		if (!time || !width) return;
		this.placeMarks(width);
		Object.assign(canvas, {
			width: Math.round(width * ratio), height: Math.round(this.height * ratio),
		});
		const style = getComputedStyle(this.box), pen = canvas.getContext("2d");
		pen.scale(ratio, ratio);
		const colours = time.states.map((_, s) => style.getPropertyValue(`--state-${s}`));
		time.tracks.forEach((_, t) => this.drawTrack(pen, t, width, colours));
		if (this.hasMissed) this.drawMissed(pen, width, style.getPropertyValue("--ink"));
		this.drawAxis(pen, width, style);
		pen.fillStyle = style.getPropertyValue("--accent");
		for (const { ns } of [...time.marks, ...time.changes])
			pen.fillRect((ns / time.end) * width, 0, 1, this.height - AXIS);
	}

	// Draw the threads present as background; in front of it, to a separate scale, those that
	// do more than wait.
	drawTrack(pen, t, width, colours) {
		const { time, waits } = this, { y, height, most, busiest } = this.rows[t],
			step = width / time.slots;
		for (let i = 0; i < time.slots; i++) {
			let below = y + height, all = 0;
			for (let s = 0; s < colours.length; s++) all += this.value(t, s, i);
			pen.fillStyle = colours[waits];
			pen.fillRect(i * step, y + height * (1 - all / most), step + 0.3,
				height * (all / most));
			for (let s = 0; s < colours.length; s++) {
				const part = s === waits ? 0 : (this.value(t, s, i) / busiest) * height;
				if (part <= 0) continue;
				pen.fillStyle = colours[s];
				below -= part;
				pen.fillRect(i * step, below, step + 0.3, part);
			}
		}
	}

	drawMissed(pen, width, colour) {
		const { time } = this, step = width / time.slots;
		pen.fillStyle = colour;
		time.missed.forEach((n, i) => n > 0 &&
			pen.fillRect(i * step, this.height - AXIS - 4, Math.max(2, step), 3));
	}

	// Round times, at least 90 px apart.
	drawAxis(pen, width, style) {
		const { end } = this.time, y = this.height - AXIS;
		pen.fillStyle = style.getPropertyValue("--line");
		pen.fillRect(0, y, width, 1);
		pen.font = `11px ${style.fontFamily}`;
		pen.textBaseline = "top";
		for (const { ns, text } of ticksOf(0, end, (end * 90) / width)) {
			const x = (ns / end) * width, room = pen.measureText(text).width;
			pen.fillStyle = style.getPropertyValue("--line");
			pen.fillRect(Math.min(x, width - 1), y, 1, 4);
			pen.fillStyle = style.getPropertyValue("--quiet");
			if (x + room + 3 <= width) pen.fillText(text, x + 3, y + 3);
		}
	}
}
