// SPDX-License-Identifier: MIT
// The list of files: groups, folders that open and close, cost bars, and the filter.
import { oneWord } from "./cost_words.js";
import { BASE, HEAD } from "./data.js";
import { el, endOf, icon, twoParts } from "./dom.js";
import { formatChange, formatValue, plural } from "./format.js";
import { CodePainter } from "./heat_code.js";
import { showName, splitName } from "./labels.js";

const groups = [
	{ name: "Project", open: true },
	{ name: "Standard library", open: false },
	{ name: "Installed packages", open: false },
	{ name: "Other", open: false },
];
// Minimum part of a sum's change that must be certain.
const MOST = 0.5;
const FOLDER =
	"M2.5 5.5a1 1 0 0 1 1-1h4l1.5 2h7.5a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1h-13a1 1 0 0 1-1-1z";

// Folders of files as a tree; a folder that only contains a folder is merged with it.
function folders(heat, files) {
	const root = { name: "", folders: new Map(), files: [] };
	for (const f of files) {
		const parts = heat.files.name[f].split("/").filter(Boolean);
		let at = root;
		for (const part of parts.slice(0, -1)) {
			if (!at.folders.has(part))
				at.folders.set(part, { name: part, folders: new Map(), files: [] });
			at = at.folders.get(part);
		}
		at.files.push(f);
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

export class IndexView {
	constructor(app, main) {
		this.app = app;
		this.heat = app.heat;
		this.closed = new Map();
		this.main = main;
		this.filter = el("input", {
			type: "search", placeholder: "Filter files", "aria-label": "Filter files",
			spellcheck: "false", autocomplete: "off",
			oninput: () => this.update(),
		});
		this.list = el("div", {
			class: `files${this.heat.isDiff ? " diff" : ""}`, role: "group", "aria-label": "Files",
		});
	}

	show() {
		const all = (open) => {
			for (const key of this.closed.keys()) this.closed.set(key, !open);
			this.update();
		};
		this.main.replaceChildren(el("div", { class: "page" },
			this.cards(), this.hottest(),
			el("div", { class: "bar" },
				el("label", { class: "filter" },
					icon("M8.5 3.5a5 5 0 1 0 0 10 5 5 0 0 0 0-10M12.5 12.5 17 17"), this.filter,
					el("kbd", {}, "/")),
				el("span", { class: "space" }),
				el("button", { class: "plain", onclick: () => all(true) }, "Open all"),
				el("button", { class: "plain", onclick: () => all(false) }, "Close all")),
			this.list));
		this.update();
	}

	// The list at the top: the hottest lines and the hottest file, or what changed most.
	hottest() {
		const { heat, app } = this, { hot, files, isDiff } = heat;
		if (!files.n) return null;
		const { scale } = app, most = Math.max(...hot.map((h) => Math.abs(scale.weight(h.self))));
		const rows = hot.map((h) => {
			const c = scale.compare(...h.self), bar = el("i", {
				class: `fill ${scale.name(scale.step(scale.weight(h.self), most))}`,
			});
			bar.style.setProperty("width",
				`${(Math.abs(scale.weight(h.self)) / (most || 1)) * 100}%`);
			return el("li", {}, el("a", { class: "hot", href: app.link(h.file, h.line) },
				el("span", { class: "hot-place" },
					el("b", {}, twoParts("what", splitName(showName(h.name)))),
					endOf("where", `${files.name[h.file]}:${h.line}`)),
				h.text.trim() ? el("code", {},
					...new CodePainter(files.name[h.file]).line(h.text.trim())) : null,
				el("span", { class: "hot-bar" }, bar),
				el("span", { class: `num ${isDiff ? scale.tone(c, true) : ""}` },
					isDiff ? scale.change(c) : scale.value(h.self[HEAD])),
				el("span", { class: "num quiet" },
					isDiff ? scale.percent(c, h) : heat.share(h.self[HEAD]))));
		});
		const weight = (f) => Math.abs(scale.weight([files.self[BASE][f], files.self[HEAD][f]]));
		const best = [...Array(files.n).keys()].filter((f) => heat.isReal(f, "self"))
			.reduce((a, b) => (a < 0 || weight(b) > weight(a) ? b : a), -1);
		const file = best < 0 || !weight(best) ? null :
			el("p", { class: "hot-file" },
				isDiff ? "Most changed file: " : "Hottest file: ",
				el("a", { href: app.link(best) }, files.name[best]),
				" ", isDiff ?
					scale.change(scale.compare(files.self[BASE][best], files.self[HEAD][best])) :
					heat.share(files.self[HEAD][best]));
		const none = heat.judged ? "No function certainly changed." : isDiff ? "Nothing changed." :
			"No samples.";
		return el("section", {
			class: "hottest", "aria-label": isDiff ? "What changed most" : "Hottest lines",
		},
			el("h2", {}, isDiff ? "What changed most" : "Hottest lines"),
			rows.length ? el("ol", {}, ...rows) : el("p", { class: "quiet" }, none), file);
	}

	cards() {
		const { header, files, isDiff, sum, unit, factor } = this.heat;
		const { head } = header;
		const card = (title, value, note, kind) =>
			el("div", { class: "card" }, el("div", { class: "card-title" }, title),
				el("div", { class: `card-value ${kind ?? ""}` }, value),
				el("div", { class: "card-note" }, note));
		const list = [];
		if (isDiff) {
			const delta = sum[HEAD] - factor * sum[BASE],
				tone = { slower: "more", faster: "less" }[header.word];
			const words = {
				same: "the same", unknown: "unsure: within noise",
			};
			const unknown = { share: ["by share", "the whole run is not judged"],
				window: ["by window", "parts of running programs"] }[header.scale];
			const expected = factor === 1 ? "" :
				`expected ${formatValue(factor * sum[BASE], unit)}; `;
			list.push(card("Before", formatValue(sum[BASE], unit), header.base.label ?? "base"),
				card("After", formatValue(sum[HEAD], unit), head.label ?? "head"),
				card("Change", unknown?.[0] ?? formatChange(delta, unit),
					expected + (unknown?.[1] ?? words[header.word] ??
						oneWord(header, header.word) ?? `scaled by ${header.scale}`),
					tone));
		} else {
			const rate = head.interval_ns ? `every ${formatValue(head.interval_ns, "ns")}` : "";
			list.push(card("Samples", plural(head.samples, "sample").replace(/ samples?$/, ""),
				rate),
				card({ wall: "Wall time", cpu: "CPU time" }[header.metric] ?? header.metric,
					formatValue(sum[HEAD], unit),
					[head.mode && `mode ${head.mode}`,
						head.python && `Python ${head.python}`].filter(Boolean).join(", ")));
		}
		const lines = files.lines[HEAD].reduce((a, b) => a + b, 0);
		list.push(card("Files", String(files.n),
			lines ? `${plural(lines, "line")} with samples` : "with samples"));
		return el("div", {}, el("div", { class: "cards" }, ...list),
			el("details", { class: "quality" }, el("summary", {}, "How it was measured"),
				this.heat.hint && `Change is ${this.heat.hint.toLowerCase()}. `,
				isDiff ? `Sampling before: ${header.base.quality}. After: ${head.quality}.` :
				`Sampling: ${head.quality}.`));
	}

	update() {
		const { files } = this.heat;
		const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
		const shown = [];
		for (let f = 0; f < files.n; f++) {
			const text = `${files.name[f]} ${files.path[f]}`.toLowerCase();
			if (words.every((w) => text.includes(w))) shown.push(f);
		}
		const costs = this.app.by === "self" ? files.self : files.total;
		this.most = Math.max(0,
			...shown.map((f) => Math.abs(this.app.scale.weight([costs[BASE][f], costs[HEAD][f]]))));
		this.rank = (f) => Math.abs(this.app.scale.weight([costs[BASE][f], costs[HEAD][f]])) +
			files.total[HEAD][f] * 1e-6;
		const parts = groups.map((group, g) =>
			this.group(group, g, shown.filter((f) => files.origin[f] === g), words.length > 0));
		this.list.replaceChildren(...[this.titles(), ...parts,
			words.length ? null : this.rest()].filter(Boolean));
		if (!shown.length) this.list.append(el("p", { class: "empty" }, "No file matches."));
	}

	titles() {
		const words = this.heat.isDiff ?
			["", "Before", "After", "Self change", "", "Total change"] :
			["", "Self", "", "Total", ""];
		return el("div",
			{
				class: "row titles", "aria-hidden": "true", title: this.heat.hint || null,
			}, el("span", {}, "File"), ...words.map((w) => el("span", { class: "num" }, w)));
	}

	// The cost without a file, so that the sum is the whole.
	rest() {
		const { files, sum } = this.heat;
		const self = [BASE, HEAD].map((side) => sum[side] -
			files.self[side].reduce((all, v) => all + v, 0));
		if (!(self[BASE] > 0) && !(self[HEAD] > 0)) return null;
		return el("div", { class: "group-box" }, el("div", { class: "row group none" },
			el("span", { class: "name" }, el("b", {}, "Without a file"),
				el("small", {}, "native code, garbage collection, etc.")),
				...this.numbers({ self, total: null, isReal: () => false }, null)));
	}

	group(group, g, list, filtered) {
		if (!list.length) return null;
		const key = `group ${g}`;
		if (!this.closed.has(key))
			this.closed.set(key, !group.open && list.length < this.heat.files.n &&
				!(this.heat.judged && list.some((f) => this.heat.isReal(f, "self"))));
		const open = filtered || !this.closed.get(key);
		const sum = this.sum(list);
		const head = el("button", {
			class: "row group", "aria-expanded": String(open), onclick: () => {
				this.closed.set(key, open);
				this.update();
			},
		}, el("span", { class: "name" }, el("i", { class: "twist" }), el("b", {}, group.name),
		el("small", {}, plural(list.length, "file"))), ...this.numbers(sum, null));
		return el("div", { class: "group-box" }, head,
			...(open ? this.folder(folders(this.heat, list), key, 1, filtered) : []));
	}

	folder(node, path, depth, filtered) {
		const out = [];
		const inside = (n) => [...n.files, ...n.folders.flatMap(inside)];
		const entries = [
			...node.folders.map((folder) => ({ folder, files: inside(folder) })),
			...node.files.map((file) => ({ file, files: [file] })),
		];
		for (const entry of entries)
			entry.rank = entry.files.reduce((sum, f) => sum + this.rank(f), 0);
		entries.sort((a, b) => b.rank - a.rank);
		for (const entry of entries) {
			if (entry.file !== undefined) {
				out.push(this.file(entry.file, depth));
				continue;
			}
			const key = `${path}/${entry.folder.name}`;
			if (!this.closed.has(key)) this.closed.set(key, false);
			const open = filtered || !this.closed.get(key);
			out.push(el("button", {
				class: "row folder", style: null, "aria-expanded": String(open), onclick: () => {
					this.closed.set(key, open);
					this.update();
				},
			}, this.indented(depth, el("i", { class: "twist" }), icon(FOLDER),
			el("span", { class: "label" }, entry.folder.name),
			el("small", {}, plural(entry.files.length, "file"))),
			...this.numbers(this.sum(entry.files), null)));
			if (open) out.push(...this.folder(entry.folder, key, depth + 1, filtered));
		}
		return out;
	}

	indented(depth, ...children) {
		const name = el("span", { class: "name" }, ...children);
		name.style.setProperty("--depth", depth);
		return name;
	}

	file(f, depth) {
		const { files, isDiff } = this.heat;
		const parts = files.name[f].split("/");
		const state = !isDiff ? "" : !files.has[BASE][f] ? "new" :
			!files.has[HEAD][f] ? "removed" : "";
		return el("a", { class: "row file", href: this.app.link(f), title: files.path[f] },
			this.indented(depth, el("span", { class: "label" }, parts.at(-1)),
				state && el("span", { class: `mark ${state}` },
					state === "new" ? "only after" : "only before")),
			...this.numbers({ self: [files.self[BASE][f], files.self[HEAD][f]],
				total: [files.total[BASE][f], files.total[HEAD][f]], state,
				isReal: (family) => this.heat.isReal(f, family) }, f));
	}

	// Self costs add up; totals overlap, so a folder shows none. A sum has a direction if files
	// that certainly changed make up most of it.
	sum(list) {
		const { heat: { files, isReal }, app: { scale } } = this;
		const add = (some) => [BASE, HEAD].map((side) =>
			some.reduce((sum, f) => sum + files.self[side][f], 0));
		const self = add(list), all = scale.weight(self);
		const changed = scale.weight(add(list.filter((f) => isReal(f, "self"))));
		return { self, total: null, isReal: () => changed / all >= MOST };
	}

	numbers({ self, total, state, isReal }, file) {
		const { scale } = this.app;
		const num = (text, kind) => el("span", { class: `num ${kind ?? ""}` }, text);
		const chosen = this.app.by === "self" || !total ? self : total;
		const weight = scale.weight(chosen);
		const bar = el("span", { class: "bar-cell" }, file === null ? null : el("i", {
			class: `fill ${isReal(this.app.by) ? scale.name(scale.step(weight, this.most)) : ""}`,
		}));
		bar.firstChild?.style.setProperty("width",
			`${(Math.abs(weight) / (this.most || 1)) * 100}%`);
		if (this.heat.isDiff) {
			bar.classList.add("both", weight < 0 ? "left" : "right");
			const own = scale.compare(...self), all = total && scale.compare(...total);
			const tone = scale.tone(own, isReal("self"));
			return [bar, num(scale.value(own.base)), num(scale.value(own.head)),
				num(scale.change(own), tone),
				num(scale.percent(own, { state, presence: 0 }), `quiet ${tone}`),
				num(all ? scale.change(all) : "", all ? scale.tone(all, isReal("total")) : "")];
		}
		const { share } = this.heat;
		return [bar, num(scale.value(self[HEAD]) || "0"), num(share(self[HEAD]), "quiet"),
			num(total ? scale.value(total[HEAD]) : ""),
			num(total ? share(total[HEAD]) : "", "quiet")];
	}
}
