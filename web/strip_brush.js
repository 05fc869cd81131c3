// SPDX-License-Identifier: MIT
// Selecting a range of time: drag over the tracks, or move its ends by pointer or keyboard. A click
// outside the range clears it.
import { el } from "./dom.js";

const ends = [["from", "Start of the range"], ["to", "End of the range"]];

// box: element to drag in. count: of buckets. textOf: returns the label of a bucket's edge.
// chosen(range or null, isDone): isDone is false during a drag.
export class Brush {
	constructor(box, { count, textOf, chosen }) {
		Object.assign(this, { box, count, textOf, chosen, range: null, drag: null });
		this.shade = el("div", { class: "shade" });
		this.handles = ends.map(([name, label], k) => el("div", {
			class: `handle ${name}`, role: "slider", tabindex: "0", "aria-label": label,
			"aria-valuemin": 0, "aria-valuemax": count,
			onkeydown: (e) => this.key(e, k),
		}));
		box.append(this.shade, ...this.handles);
		box.addEventListener("pointerdown", (e) => this.down(e));
		box.addEventListener("pointermove", (e) => this.move(e));
		box.addEventListener("pointerup", (e) => this.up(e));
		box.addEventListener("pointercancel", () => this.cancel());
		this.show(null);
	}

	bucketAt(event) {
		const { left, width } = this.box.getBoundingClientRect();
		return Math.max(0, Math.min(this.count, ((event.clientX - left) / width) * this.count));
	}

	whole(range) {
		return !range || (range[0] === 0 && range[1] === this.count);
	}

	show(range) {
		this.range = this.whole(range) ? null : range;
		const now = this.range ?? [0, this.count];
		const at = now.map((i) => (100 * i) / this.count);
		this.box.classList.toggle("chosen", this.range !== null);
		Object.assign(this.shade.style, { left: `${at[0]}%`, width: `${at[1] - at[0]}%` });
		this.handles.forEach((handle, k) => {
			handle.style.left = `${at[k]}%`;
			handle.setAttribute("aria-valuenow", now[k]);
			handle.setAttribute("aria-valuetext", this.textOf(now[k]));
		});
	}

	choose(range, isDone) {
		this.show(range);
		this.chosen(this.range, isDone);
	}

	// ---- by pointer ----

	down(event) {
		if (event.button !== 0) return;
		const at = this.bucketAt(event), handle = this.handles.indexOf(event.target);
		this.box.setPointerCapture(event.pointerId);
		const { range } = this, inside = range && at >= range[0] && at <= range[1];
		this.drag = {
			at, before: range, x: event.clientX, kind: handle >= 0 ? "end" : inside ? "pan" : "new",
			handle, moved: false,
		};
		if (handle < 0) event.preventDefault();
	}

	move(event) {
		const { drag } = this;
		if (!drag || (!drag.moved && Math.abs(event.clientX - drag.x) < 3)) return;
		drag.moved = true;
		this.choose(this.dragged(this.bucketAt(event)), false);
	}

	dragged(at) {
		const { drag: { kind, handle, before, at: start }, count } = this;
		if (kind === "pan") {
			const by = Math.round(Math.max(-before[0], Math.min(count - before[1], at - start)));
			return before.map((i) => i + by);
		}
		if (kind === "end") return this.withEnd(before ?? [0, count], handle, Math.round(at));
		const from = Math.floor(Math.min(at, start)), to = Math.ceil(Math.max(at, start));
		return [from, Math.max(to, from + 1)];
	}

	withEnd(range, k, value) {
		const next = [...range];
		next[k] = k === 0 ? Math.min(Math.max(0, value), range[1] - 1) :
			Math.max(Math.min(this.count, value), range[0] + 1);
		return next;
	}

	up() {
		const { drag } = this;
		this.drag = null;
		if (!drag) return;
		if (drag.moved) this.chosen(this.range, true);
		else if (drag.kind === "new" && drag.before) this.choose(null, true);
	}

	cancel() {
		const { drag } = this;
		this.drag = null;
		if (drag?.moved) this.choose(drag.before, true);
	}

	// ---- by keyboard ----

	key(event, k) {
		const range = this.range ?? [0, this.count],
			step = event.shiftKey ? Math.ceil(this.count / 20) : 1;
		const value = {
			ArrowLeft: range[k] - step, ArrowDown: range[k] - step, ArrowRight: range[k] + step,
			ArrowUp: range[k] + step,
			PageDown: range[k] - Math.ceil(this.count / 20),
			PageUp: range[k] + Math.ceil(this.count / 20),
			Home: 0, End: this.count,
		}[event.key];
		const isBack = event.key === "Escape" && this.range;
		if (value === undefined && !isBack) return;
		event.preventDefault();
		event.stopPropagation();
		this.choose(isBack ? null : this.withEnd(range, k, value), true);
	}
}
