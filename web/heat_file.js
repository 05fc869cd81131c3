// SPDX-License-Identifier: MIT
// One file of a heat map: the cost of each line, calls to and from it, its instructions, and an
// overview of the file at the right.
import { UNKNOWN } from "./colors.js";
import { verdictOn, wordOfFunction } from "./cost_words.js";
import { BASE, HEAD } from "./data.js";
import { el, icon, pressSegment, segments, toggle } from "./dom.js";
import { formatShare, plural } from "./format.js";
import { CodePainter } from "./heat_code.js";
import { fileData } from "./heat_data.js";
import { Minimap } from "./heat_minimap.js";

const HOT = 3;   // lines kept around a hot one by "hot lines only"

export class FileView {
	constructor(app, main) {
		this.app = app;
		this.heat = app.heat;
		this.main = main;
		this.hotOnly = false;
		this.paint = "heat";
		this.open = new Set();
		this.minimap = new Minimap(this);
	}

	show(file) {
		if (this.data?.file !== file) {
			this.data = fileData(this.heat, file);
			this.open.clear();
			this.build();
		} else if (!this.main.contains(this.listing)) this.build();
		this.update();
	}

	// ---- the page ----

	build() {
		const { files, isDiff } = this.heat, { file } = this.data;
		const cost = {
			self: [files.self[BASE][file], files.self[HEAD][file]],
			total: [files.total[BASE][file], files.total[HEAD][file]],
		};
		this.listing = el("div", {
			class: `listing${isDiff ? " diff" : ""}`, role: "table",
			"aria-label": `Lines of ${files.name[file]}`,
		});
		this.scroller = el("div",
			{
				class: "scroller", tabindex: "0", onscroll: () => this.minimap.view(),
			}, this.listing);
		this.painted = el("div", {
			class: "segments", role: "group", "aria-label": "Colour lines by",
		});
		segments(this.painted, [["heat", "Heat"], ["special", "Specialised"]], this.paint,
			(value) => {
				this.paint = value;
				this.update();
			});
		this.painted.hidden = !this.data.code.size || isDiff;
		this.count = el("span", { class: "quiet" });
		const step = (label, title, by, d) =>
			el("button",
				{
					class: "icon small", title, "aria-label": label, onclick: () => this.jump(by),
				}, icon(d));
		this.main.replaceChildren(el("div", { class: "file-page" },
			el("div", { class: "bar file-bar" },
				el("a", { class: "plain back", href: this.app.link(null) }, "← Files"),
				el("span", { class: "path", title: files.path[file] }, files.name[file]),
				...this.facts(cost),
				el("span", { class: "space" }),
				this.painted,
				this.data.code.size ? toggle("Bytecode", "Show the instructions of every line (b)",
					this.open.size > 0, (on) => this.openAll(on), "bytecode") : null,
				toggle("Hot lines only", "Hide lines without cost (h)", this.hotOnly,
					(on) => this.setHot(on), "hot"),
				this.count,
				step("Previous hot line", "Previous hot line (p)", -1, "m5 12.5 5-5 5 5"),
				step("Next hot line", "Next hot line (n)", 1, "m5 7.5 5 5 5-5")),
			el("div", { class: "code-box" }, this.scroller, this.minimap.canvas),
			el("div", { class: "foot" }, this.legend(), el("span", { class: "space" }),
				el("span", { class: "quiet" }, this.note()))));
	}

	facts({ self, total }) {
		const { scale } = this.app;
		const fact = (name, value, kind) =>
			el("span", { class: "fact" }, el("small", {}, name),
				el("b", { class: kind ?? "" }, value));
		if (!this.heat.isDiff)
			return [["self", self[HEAD]], ["total", total[HEAD]]].map(([name, cost]) =>
				fact(name, `${scale.value(cost) || "0"} · ${this.heat.share(cost)}`));
		return [["self", scale.compare(...self)],
			["total", scale.compare(...total)]].map(([name, c]) =>
				fact(name, [scale.change(c) || "±0", scale.percent(c)].filter(Boolean).join(" · "),
					scale.tone(c, this.heat.isReal(this.data.file, name))));
	}

	note() {
		const { files } = this.heat, { file } = this.data;
		if (this.heat.hint) return `Change is ${this.heat.hint.toLowerCase()}.`;
		return files.text[HEAD][file] || files.text[BASE][file] ? "" :
			"Source not recorded; " +
				"lines with a cost are shown by number.";
	}

	legend() {
		const keys = this.heat.isDiff ?
			[["l4", ""], ["l3", ""], ["l2", ""], ["l1", "less"], ["m1", ""], ["m2", ""], ["m3", ""],
				["m4", "more"]] :
			[1, 2, 3, 4, 5, 6, 7, 8].map((i) => [`h${i}`, ""]);
		return el("span", { class: "legend" }, this.heat.isDiff ? "less " : "cooler ",
			...keys.map(([name]) => el("i", { class: `key ${name}` })),
			this.heat.isDiff ? " more" : " hotter",
			this.heat.judged ? el("span", { class: "legend-word" },
				el("i", { class: "key unsure" }), " within noise") : null);
	}

	// ---- lines ----

	costs(row) {
		const key = this.app.by;
		return [row.cost[BASE][key], row.cost[HEAD][key]];
	}

	functionOf(row) {
		return row.cost[HEAD].func >= 0 ? row.cost[HEAD].func : row.cost[BASE].func;
	}

	// Whether the chosen cost of a line's function certainly changed.
	isChanged(row) {
		return this.heat.isChanged(this.functionOf(row), this.app.by);
	}

	// Change of the chosen cost of a function.
	deltaOf(f) {
		const cost = this.heat.functions[this.app.by];
		return this.app.scale.compare(cost[BASE][f], cost[HEAD][f]).delta;
	}

	wordOf(f) {
		const { header, functions, stateOf } = this.heat;
		return wordOfFunction(header, stateOf(f), functions.verdict[this.app.by][f],
			this.deltaOf(f));
	}

	update() {
		const { scale } = this.app, { rows } = this.data;
		pressSegment(this.painted, this.paint);
		this.most = Math.max(0, ...rows.map((row) => Math.abs(scale.weight(this.costs(row)))));
		for (const row of rows) {
			row.weight = scale.weight(this.costs(row));
			row.step = scale.step(row.weight, this.most);
			row.hot = row.weight !== 0;
		}
		this.hotRows = rows.filter((row) => Math.abs(row.step) >= (this.heat.isDiff ? 1 : 2) &&
			row.weight);
		this.count.textContent = plural(this.hotRows.length, "hot line");
		const file = this.heat.files.name[this.data.file];
		const painters = [new CodePainter(file), new CodePainter(file)];
		const near = this.hotOnly ? this.nearHot() : null;
		const children = [this.titles()];
		let hidden = false, last = 0;
		rows.forEach((row, i) => {
			row.element = null;
			const code = row.text === null ? null : this.code(row, painters);
			if (near && !near.has(i)) {
				hidden = true;
				return;
			}
			const bare = row.text === null && last && row.number[HEAD] > last + 1;
			if (hidden || bare)
				children.push(el("div", { class: "gap", "aria-hidden": "true" }, "⋯"));
			hidden = false;
			last = row.number[HEAD];
			children.push(...this.line(row, code));
		});
		this.listing.replaceChildren(...children);
		this.minimap.draw();
	}

	// The words of a line, in the state that the lines before it leave in its versions.
	code(row, painters) {
		const spots = this.app.by === "self" ? this.data.spots.get(row.number[HEAD]) : [];
		const painted = painters.map((painter, side) => row.number[side] > 0 &&
			painter.line(row.text, spots, (s, all) => this.spanTitle(s, all)));
		return painted[HEAD] || painted[BASE];
	}

	nearHot() {
		const near = new Set();
		this.data.rows.forEach((row, i) => {
			if (row.hot) for (let k = i - HOT; k <= i + HOT; k++) near.add(k);
		});
		return near;
	}

	titles() {
		const words = this.heat.isDiff ? ["Line", "Line", "", "Before", "After", "Change"] :
			["Line", "Self", "Total"];
		return el("div", { class: "line titles", role: "row", title: this.heat.hint || null },
			el("i", { class: "heat", "aria-hidden": "true" }),
			...words.map((w) => el("span", { class: w && "num", role: w ? "columnheader" : "cell" },
				w)),
			el("span", { class: "code", role: "columnheader" }, "Source"));
	}

	spanTitle(s, all) {
		const share = all ? ` (${formatShare(s.self / all)} of the line's self cost)` : "";
		const { scale } = this.app;
		return `self ${scale.value(s.self)}${share}, total ${scale.value(s.total)}`;
	}

	paintOf(row) {
		if (this.paint === "special") {
			const list = this.data.code.get(row.number[HEAD]);
			if (!list) return { name: "", share: 0 };
			const all = list.reduce((s, o) => s + o.self + o.total, 0) || 1;
			const special = list.reduce((s, o) => s + (o.base ? o.self + o.total : 0), 0);
			return { name: "special", share: special / all };
		}
		const isUnsure = row.weight && !this.isChanged(row);
		const func = this.functionOf(row), verdict = this.heat.functions.verdict[this.app.by][func];
		return {
			name: !isUnsure ? this.app.scale.name(row.step) : verdict === UNKNOWN ? "unsure" : "",
			share: 0,
		};
	}

	line(row, code) {
		const { isDiff } = this.heat, { scale } = this.app;
		const number = row.number[HEAD] || row.number[BASE];
		const { name, share } = this.paintOf(row);
		const cell = (text, kind, role = "cell") => el("span", { class: kind, role }, text);
		const permalink = (n, side) =>
			(n ? el("span", { class: "at num", role: "rowheader" }, el("a", {
				href: this.app.link(this.data.file, n, side), title: `Link to line ${n}`,
				onclick: (event) => this.follow(event, row, side),
			}, String(n))) : cell("", "at num"));
		const cells = [el("i", { class: "heat", "aria-hidden": "true" })];
		if (isDiff) {
			const c = scale.compare(...this.costs(row));
			cells.push(permalink(row.number[BASE], BASE), permalink(row.number[HEAD], HEAD),
				cell(!row.number[HEAD] ? "−" : !row.number[BASE] ? "+" : "", "sign"),
				cell(scale.value(c.base), "num"), cell(scale.value(c.head), "num"),
				cell(scale.change(c),
					`num ${scale.tone(c, this.isChanged(row))}`));
		} else
			cells.push(permalink(row.number[HEAD], HEAD),
				cell(scale.value(row.cost[HEAD].self),
					`num${this.app.by === "self" ? " chosen" : ""}`),
				cell(scale.value(row.cost[HEAD].total),
					`num${this.app.by === "total" ? " chosen" : ""}`));
		const text = el("code", {}, ...(code ?? []));
		cells.push(el("span", { class: "code", role: "cell" }, text, ...this.links(row)));
		row.element = el("div", {
			class: ["line", name, isDiff && !row.number[HEAD] && "gone",
				isDiff && row.number[HEAD] && !row.number[BASE] && "fresh",
				row === this.target && "target"].filter(Boolean).join(" "),
			role: "row", title: row.weight ? this.describe(row) : null,
		}, ...cells);
		row.element.style.setProperty("--share", share.toFixed(3));
		return this.open.has(number) && this.data.code.has(row.number[HEAD]) ?
			[row.element, ...this.instructions(row)] : [row.element];
	}

	describe(row) {
		const { scale } = this.app, func = this.functionOf(row);
		if (!this.heat.isDiff)
			return ["self", "total"].map((key) => {
				const cost = row.cost[HEAD][key];
				return `${key} ${scale.value(cost) || "0"} (${this.heat.share(cost)})`;
			}).join(", ");
		const [own, all] = ["self", "total"].map((key) =>
			scale.compare(row.cost[BASE][key], row.cost[HEAD][key]));
		const words = `self ${scale.change(own) || "±0"}, total ${scale.change(all) || "±0"}`;
		return this.heat.judged && func >= 0 ? `${words}; its function: ${this.wordOf(func)}` :
			words;
	}

	// ---- calls ----

	links(row) {
		const n = row.number[HEAD], { functions } = this.heat;
		const out = [];
		const starts = [...(this.data.defined.get(`${HEAD}:${n}`) ?? []),
			...(row.number[BASE] ? this.data.defined.get(`${BASE}:${row.number[BASE]}`) ?? [] :
				[])];
		const callers = starts.flatMap((f) => (this.data.callers.get(f) ?? [])
			.map((c) => ({ ...c, f })));
		const callees = n ? this.data.callees.get(n) ?? [] : [];
		const code = n ? this.data.code.get(n) : null;
		if (callers.length)
			out.push(
				this.button("▲",
					`${plural(callers.length, "caller")} of ${functions.name[callers[0].f]}`,
					callers.map((c) => ({
						file: c.file, line: c.line, weight: c.weight,
						name: this.functionAt(c.file, c.line),
					}))));
		if (callees.length)
			out.push(this.button("▼", `calls ${plural(callees.length, "function")}`,
				callees.map((c) => ({
					file: functions.file[c.callee], line: functions.line[c.callee],
					weight: c.weight, name: functions.name[c.callee],
				}))));
		if (code)
			out.push(el("button", {
				class: "jump", title: `${plural(code.length, "instruction")} (b opens all)`,
				"aria-expanded": String(this.open.has(n)),
				onclick: () => this.toggleCode(n),
			}, "{}"));
		for (const f of starts)
			if (this.heat.judged) {
				const verdict = this.heat.isChanged(f, this.app.by) ? verdictOn(this.deltaOf(f)) :
					"";
				const glyph = { slower: "▲ ", faster: "▼ " }[verdict] ?? "";
				out.push(el("span", { class: `verdict ${verdict}` },
					`${functions.name[f]}: ${glyph}${this.wordOf(f)}`));
			}
		return out;
	}

	// Name of the function of a line; "" if it is unknown, as in other files.
	functionAt(file, line) {
		const func = this.app.heat.lineFunction(file, line);
		return func >= 0 ? this.heat.functions.name[func] : "";
	}

	button(sign, title, targets) {
		return el("button", {
			class: "jump", title, "aria-haspopup": targets.length > 1 ? "menu" : null,
			onclick: (event) => (targets.length === 1 ?
				this.app.go(targets[0].file, targets[0].line) :
				this.app.menu(event.currentTarget, title, targets)),
		}, sign, targets.length > 1 ? el("small", {}, String(targets.length)) : null);
	}

	// ---- instructions ----

	instructions(row) {
		const list = this.data.code.get(row.number[HEAD]), { scale } = this.app;
		const most = Math.max(...list.map((o) => (this.app.by === "self" ? o.self : o.total))) || 1;
		return list.map((o) => {
			const value = this.app.by === "self" ? o.self : o.total;
			const bar = el("i", { class: `op-bar${o.base ? " special" : ""}` });
			bar.style.setProperty("width", `${(value / most) * 100}%`);
			const blank = this.heat.isDiff ? 4 : 1;
			return el("div", { class: "line op", role: "row" },
				el("i", { class: "heat", "aria-hidden": "true" }),
				...Array.from({ length: blank }, () => el("span", { role: "cell" })),
				el("span", { class: "num", role: "cell" }, scale.value(o.self)),
				el("span", { class: "num", role: "cell" }, scale.value(o.total)),
				el("span", { class: "code", role: "cell" }, el("span", { class: "op-box" }, bar),
					el("b", {}, o.name), o.base ?
					el("span", { class: "badge" }, `specialised ${o.base}`) : null));
		});
	}

	toggleCode(n) {
		if (!this.open.delete(n)) this.open.add(n);
		this.keepPlace(() => this.update());
	}

	openAll(on) {
		this.open = new Set(on ? this.data.code.keys() : []);
		document.getElementById("bytecode")?.setAttribute("aria-checked", String(on));
		this.keepPlace(() => this.update());
	}

	setHot(on) {
		this.hotOnly = on;
		document.getElementById("hot").setAttribute("aria-checked", String(on));
		this.update();
	}

	keepPlace(change) {
		const top = this.scroller.scrollTop;
		change();
		this.scroller.scrollTop = top;
	}

	// ---- going to a line ----

	rowOf(line, side = HEAD) {
		return this.data.rows.find((row) => row.number[side] === line) ?? null;
	}

	// Every click scrolls to the line, even if the address does not change.
	follow(event, row, side) {
		if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
		event.preventDefault();
		this.app.setPlace(this.data.file, row.number[side], side);
		this.highlight(row, false);
	}

	goTo(line, side) {
		const row = this.rowOf(line, side) ?? this.data.rows.find((r) => r.number[HEAD] >= line) ??
			null;
		if (!row) return;
		if (!row.element?.isConnected) this.setHot(false);
		this.highlight(row, true);
	}

	highlight(row, scroll) {
		this.target?.element?.classList.remove("target");
		this.target = row;
		row.element.classList.add("target");
		if (scroll) row.element.scrollIntoView({ block: "center" });
		if (!matchMedia("(prefers-reduced-motion: reduce)").matches)
			row.element.animate([{ outlineOffset: "14px", outlineColor: "transparent" },
				{ outlineOffset: "-2px" }], { duration: 320, easing: "ease-out" });
		this.app.say(`line ${row.number[HEAD] || row.number[BASE]}, ${row.element.title}`);
		this.highlights = (this.highlights ?? 0) + 1;
		this.minimap.draw();
	}

	jump(by) {
		if (!this.hotRows.length) return;
		const at = this.target ? this.data.rows.indexOf(this.target) : -1;
		const order = this.hotRows.map((row) => this.data.rows.indexOf(row));
		const next = by > 0 ? order.find((i) => i > at) ?? order[0] :
			order.findLast((i) => i < (at < 0 ? Infinity : at)) ?? order.at(-1);
		const row = this.data.rows[next];
		this.app.setPlace(this.data.file, row.number[HEAD] || row.number[BASE],
			row.number[HEAD] ? HEAD : BASE);
		this.highlight(row, true);
	}
}
