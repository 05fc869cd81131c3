// SPDX-License-Identifier: MIT
// The list of files: groups, folders that open and close, cost bars, and the filter; for a single
// recording also its hottest lines.
import { BASE, HEAD } from "./data.js";
import { el, endOf, icon, twoParts } from "./dom.js";
import { formatShare, plural, scaleHint } from "./format.js";
import { CodePainter } from "./heat_code.js";
import { Scale } from "./heat_scale.js";
import { showName, splitName } from "./labels.js";
import { filesOf, hasText, hasWhole, hottestLines, isReal } from "./source_files.js";

const groups = [
	{ name: "Project", open: true },
	{ name: "Standard library", open: false },
	{ name: "Installed packages", open: false },
	{ name: "Other", open: false },
];
// Minimum part of a sum's change that must be certain.
const MOST = 0.5;
const HOTTEST = 10;
const FOLDER =
	"M2.5 5.5a1 1 0 0 1 1-1h4l1.5 2h7.5a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1h-13a1 1 0 0 1-1-1z";

// Folders of files as a tree; a folder that only contains a folder is merged with it.
function folders(files) {
	const root = { name: "", folders: new Map(), files: [] };
	for (const file of files) {
		let at = root;
		for (const part of file.place.split("/").filter(Boolean).slice(0, -1)) {
			if (!at.folders.has(part))
				at.folders.set(part, { name: part, folders: new Map(), files: [] });
			at = at.folders.get(part);
		}
		at.files.push(file);
	}
	return fold(root);
}

function fold(node) {
	const out = {
		name: node.name, files: node.files, folders: [...node.folders.values()].map(fold),
	};
	while (out.name && !out.files.length && out.folders.length === 1) {
		const [only] = out.folders;
		out.name += `/${only.name}`;
		out.files = only.files;
		out.folders = only.folders;
	}
	return out;
}

const baseOf = ({ name }) => name.split("/").at(-1);
const allOf = (node) => [...node.files, ...node.folders.flatMap(allOf)];

export class FileList {
	constructor(model, openFile) {
		this.model = model;
		this.openFile = openFile;
		this.closed = new Map();
		this.filter = el("input", {
			type: "search", placeholder: "Filter files", "aria-label": "Filter files",
			spellcheck: "false", autocomplete: "off", oninput: () => this.update(),
		});
		this.list = el("div", { role: "group", "aria-label": "Files" });
		this.top = el("div", {});
		const all = (open) => {
			for (const key of this.closed.keys()) this.closed.set(key, !open);
			this.update();
		};
		this.box = el("div", { class: "file-list", tabindex: "0", role: "group",
			"aria-label": "Files by cost" },
		this.top,
		el("div", { class: "bar" }, el("label", { class: "filter" },
			icon("M8.5 3.5a5 5 0 1 0 0 10 5 5 0 0 0 0-10M12.5 12.5 17 17"), this.filter,
			el("kbd", {}, "/")),
		el("button", { class: "plain", onclick: () => all(true) }, "Open all"),
		el("button", { class: "plain", onclick: () => all(false) }, "Close all")),
		this.list);
	}

	update() {
		const { data, state } = this.model;
		if (this.of !== data) this.closed.clear();
		this.of = data;
		this.scale = new Scale(data);
		this.by = state.lines === "total" ? "total" : "self";
		const files = filesOf(data);
		this.top.replaceChildren(...[this.hottest(), this.note(files)].filter(Boolean));
		const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
		const shown = files.list.filter(({ name }) =>
			words.every((w) => name.toLowerCase().includes(w)));
		this.most = shown.reduce((most, file) => Math.max(most, Math.abs(this.weight(file))), 0);
		const isFiltered = words.length > 0;
		this.list.className = `files${data.isDiff ? " diff" : ""}`;
		this.list.replaceChildren(...[this.titles(), ...groups.map((group, g) =>
			this.group(group, g, shown.filter(({ origin }) => origin === g), isFiltered)),
		isFiltered ? null : this.rest(files)].filter(Boolean));
		if (!shown.length) this.list.append(el("p", { class: "empty" }, "No file matches."));
	}

	weight(file) {
		return this.scale.weight(file[this.by]);
	}

	share(cost) {
		return formatShare(cost / (filesOf(this.model.data).sum[HEAD] || 1));
	}

	hottest() {
		const { data } = this.model, lines = data.isDiff ? [] : hottestLines(data, HOTTEST);
		if (!lines.length) return null;
		const { scale } = this, most = lines[0].self;
		const rows = lines.map(({ file, number, text, self, f }) => {
			const name = showName(data.functions.names[f]);
			const bar = el("i", { class: `fill ${scale.name(scale.step(self, most))}` });
			bar.style.setProperty("width", `${(self / most) * 100}%`);
			return el("li", {}, el("button", {
				class: "hot", onclick: () => this.openFile(file, f, String(number)),
			}, el("span", { class: "hot-place" },
				el("b", {}, twoParts("what", splitName(name), name)),
				endOf("where", showName(`${baseOf(file)}:${number}`), file.name)),
			text.trim() ? el("code", {}, ...new CodePainter(file.name).line(text.trim())) : null,
			el("span", { class: "hot-bar" }, bar), el("span", { class: "num" }, scale.value(self)),
			el("span", { class: "num quiet" }, this.share(self))));
		});
		return el("section", { class: "hottest", "aria-label": "Hottest lines" },
			el("h2", {}, "Hottest lines"), el("ol", {}, ...rows));
	}

	// Files whose text did not fit.
	note({ list }) {
		const { data } = this.model;
		const cut = list.filter((file) => hasText(data, file) && !hasWhole(data, file)).length;
		return cut > 0 && el("p", { class: "quiet" }, data.header.opens_source ?
			`${plural(cut, "file")} did not fit into the 24 MB of source that a page has; ` +
			"of these it has only the lines around samples." :
			`Of ${plural(cut, "file")} with less than 1 % of the run this page has only the ` +
			"lines around samples; a page made with --heatmap has all lines.");
	}

	titles() {
		const { isDiff, factor, header } = this.model.data;
		const words = isDiff ? ["", "Before", "After", "Self change", "", "Total change"] :
			["", "Self", "", "Total", ""];
		return el("div", { class: "row titles", "aria-hidden": "true",
			title: isDiff ? scaleHint(factor, header.scale.mode) || null : null },
		el("span", {}, "File"), ...words.map((w) => el("span", { class: "num" }, w)));
	}

	// The cost that belongs to no file, so that rows add up to the whole.
	rest({ list, sum }) {
		const self = [BASE, HEAD].map((side) => list.reduce((left, file) => left - file.self[side],
			sum[side]));
		if (!(self[BASE] > 0) && !(self[HEAD] > 0)) return null;
		return el("div", { class: "group-box" }, el("div", { class: "row group none" },
			el("span", { class: "name" }, el("b", {}, "Without a file"),
				el("small", {}, "native code, garbage collection, etc.")),
			...this.numbers({ self, isCertain: () => false })));
	}

	group(group, g, list, isFiltered) {
		const { data } = this.model, key = `group ${g}`;
		if (!list.length) return null;
		if (!this.closed.has(key))
			this.closed.set(key, !group.open && list.length < filesOf(data).list.length &&
				!(data.verdicts && list.some((file) => isReal(data, file, "self"))));
		const isOpen = isFiltered || !this.closed.get(key);
		const head = this.opener("group", key, isOpen, [el("span", { class: "name" },
			el("i", { class: "twist" }), el("b", {}, group.name),
			el("small", {}, plural(list.length, "file")))], list);
		return el("div", { class: "group-box" }, head,
			...(isOpen ? this.folder(folders(list), key, 1, isFiltered) : []));
	}

	opener(kind, key, isOpen, name, files) {
		return el("button", {
			class: `row ${kind}`, "aria-expanded": String(isOpen), onclick: () => {
				this.closed.set(key, isOpen);
				this.update();
			},
		}, ...name, ...this.numbers(this.sum(files)));
	}

	folder(node, path, depth, isFiltered) {
		const rank = (files) => files.reduce((sum, file) => sum + Math.abs(this.weight(file)) +
			file.total[HEAD] * 1e-6, 0);
		const entries = [
			...node.folders.map((folder) => ({ folder, files: allOf(folder) })),
			...node.files.map((file) => ({ file, files: [file] })),
		].map((entry) => ({ ...entry, rank: rank(entry.files) })).sort((a, b) => b.rank - a.rank);
		return entries.flatMap(({ folder, file, files }) => {
			if (file) return [this.file(file, depth)];
			const key = `${path}/${folder.name}`;
			if (!this.closed.has(key)) this.closed.set(key, false);
			const isOpen = isFiltered || !this.closed.get(key);
			return [this.opener("folder", key, isOpen, [this.indented(depth,
				el("i", { class: "twist" }), icon(FOLDER),
				el("span", { class: "label" }, showName(folder.name)),
				el("small", {}, plural(files.length, "file")))], files),
			...(isOpen ? this.folder(folder, key, depth + 1, isFiltered) : [])];
		});
	}

	indented(depth, ...children) {
		const name = el("span", { class: "name" }, ...children);
		name.style.setProperty("--depth", depth);
		return name;
	}

	file(file, depth) {
		const { data } = this.model, { self, total, name } = file;
		const state = !data.isDiff ? "" : !total[BASE] ? "new" : !total[HEAD] ? "removed" : "";
		return el("button", {
			class: "row file", title: showName(name), onclick: () => this.openFile(file),
		}, this.indented(depth, el("span", { class: "label" }, showName(baseOf(file))),
			state && el("span", { class: `mark ${state}` },
				state === "new" ? "only after" : "only before")),
		...this.numbers({ self, total, isBar: true,
			isCertain: (family) => isReal(data, file, family) }));
	}

	// Self costs add up; totals overlap, so a folder shows no total. A sum has a direction if files
	// that certainly changed make up most of it.
	sum(list) {
		const { data } = this.model, { scale } = this;
		const add = (some) => [BASE, HEAD].map((side) =>
			some.reduce((sum, { self }) => sum + self[side], 0));
		const self = add(list), all = scale.weight(self);
		const certain = scale.weight(add(list.filter((file) => isReal(data, file, "self"))));
		return { self, isCertain: () => certain / all >= MOST };
	}

	numbers({ self, total, isCertain, isBar }) {
		const { scale } = this;
		const state = self[BASE] === self[HEAD] ? "" : !self[BASE] ? "new" :
			!self[HEAD] ? "removed" : "";
		const num = (text, kind) => el("span", { class: `num ${kind ?? ""}` }, text);
		const weight = scale.weight(this.by === "self" || !total ? self : total);
		const tint = isCertain(this.by) ? scale.name(scale.step(weight, this.most)) : "";
		const bar = el("span", { class: "bar-cell" }, isBar && el("i", { class: `fill ${tint}` }));
		bar.firstChild?.style.setProperty("width",
			`${(Math.abs(weight) / (this.most || 1)) * 100}%`);
		if (!this.model.data.isDiff)
			return [bar, num(scale.value(self[HEAD]) || "0"), num(this.share(self[HEAD]), "quiet"),
				num(total ? scale.value(total[HEAD]) : ""),
				num(total ? this.share(total[HEAD]) : "", "quiet")];
		bar.classList.add("both", weight < 0 ? "left" : "right");
		const own = scale.compare(...self), all = total && scale.compare(...total);
		const tone = scale.tone(own, isCertain("self"));
		return [bar, num(scale.value(own.base)), num(scale.value(own.head)),
			num(scale.change(own), tone),
			num(scale.percent(own, { state, presence: 0 }), `quiet ${tone}`),
			num(all ? scale.change(all) : "", all ? scale.tone(all, isCertain("total")) : "")];
	}
}
