// SPDX-License-Identifier: MIT
// An overview of all listed lines: the heat of each and the visible part. A click or drag scrolls
// there. The view has `listing`, which scrolls, `rows` {element, weight, tint} and `target`.
import { el } from "./dom.js";

export class Minimap {
	constructor(view) {
		this.page = view;
		this.canvas = el("canvas", { class: "minimap", "aria-hidden": "true" });
		this.picture = el("canvas", {}); // without the visible part
		const drag = (event) => this.scrollTo(event);
		this.canvas.addEventListener("pointerdown", (event) => {
			this.canvas.setPointerCapture(event.pointerId);
			drag(event);
		});
		this.canvas.addEventListener("pointermove", (event) => event.buttons && drag(event));
		new ResizeObserver(() => this.draw()).observe(this.canvas);
	}

	scrollTo(event) {
		const scroller = this.page.listing;
		const box = this.canvas.getBoundingClientRect();
		scroller.scrollTop = ((event.clientY - box.top) / box.height) * scroller.scrollHeight -
			scroller.clientHeight / 2;
	}

	// Colours of the rows' heat, from the style sheet.
	colors() {
		const style = getComputedStyle(document.documentElement);
		return (name) => style.getPropertyValue(`--${name}`).trim();
	}

	draw() {
		const { canvas, page } = this;
		const width = canvas.clientWidth, height = canvas.clientHeight,
			ratio = devicePixelRatio || 1;
		if (!width || !height) return;
		this.picture.width = canvas.width = Math.round(width * ratio);
		this.picture.height = canvas.height = Math.round(height * ratio);
		const g = this.picture.getContext("2d");
		g.scale(ratio, ratio);
		const color = this.colors();
		const all = page.listing.scrollHeight || 1;
		const marks = page.rows.filter((row) => row.element && row.weight)
			.sort((a, b) => Math.abs(a.weight) - Math.abs(b.weight));
		for (const { element, tint } of marks) {
			g.fillStyle = color(tint) || color("line");
			g.fillRect(4, (element.offsetTop / all) * height, width - 8,
				Math.max(2, (element.offsetHeight / all) * height));
		}
		if (page.target?.element) {
			g.fillStyle = color("accent");
			g.fillRect(0, (page.target.element.offsetTop / all) * height - 1, width, 3);
		}
		this.view();
	}

	view() {
		const { canvas, page } = this;
		const g = canvas.getContext("2d"), height = canvas.clientHeight, scroller = page.listing;
		g.setTransform(1, 0, 0, 1, 0, 0);
		g.clearRect(0, 0, canvas.width, canvas.height);
		if (this.picture.width) g.drawImage(this.picture, 0, 0);
		const ratio = devicePixelRatio || 1, all = scroller.scrollHeight || 1;
		if (scroller.clientHeight >= all - 1) return;
		g.scale(ratio, ratio);
		const y = (scroller.scrollTop / all) * height, h = (scroller.clientHeight / all) * height;
		g.strokeStyle = this.colors()("quiet");
		g.globalAlpha = .75;
		g.strokeRect(.5, y + .5, canvas.clientWidth - 1, Math.max(6, h - 1));
		g.globalAlpha = .1;
		g.fillStyle = this.colors()("quiet");
		g.fillRect(0, y, canvas.clientWidth, h);
		g.globalAlpha = 1;
	}
}
