// SPDX-License-Identifier: MIT
// Light, dark, or the system's theme. The choice is stored where the browser permits.
import { icon } from "./dom.js";

const KEY = "fizeau-theme";
const order = ["system", "light", "dark"];
const icons = {
	system: "M10 3a7 7 0 1 0 0 14zM10 3a7 7 0 0 1 0 14",
	light: "M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 1.5v2M10 16.5v2M1.5 10h2M16.5 10h2" +
		"M4 4l1.4 1.4M14.6 14.6 16 16M4 16l1.4-1.4M14.6 5.4 16 4",
	dark: "M16.5 12A7 7 0 0 1 8 3.5a7 7 0 1 0 8.5 8.5z",
};
const names = { system: "system", light: "light", dark: "dark" };

function stored() {
	try {
		return localStorage.getItem(KEY);
	} catch {
		return null;
	}
}

export class Theme {
	constructor(button, changed) {
		this.button = button;
		this.changed = changed;
		this.dark = matchMedia("(prefers-color-scheme: dark)");
		const choice = stored();
		this.choice = order.includes(choice) ? choice : "system";
		this.dark.addEventListener("change", () => this.apply());
		button.addEventListener("click", () => this.next());
		this.apply();
	}
	get current() {
		return this.choice === "system" ? (this.dark.matches ? "dark" : "light") : this.choice;
	}
	next() {
		this.choice = order[(order.indexOf(this.choice) + 1) % order.length];
		try {
			localStorage.setItem(KEY, this.choice);
		} catch {
			// A page from disk may have no storage; the choice lasts as long as the page.
		}
		this.apply();
	}
	apply() {
		document.documentElement.dataset.theme = this.current;
		this.button.replaceChildren(icon(icons[this.choice]));
		this.button.title = `Theme: ${names[this.choice]} (d)`;
		this.changed?.(this.current);
	}
}
