// SPDX-License-Identifier: MIT
// The sheet at the lower edge, for touch: details and actions of the touched frame. The picture
// makes room for it. A drag downwards, its button or Escape closes it.
import { el } from "./dom.js";

const FAR = 56; // length of a drag that closes it, pixels
// ms after opening in which touches go through it, because the second of a double tap is for the
// frame.
const FRESH = 360;

export class Sheet {
	// contentOf(frame) returns elements, actionsOf(frame) [{label, act, stays}].
	constructor(box, { contentOf, actionsOf }) {
		this.box = box;
		this.parts = { contentOf, actionsOf };
		this.grip = el("div", { class: "grip" },
			el("button",
				{
					class: "icon", "aria-label": "Close", title: "Close (Esc)",
					onclick: () => this.hide(),
				}, "×"));
		this.body = el("div", {
			class: "figures", tabindex: "0", role: "group", "aria-label": "Figures",
		});
		this.buttons = el("div", { class: "group" });
		box.append(this.grip, this.body, this.buttons);
		this.bindGrip();
	}

	get isOpen() {
		return !this.box.hidden;
	}

	show(frame) {
		const { contentOf, actionsOf } = this.parts;
		this.flame = frame.flame;
		this.body.replaceChildren(...contentOf(frame));
		this.buttons.replaceChildren(...actionsOf(frame)
			.map(({ label, act, stays }) => el("button", {
				class: "plain", onclick: () => {
					if (!stays) this.hide();
					act();
				},
			}, label)));
		if (!this.isOpen) this.letThrough();
		this.box.hidden = false;
		this.body.scrollTop = 0;
		this.flame.cover(this.box.getBoundingClientRect().top, frame.node);
	}

	letThrough() {
		this.box.classList.add("fresh");
		setTimeout(() => this.box.classList.remove("fresh"), FRESH);
	}

	hide() {
		if (!this.isOpen) return;
		this.box.hidden = true;
		this.flame.cover(Infinity);
	}

	bindGrip() {
		const { box, grip } = this;
		let from = null;
		const move = (px) => box.style.setProperty("--drag", `${Math.max(0, px)}px`);
		grip.addEventListener("pointerdown", (event) => {
			if (event.target.closest("button")) return;
			from = event.clientY;
			grip.setPointerCapture(event.pointerId);
		});
		grip.addEventListener("pointermove",
			(event) => from !== null && move(event.clientY - from));
		grip.addEventListener("pointercancel", () => {
			from = null;
			move(0);
		});
		grip.addEventListener("pointerup", (event) => {
			if (from !== null && event.clientY - from > FAR) this.hide();
			from = null;
			move(0);
		});
	}
}
