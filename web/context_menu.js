// SPDX-License-Identifier: MIT
// The context menu of a frame: right button, long touch, or the menu key for the selected frame.
import { el } from "./dom.js";

export class ContextMenu {
	// actionsOf(frame) returns [{label, act}].
	constructor(box, actionsOf) {
		this.box = box;
		this.actionsOf = actionsOf;
		box.addEventListener("keydown", (event) => this.key(event));
		document.addEventListener("pointerdown",
			(event) => !box.contains(event.target) && this.hide(), true);
		addEventListener("blur", () => this.hide());
		addEventListener("resize", () => this.hide());
	}

	get isOpen() {
		return !this.box.hidden;
	}

	// Show the menu of the frame called `name` at a point of the window.
	show(name, frame, { x, y }) {
		const { box } = this;
		this.back = document.activeElement;
		box.setAttribute("aria-label", name);
		box.replaceChildren(...this.actionsOf(frame).map(({ label, act }) => el("button", {
			role: "menuitem", tabindex: "-1", onclick: () => {
				this.hide();
				act();
			},
		}, label)));
		box.hidden = false;
		const { width, height } = box.getBoundingClientRect();
		box.style.left = `${Math.max(4, Math.min(x, innerWidth - width - 4))}px`;
		box.style.top = `${Math.max(4, Math.min(y, innerHeight - height - 4))}px`;
		box.firstElementChild?.focus();
	}

	hide() {
		if (!this.isOpen) return;
		this.box.hidden = true;
		this.back?.focus({ preventScroll: true });
	}

	key(event) {
		const items = [...this.box.children], at = items.indexOf(document.activeElement);
		const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
		if (to !== undefined) items.at(to % items.length).focus();
		else if (event.key === "Escape" || event.key === "Tab") this.hide();
		else if (event.key !== "Enter" && event.key !== " ") return;
		event.stopPropagation();
		if (event.key !== "Enter" && event.key !== " ") event.preventDefault();
	}
}
