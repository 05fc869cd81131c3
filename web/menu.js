// SPDX-License-Identifier: MIT
// A button that opens a small panel of controls below it. Escape or a click elsewhere closes it.
import { el } from "./dom.js";

const openMenus = () => document.querySelectorAll("details.menu[open]");

document.addEventListener("pointerdown", (event) => {
	for (const open of openMenus()) if (!open.contains(event.target)) open.open = false;
});

export function menu(id, label, title, ...children) {
	const details = el("details", { class: "menu", id }, el("summary", { title }, label),
		el("div", { class: "panel" }, ...children));
	details.addEventListener("keydown", (event) => {
		if (event.key !== "Escape" || !details.open) return;
		details.open = false;
		details.firstElementChild.focus();
		event.stopPropagation();
	});
	return details;
}
