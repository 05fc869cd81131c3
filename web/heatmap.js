// SPDX-License-Identifier: MIT
// A heat map: the list of files, and the lines of each. One page holds both, selected by the
// address ("#f3L12"); in a folder each file has its own page ("file_0003.html#L12").
import { HEAD } from "./data.js";
import { el, pressSegment, segments } from "./dom.js";
import { plural } from "./format.js";
import { loadHeat } from "./heat_data.js";
import { FileView } from "./heat_file.js";
import { IndexView } from "./heat_index.js";
import { Scale } from "./heat_scale.js";
import { Theme } from "./theme.js";

const keys = [
	["/", "Filter files"], ["n  p", "Next, previous hot line"], ["t", "Self or total"],
	["h", "Hot lines only"], ["b", "Bytecode of every line"],
	["i", "Back to the files"], ["d", "Theme: system, light, dark"], ["?", "These keys"],
];

class App {
	constructor(heat) {
		this.heat = heat;
		this.mode = heat.header.view;
		this.by = "self";
		this.scale = new Scale(heat);
		const main = document.getElementById("view");
		this.index = this.mode === "file" ? null : new IndexView(this, main);
		this.files = this.mode === "index" ? null : new FileView(this, main);
		this.theme = new Theme(document.getElementById("theme"),
			() => this.files?.data && this.files.minimap.draw());
		segments(document.getElementById("by"),
			[["self", "Self", "Cost of the line itself (t)"],
				["total", "Total", "Including callees (t)"]], this.by, (by) => this.setBy(by));
		this.titles();
		this.listen();
		this.route();
	}

	titles() {
		const { header, isDiff } = this.heat;
		document.getElementById("title").textContent = isDiff ? "Differential heat map" :
			"Heat map";
		const what = (side) => side.command || side.label || "";
		const text = isDiff ?
			[header.base, header.head].map((side) => side.label ?? what(side)).join(" → ") :
			[what(header.head), plural(header.head.samples, "sample")].filter(Boolean).join(" · ");
		const subtitle = document.getElementById("subtitle");
		subtitle.textContent = text;
		subtitle.title = text;
		document.getElementById("home").href = this.link(null);
	}

	// ---- addresses ----

	// Address of a file, and optionally a line of it; null: the list of files. Lines of the
	// base end in "b".
	link(file, line, side = HEAD) {
		const at = line ? `L${line}${side === HEAD ? "" : "b"}` : "";
		if (this.mode === "all") return file === null ? "#" : `#f${file}${at}`;
		if (file === null) return "index.html";
		return `file_${String(file).padStart(4, "0")}.html${at && `#${at}`}`;
	}

	place() {
		const m = /^#(?:f(\d+))?(?:L(\d+)(b?))?$/.exec(location.hash) ?? [];
		const file = this.mode === "file" ? this.heat.header.file :
			this.mode === "all" && m[1] !== undefined && +m[1] < this.heat.files.n ? +m[1] : null;
		return { file, line: m[2] ? +m[2] : 0, side: m[3] ? 0 : HEAD };
	}

	// Change the address without adding a history entry.
	setPlace(file, line, side) {
		history.replaceState(null, "",
			this.mode === "all" ? this.link(file, line, side) :
			`#L${line}${side === HEAD ? "" : "b"}`);
	}

	go(file, line) {
		const here = this.place();
		this.closeMenu();
		if (here.file === file && this.mode !== "index") {
			history.pushState(null, "", this.mode === "all" ? this.link(file, line) : `#L${line}`);
			this.files.goTo(line, HEAD);
		} else location.href = this.link(file, line);
	}

	route() {
		const { file, line, side } = this.place();
		this.closeMenu();
		document.body.classList.toggle("on-file", file !== null);
		if (file === null) this.index?.show();
		else {
			this.files.show(file);
			if (line) this.files.goTo(line, side);
		}
		const kind = this.heat.isDiff ? "Differential heat map" : "Heat map";
		document.title = file === null ? kind : `${this.heat.files.name[file]} · ${kind}`;
	}

	setBy(by) {
		this.by = by;
		pressSegment(document.getElementById("by"), by);
		if (this.place().file === null) this.index?.update();
		else this.files.keepPlace(() => this.files.update());
	}

	// ---- the menu of callers or callees ----

	menu(button, title, targets) {
		const menu = document.getElementById("menu");
		const { files } = this.heat;
		const most = targets[0].weight || 1;
		this.menuButton = button;
		menu.replaceChildren(el("p", {}, title), ...targets.slice(0, 60).map((t) => {
			const bar = el("i", {});
			bar.style.setProperty("width", `${(t.weight / most) * 100}%`);
			return el("a", {
				role: "menuitem", href: this.link(t.file, t.line), onclick: (event) => {
					event.preventDefault();
					this.go(t.file, t.line);
				},
			}, el("b", {}, t.name || "line"),
			el("span", { class: "where" }, `${files.name[t.file]}:${t.line}`),
			el("span", { class: "num" }, this.scale.value(t.weight)),
			el("span", { class: "num quiet" }, this.heat.share(t.weight)),
			el("span", { class: "menu-bar" }, bar));
		}), targets.length > 60 ? el("p", {}, `and ${plural(targets.length - 60, "more place")}`) :
			"");
		menu.hidden = false;
		const box = button.getBoundingClientRect(), size = menu.getBoundingClientRect();
		menu.style.left = `${Math.max(8, Math.min(box.left, innerWidth - size.width - 8))}px`;
		const isLow = box.bottom + size.height + 8 > innerHeight;
		menu.style.top = `${isLow ? Math.max(8, box.top - size.height - 4) : box.bottom + 4}px`;
		menu.querySelector("a").focus();
	}

	closeMenu() {
		const menu = document.getElementById("menu");
		if (menu.hidden) return false;
		menu.hidden = true;
		return true;
	}

	moveInMenu(by) {
		const items = [...document.querySelectorAll("#menu a")];
		const at = items.indexOf(document.activeElement);
		items[(at + by + items.length) % items.length]?.focus();
	}

	// ---- events ----

	say(text) {
		document.getElementById("spoken").textContent = text;
	}

	help() {
		const dialog = document.getElementById("help");
		dialog.replaceChildren(el("h2", { id: "help-title" }, "Keys"),
			el("dl", {}, ...keys.flatMap(([key, what]) =>
				[el("dt", {}, ...key.split("  ").map((k) => el("kbd", {}, k))),
					el("dd", {}, what)])),
					el("form", { method: "dialog" }, el("button", { class: "plain" }, "Close")));
		dialog.showModal();
	}

	listen() {
		addEventListener("popstate",
			() => this.route()); // browsers also send this when the hash changes
		addEventListener("pointerdown",
			(event) => !event.target.closest("#menu, .jump") && this.closeMenu());
		document.getElementById("help-open").addEventListener("click", () => this.help());
		addEventListener("keydown", (event) => this.key(event));
	}

	key(event) {
		if (event.ctrlKey || event.metaKey || event.altKey || document.getElementById("help").open)
			return;
		const menuOpen = !document.getElementById("menu").hidden;
		if (event.key === "Escape" && menuOpen) {
			this.closeMenu();
			this.menuButton?.focus();
			return;
		}
		if (menuOpen && ["ArrowDown", "ArrowUp"].includes(event.key)) {
			event.preventDefault();
			this.moveInMenu(event.key === "ArrowDown" ? 1 : -1);
			return;
		}
		if (event.target.matches("input")) return;
		const onFile = this.place().file !== null;
		const actions = {
			"/": () => this.index?.filter.focus(), "?": () => this.help(),
			d: () => this.theme.next(), t: () => this.setBy(this.by === "self" ? "total" : "self"),
			n: () => onFile && this.files.jump(1), p: () => onFile && this.files.jump(-1),
			h: () => onFile && this.files.setHot(!this.files.hotOnly),
			b: () => onFile && this.files.data.code.size &&
			this.files.openAll(!this.files.open.size),
			i: () => onFile && (location.href = this.link(null)),
		};
		if (!Object.hasOwn(actions, event.key)) return;
		event.preventDefault();
		actions[event.key]();
	}
}

loadHeat().then((heat) => {
	document.getElementById("app").hidden = false;
	window.fizeau = new App(heat);
	document.documentElement.dataset.ready = "";
}).catch((error) => {
	const failure = document.getElementById("failure");
	failure.hidden = false;
	failure.textContent = `This page cannot be shown: ${error.message}`;
	throw error;
});
