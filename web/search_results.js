// SPDX-License-Identifier: MIT
// The list below the search box: matches, costliest first, and other ways to read the query.
import { el, twoParts } from "./dom.js";
import { splitName } from "./labels.js";

export class Hits {
	// Shown while the search box, which contains `box`, has the focus.
	constructor(box, input) {
		this.box = box;
		this.input = input;
		const search = box.parentElement;
		search.addEventListener("focusin", () => this.show());
		search.addEventListener("focusout",
			(event) => !search.contains(event.relatedTarget) && (box.hidden = true));
		search.addEventListener("keydown", (event) => this.key(event));
	}

	show() {
		this.box.hidden = !this.box.childElementCount ||
			!this.box.parentElement.contains(document.activeElement);
	}

	hide() {
		this.box.hidden = true;
	}

	// list: [{name, place, share, go}]; rest: words for further matches; offer: {text, take} or
	// null.
	update(list, rest, offer) {
		const items = list.map(({ name, place, share, go }) =>
			el("li", {}, el("button", { onclick: () => {
				this.hide();
				go();
			} }, el("span", { class: "pair" }, twoParts("what", splitName(name), name),
				el("span", {}, share)), el("span", { class: "place" }, place))));
		this.box.replaceChildren(...[
			offer && el("button", { class: "offer", onclick: () => {
				this.input.focus();
				offer.take();
			} }, offer.text),
			items.length > 0 && el("ol", { "aria-label": "Found" }, ...items),
			rest && el("p", { class: "quiet" }, rest),
		].filter(Boolean));
		this.show();
	}

	// Arrows lead from the box into the list and through it.
	key(event) {
		const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
		if (!step || this.box.hidden) return;
		const stops = [this.input, ...this.box.querySelectorAll("button")],
			at = stops.indexOf(document.activeElement);
		if (at < 0) return;
		stops[Math.max(0, Math.min(stops.length - 1, at + step))].focus();
		event.preventDefault();
		event.stopPropagation();
	}
}
