// SPDX-License-Identifier: MIT
// The Source view: the list of files, the lines of one file, or those of one function; aligned for
// both versions, with the cost of each before and after, callees included.
//
//   wide:     before            total  |  after                  total  |  change    self
//             13 parse(line)    3.0 s  |  13 parse_fast(line)    0.9 s  |  −2.1 s    0.2 s → 0.1 s
//
//   narrow:   13  −  parse(line)       3.0 s            −3.0 s
//             13  +  parse_fast(line)           0.9 s   +0.9 s
import { benchmarksOf } from "./benchmarks.js";
import { CHANGED, UNKNOWN } from "./colors.js";
import { noun, verdictOn } from "./cost_words.js";
import { BASE, HEAD } from "./data.js";
import { el, icon, pressSegment, segments, toggle } from "./dom.js";
import { FileList } from "./file_list.js";
import {
	capital, compare, formatChange, formatShare, formatValue, plural, showsScale,
} from "./format.js";
import { isFiltered } from "./filters.js";
import {
	alignedLines, changedFamily, changedRow, hottestRow, isFew, isGap, isWhole, linesOfSide,
	wholeTotal,
} from "./function_lines.js";
import { CodePainter } from "./heat_code.js";
import { Minimap } from "./minimap.js";
import { Scale } from "./heat_scale.js";
import { linksByFunction } from "./inferred.js";
import { showName } from "./labels.js";
import { callLineOf, callsOfFunctions } from "./line_calls.js";
import { replacedPairs } from "./line_pairs.js";
import { nameParts, opcodesOfLines, opcodeWords } from "./opcodes.js";
import {
	fileOf, filesOf, hasText, hasWhole, isReal, linesOfFile, spotsOf,
} from "./source_files.js";
import { linkOf } from "./state.js";
import { functionWord } from "./verdicts.js";

const MOST = 20000; // maximum number of rows shown
const NEAR = 3; // lines kept around a hot one by "hot lines only"
const WIDE = "(min-width: 1360px)"; // room for both versions side by side
const CALLEES = 2, CALLERS = 4; // number of calls shown of a line, and to a function

// Syntax colouring of the lines of one side, in order; it restarts after a gap.
class SidePainter {
	constructor(file) {
		this.file = file;
		this.last = -1;
	}
	painterAt(number) {
		if (number !== this.last + 1) this.painter = new CodePainter(this.file);
		this.last = number;
		return this.painter;
	}
	paint(line, spots, describe) {
		return line ? this.painterAt(line.number).line(line.text ?? "", spots, describe) : [];
	}
}

const heading = (cells) => el("tr", {}, ...cells.filter(Boolean)
	.map(([words, kind = ""]) => el("th", { scope: "col", class: kind }, words)));

const rowClass = (tint, isMarked) =>
	[tint === "unsure" ? tint : tint && `hot ${tint}`, isMarked && "marked"].filter(Boolean)
		.join(" ");

// Calls, of which the first are shown and the others after a click.
function callList(calls, most, words, buttonOf) {
	const others = calls.slice(most);
	const more = others.length > 0 && el("button", {
		class: "call-more", onclick: () => more.replaceWith(...others.map(buttonOf)),
	}, `and ${words(others.length)}`);
	return [...calls.slice(0, most).map(buttonOf), more].filter(Boolean);
}

// One part for each row, but for a line and the similar one that replaced it: one for both.
function pairReplaced(rows) {
	const out = [];
	const add = (...of) => out.push({ rows: of, a: of[0].a, b: of.at(-1).b });
	for (let i = 0; i < rows.length;) {
		let end = i;
		while (end < rows.length && !(rows[end].a && rows[end].b)) end++;
		const gone = rows.slice(i, end).filter((row) => row.a);
		const added = rows.slice(i, end).filter((row) => row.b);
		const pairs = replacedPairs(gone.map(({ a }) => a.text ?? ""),
			added.map(({ b }) => b.text ?? ""));
		let g = 0, n = 0;
		for (const [k, l] of [...pairs, [gone.length, added.length]]) {
			while (g < k) add(gone[g++]);
			while (n < l) add(added[n++]);
			if (k < gone.length) add(gone[g++], added[n++]);
		}
		if (end < rows.length) add(rows[end]);
		i = end + 1;
	}
	return out;
}

export class SourceView {
	constructor(model, section) {
		this.model = model;
		this.section = section;
		this.rows = []; // what is listed: {a, b, self, total, fs, starts, element}
		this.wanted = null; // the call to show next: {f, line}
		this.title = el("h2", {});
		this.note = el("p", { class: "quiet" });
		this.callers = el("p", { class: "calls" });
		this.table = el("table", {
			class: "lines", onclick: (event) => this.follow(event),
		});
		this.listing = el("div", {
			class: "listing", tabindex: "0", role: "group", "aria-label": "Source lines",
			onscroll: () => this.minimap.view(),
		}, this.table);
		this.minimap = new Minimap(this);
		this.body = el("div", { class: "code-box" }, this.listing, this.minimap.canvas);
		this.files = new FileList(model, (...place) => this.openFile(...place));
		section.append(this.makeBar(), this.note, this.callers, this.body, this.files.box);
		matchMedia(WIDE).addEventListener("change", () => {
			if (this.shown && section.offsetParent) this.update(...this.shown);
		});
	}

	makeBar() {
		const set = (change, isStep = false) => this.model.acts.set(change, isStep);
		const choice = (label) => el("div", { class: "segments", role: "group",
			"aria-label": label });
		const step = (label, by, shape) => el("button", { class: "icon small", title: label,
			"aria-label": label, onclick: () => this.jump(by) }, icon(shape));
		this.scope = choice("What is listed");
		segments(this.scope, [["files", "Files", "All files by cost (L)"],
			["file", "File", "All lines of the file"],
			["function", "Function", "Lines of the function"]], "",
		(code) => set({ code, line: "" }, true));
		this.by = choice("Which cost colours lines");
		segments(this.by, [["self", "Self", "Cost of the line itself (c)"],
			["total", "Total", "Callees included (c)"],
			["special", "Specialised", "Share of specialised instructions"]], "",
		(lines) => set({ lines }));
		this.hot = toggle("Hot lines only", "Hide lines without cost (h)", false,
			(hot) => set({ hot }), "toggle-hot");
		this.code = toggle("Bytecode", "Show the instructions of every line (B)", false,
			(code) => set({ ops: code }), "toggle-ops");
		this.count = el("span", { class: "quiet" });
		this.steps = el("span", { class: "group" }, this.count,
			step("Previous hot line (N)", -1, "m5 12.5 5-5 5 5"),
			step("Next hot line (n)", 1, "m5 7.5 5 5 5-5"));
		return el("div", { class: "source-bar" }, this.scope, this.title, this.by, this.hot,
			this.code, this.steps);
	}

	// The file's costliest function is the one in the middle, unless one is given.
	openFile({ functions }, f, line = "") {
		const { costs: { self, total } } = this.model;
		const sum = ([base, head], g) => base[g] + head[g];
		const cost = (g) => sum(self, g) + sum(total, g) * 1e-6;
		const middle = f ?? functions.reduce((a, b) => (cost(b) > cost(a) ? b : a));
		this.model.acts.set({ code: "file", middle, line }, true);
	}

	update(f, what) {
		const { data, state } = this.model;
		const isList = state.code === "files", file = isList ? null : fileOf(data, f);
		this.showBar(isList, file);
		if (isList) {
			this.shown = null;
			this.files.update();
			return;
		}
		const key = `${state.code} ${f} ${state.line}`, isNew = this.key !== key;
		const top = this.listing.scrollTop;
		this.key = key;
		this.shown = [f, what];
		this.f = f;
		this.file = file;
		this.isFile = state.code === "file" && file !== undefined;
		this.cost = state.lines === "total" ? "total" : "self";
		this.title.textContent = this.isFile ? showName(file.place) :
			`${showName(data.functions.names[f])}: source`;
		this.calls = what.isDiff === data.isDiff ?
			callsOfFunctions(data, this.isFile ? file.functions : [f]) : null;
		this.list(what);
		this.showCallers(this.isFile ? [] : this.calls?.callersOf(f) ?? []);
		if (isNew || this.wanted) this.reveal();
		else this.listing.scrollTop = top;
		this.minimap.draw();
	}

	showBar(isList, file) {
		const { data, state } = this.model, { opcodes, isDiff } = data;
		const button = (group, name) => group.querySelector(`[data-value="${name}"]`);
		for (const part of [this.title, this.note, this.callers, this.body, this.hot, this.steps])
			part.hidden = isList;
		this.minimap.canvas.hidden = state.code !== "file";
		this.files.box.hidden = !isList;
		button(this.scope, "file").hidden = !isList && !file;
		button(this.by, "special").hidden = this.code.hidden = isList || !opcodes;
		if (isDiff) button(this.by, "special").hidden = true;
		this.hot.setAttribute("aria-checked", String(state.hot));
		this.code.setAttribute("aria-checked", String(state.ops));
		pressSegment(this.scope, state.code);
		pressSegment(this.by, state.lines);
	}

	// Makes the rows of a file or a function, and the text about them.
	list(what) {
		const { data } = this.model, { f, file } = this;
		const aligned = !this.isFile && what.isDiff ? alignedLines(data, f) : null;
		const [before, after] = data.functions.ran;
		const isPair = this.isFile ? what.isDiff : Boolean(before[f] && aligned?.rows.length);
		const isBoth = this.isFile ? file.total.every((v) => v > 0) : before[f] && after[f];
		const isWide = Boolean(isPair && isBoth) && matchMedia(WIDE).matches;
		this.marked = this.target = null;
		this.opened = [];
		this.side = isPair ? HEAD : this.sideOf(what);
		const rows = this.isFile ? linesOfFile(data, file) : (isPair ? aligned :
			this.side === undefined ? { rows: [] } : linesOfSide(data, f, this.side)).rows
			.map((row) => ({ ...row, fs: [f], starts: [] }));
		const listed = rows.filter((row) => isPair || this.lineOf(row));
		this.rows = listed.slice(0, MOST);
		this.isCut = listed.length > MOST;
		this.scale = new Scale(isPair ? data : { ...data, isDiff: false });
		this.table.className = `lines${isWide ? " both" : ""}`;
		this.ops = this.opcodes();
		this.spots = this.cost === "self" && data.spans.func.length ? spotsOf(data, file) : null;
		this.shade(isPair);
		this.table.replaceChildren(...this.rows.length ?
			isPair ? this.diffRows(isWide) : this.plainRows() : []);
		this.note.textContent = this.notes(isPair).join(" ");
		this.count.textContent = plural(this.hotRows.length, "hot line");
	}

	// The side that is listed if there is only one; for a function, a side that has its source.
	sideOf(what) {
		const { functions } = this.model.data;
		return this.isFile ? what.side :
			[what.side, HEAD, BASE].find((s) => functions.source[s][this.f]);
	}

	lineOf(row) {
		return this.side === BASE ? row.a : row.b;
	}

	// Which cost of the row's function certainly changed ("": none); in a file only the chosen cost
	// counts.
	familyOf({ fs: [f] }) {
		const { data } = this.model, { cost } = this;
		if (!this.isFile) return changedFamily(data, this.f, cost);
		return !data.verdicts || data.verdicts[cost].word[f] === CHANGED ? cost : "";
	}

	// The weight of each row, the cost or its change, and the colour that follows.
	shade(isPair) {
		const { data, state } = this.model, { scale, cost } = this;
		for (const row of this.rows) {
			row.family = isPair ? this.familyOf(row) : cost;
			row.weight = isPair ? row[row.family || cost].delta : this.lineOf(row)[cost];
		}
		const most = this.rows.reduce((all, { weight }) => Math.max(all, Math.abs(weight)), 0);
		this.most = most;
		for (const row of this.rows) {
			const step = scale.step(row.weight, most), { verdicts } = data;
			row.isHot = Math.abs(step) >= (isPair ? 1 : 2);
			row.tint = row.family ? scale.name(step) :
				row.weight && verdicts[cost].word[row.fs[0]] === UNKNOWN ? "unsure" : "";
			if (state.lines === "special" && this.ops && !isPair)
				Object.assign(row, this.specialOf(row));
		}
		this.hotRows = this.rows.filter(({ isHot }) => isHot);
		const near = new Set();
		this.rows.forEach((row, i) => {
			if (row.weight) for (let k = i - NEAR; k <= i + NEAR; k++) near.add(this.rows[k]);
		});
		this.isShown = (row) => !state.hot || near.has(row);
	}

	specialOf(row) {
		const { names } = this.model.data.opcodes;
		let all = 0, special = 0;
		for (const [name, [, cost]] of this.ops.total.get(this.lineOf(row)?.number) ?? []) {
			all += cost;
			if (names[name][0] !== names[name][1]) special += cost;
		}
		return { tint: special > 0 ? "special" : "", share: special / (all || 1) };
	}

	// ---- calls ----

	// Opens the source of a function that calls or is called; `wanted`: the line of the call.
	callButton({ f, cost: [base, head] }, title, wanted) {
		const { isDiff, factor, unit, functions } = this.model.data;
		const cost = isDiff ? formatChange(compare(base, head, factor).delta, unit) :
			formatValue(head, unit);
		const name = showName(functions.names[f]);
		return el("button", {
			class: "call", title: `${title} ${name}: ${cost}`, onclick: () => {
				this.wanted = wanted;
				this.model.acts.set({ tab: "source", middle: f }, true);
			},
		}, name, el("small", {}, cost));
	}

	callerButtons(calls) {
		return callList(calls, CALLERS, (n) => plural(n, "other line"), (call) =>
			this.callButton(call, "called by", { f: call.f, line: call.line }));
	}

	showCallers(calls) {
		this.callers.hidden = !calls.length;
		this.callers.replaceChildren(el("span", { class: "quiet" }, "Called by"),
			...this.callerButtons(calls));
	}

	// What the line of a row calls; in a file also the callers of the functions that begin there.
	callsOf(row) {
		const { data } = this.model;
		if (!this.calls) return null;
		const callees = row.fs.flatMap((f) => this.calls.calleesOf(f, callLineOf(data, f, row)));
		const callers = this.isFile ? row.starts.flatMap((f) => this.calls.callersOf(f)) : [];
		if (!callees.length && !callers.length) return null;
		return el("span", { class: "calls" },
			callers.length > 0 && el("span", { class: "quiet" }, "called by"),
			...this.callerButtons(callers),
			...callList(callees, CALLEES, (n) => plural(n, "other"),
				(call) => this.callButton(call, "calls", null)));
	}

	// The verdicts on the functions that begin in a row.
	verdictsOf({ starts }) {
		const { data } = this.model;
		return (this.isFile && data.verdicts ? starts : []).map((f) => {
			const { word, delta } = this.verdictOf(f, this.cost);
			const isCertain = data.verdicts[this.cost].word[f] === CHANGED;
			const way = isCertain ? verdictOn(delta) : "";
			const glyph = { slower: "▲ ", faster: "▼ " }[way] ?? "";
			return el("span", { class: `verdict ${way}` },
				`${showName(data.functions.names[f])}: ${glyph}${word}`);
		});
	}

	deltaOf(f, family) {
		const { data, costs } = this.model;
		return costs[family][HEAD][f] - costs[family][BASE][f] * data.factor;
	}

	verdictOf(f, family) {
		const { data } = this.model, delta = this.deltaOf(f, family);
		return { delta, word: functionWord(data, f, data.verdicts[family].word[f], delta) };
	}

	// ---- going to a line ----

	// Scroll to the wanted line or call; else to the function in its file, or the marked line.
	reveal() {
		const { data, state } = this.model, { listing, wanted } = this;
		const side = state.line.endsWith("b") ? "a" : "b", number = parseInt(state.line, 10);
		const row = this.rows.find((r) => (state.line ? r[side]?.number === number : wanted ?
			r.fs.includes(wanted.f) && callLineOf(data, wanted.f, r) === wanted.line :
			this.isFile && r.starts.includes(this.f)));
		this.wanted = null;
		if (wanted || state.line) row?.element?.classList.add("called");
		if (state.line && row?.element) this.highlight(row, true);
		else {
			const element = row?.element ?? this.marked;
			listing.scrollTop = element ? element.offsetTop - listing.clientHeight / 3 : 0;
		}
	}

	// The link of a line: every click highlights it, even if the address does not change.
	follow(event) {
		const link = event.target.closest("a[data-line]");
		if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
		event.preventDefault();
		this.choose(this.rows.find((row) => row.element === link.closest("tr")), link.dataset.line,
			false);
	}

	choose(row, line, isFar) {
		this.model.state.line = line;
		this.key = `${this.model.state.code} ${this.f} ${line}`;
		this.model.acts.remember(false);
		this.highlight(row, isFar);
	}

	highlight(row, isFar) {
		this.target?.element?.classList.remove("called");
		this.openOps(row);
		this.target = row;
		row.element.classList.add("called");
		if (isFar) row.element.scrollIntoView({ block: "center" });
		if (!matchMedia("(prefers-reduced-motion: reduce)").matches)
			row.element.animate([{ outline: "14px solid transparent" }, { outline: "0" }],
				{ duration: 320, easing: "ease-out" });
		const { number } = row.b ?? row.a;
		this.model.acts.say(`line ${number}, ${this.describe(row)}`);
		this.minimap.draw();
	}

	// Go to the next or the previous hot line.
	jump(by) {
		const order = this.hotRows.filter(({ element }) => element);
		const at = this.rows.indexOf(this.target), place = (row) => this.rows.indexOf(row);
		const row = by > 0 ? order.find((r) => place(r) > at) ?? order[0] :
			order.findLast((r) => at < 0 || place(r) < at) ?? order.at(-1);
		if (row) this.choose(row, row.b ? String(row.b.number) : `${row.a.number}b`, true);
	}

	// ---- words ----

	describe(row) {
		const { scale } = this, costs = ["self", "total"];
		return costs.map((cost) => `${cost} ${scale.isDiff ? scale.change(row[cost]) || "±0" :
			scale.value(this.lineOf(row)[cost]) || "0"}`).join(", ");
	}

	notes(isDiff) {
		const { data, state } = this.model, { f, file } = this;
		if (!this.isFile && data.unjudged?.[f] && data.origins[f].length > 1)
			return ["A name rule merged several functions here; their lines are not shown."];
		if (!this.rows.length) return ["Source not recorded."];
		const link = isDiff && !this.isFile ? linksByFunction(data).get(f) : null;
		const from = link?.from_file ? ` in ${showName(link.from_file)}` : "";
		return [
			link && `Before: ${showName(link.from_name)}${from}.`,
			this.isFile && this.factsOf(file),
			this.isFile && !hasText(data, file) &&
				"Source not recorded; lines with a cost are shown by number.",
			this.isFile && !hasWhole(data, file) &&
				"This page has only the lines around samples of this file.",
			this.isCut && `Only the first ${plural(MOST, "line")} are shown.`,
			benchmarksOf(data).length > 1 && "Costs of lines are of all benchmarks.",
			isFiltered(state) && "Costs of lines are of all samples; filters do not apply.",
			!this.isFile && isWhole(data, f) &&
				"Counts are of the whole function and shown on its first line.",
			isDiff && data.verdicts && (this.isFile ? "Hatched lines may differ by noise." :
				!data.unjudged?.[f] && this.verdict(f)),
		].filter(Boolean);
	}

	// What a file costs.
	factsOf(file) {
		const { data } = this.model, { scale } = this;
		const whole = filesOf(data).sum[this.side] || 1;
		return capital(["self", "total"].map((cost) => {
			const [base, head] = file[cost];
			if (!scale.isDiff) {
				const value = file[cost][this.side];
				return `${cost} ${scale.value(value) || "0"} (${formatShare(value / whole)})`;
			}
			const c = scale.compare(base, head);
			const unsure = isReal(data, file, cost) ? "" : ", unsure";
			return `${cost} ${scale.change(c) || "±0"} (${scale.percent(c)}${unsure})`;
		}).join(", ")) + ".";
	}

	// Show the verdicts on the whole function, and what they mean for the colours.
	verdict(f) {
		const { data } = this.model, word = (family) => this.verdictOf(f, family).word;
		const colour = changedFamily(data, f, this.cost) ? "" :
			" Lines have no colour because the function's change is not certain.";
		return `Whole function: self ${word("self")}, total ${word("total")}.${colour}`;
	}

	// ---- instructions ----

	// By cost, the instructions of each line; null: none were recorded.
	opcodes() {
		const { data } = this.model;
		const functions = this.isFile ? this.file.functions : [this.f];
		return data.opcodes && {
			self: opcodesOfLines(data, functions, "self"),
			total: opcodesOfLines(data, functions),
		};
	}

	// The instructions of a line in short.
	opsOf(before, after) {
		const { data, state } = this.model;
		if (!this.ops || state.ops) return null;
		const words = (line, side) => (line ?
			opcodeWords(data, this.ops.total.get(line.number), side) : "");
		const text = [...new Set([words(before, BASE), words(after, HEAD)])].filter(Boolean)
			.join(" → ");
		return text && el("button", {
			class: "opcodes", title: "Instructions of the line", "aria-expanded": "false",
			onclick: ({ target }) => [...target.closest("tr").querySelectorAll("a")].at(-1).click(),
		}, text);
	}

	// Opens the instructions of a line and closes those of another, or of the same.
	openOps(row) {
		const tell = (at, isOpen) => at?.element?.querySelector("button.opcodes")
			?.setAttribute("aria-expanded", String(isOpen));
		const isAgain = row === this.target && this.opened.length > 0;
		for (const line of this.opened) line.remove();
		tell(this.target, false);
		this.opened = isAgain || this.model.state.ops ? [] : this.rows
			.filter(({ element }) => element === row.element)
			.flatMap((one) => this.opRows(one, row.element.cells.length));
		row.element.after(...this.opened);
		tell(row, this.opened.length > 0);
	}

	// A row for each instruction of a line, of the side that is listed.
	opRows(row, columns) {
		const { data } = this.model, { scale, side, ops } = this;
		const number = this.lineOf(row)?.number;
		if (!ops || !number) return [];
		const own = new Map(ops.self.get(number)), list = ops.total.get(number) ?? [];
		const costOf = (cost, [name, total]) => (cost === "self" ? own.get(name)?.[side] ?? 0 :
			total[side]);
		const value = (cost, op) => scale.value(costOf(cost, op));
		const most = Math.max(...list.map((op) => costOf(this.cost, op))) || 1;
		return list.map((op) => {
			const bar = el("i", { class: "fill" }), [name] = op;
			bar.style.setProperty("width", `${(costOf(this.cost, op) / most) * 100}%`);
			return el("tr", { class: "op" }, el("td", {}),
				el("td", { colspan: String(columns - 1) }, el("span", { class: "op-bar" }, bar),
					...nameParts(data.opcodes, name),
					el("span", { class: "quiet" }, `self ${value("self", op) || "0"}, ` +
						`total ${value("total", op)}`)));
		});
	}

	// ---- rows ----

	// Painters of both versions' syntax, in the state after the stored lines above.
	painters() {
		const { functions, chunks } = this.model.data, { f, rows } = this;
		return ["a", "b"].map((version, side) => {
			const painter = new SidePainter(functions.files[functions.file[f]]);
			const first = rows.find((row) => row[version])?.[version].number ?? 0;
			for (const { start, lines } of chunks[functions.source[side][f] - 1] ?? [])
				for (let k = 0; k < lines.length && start + k < first; k++)
					painter.painterAt(start + k).skip(lines[k]);
			const spots = this.spots?.side === side ? this.spots.spots : new Map();
			return (line) => painter.paint(line, spots.get(line?.number),
				(spot, all) => this.spotTitle(spot, all));
		});
	}

	spotTitle({ self, total }, all) {
		const { scale } = this;
		const share = all ? ` (${formatShare(self / all)} of the line's own)` : "";
		return `self ${scale.value(self)}${share}, total ${scale.value(total)}`;
	}

	// Makes number cells, which are links to their lines.
	numberCells() {
		const { data, state } = this.model;
		const link = linkOf(data, { ...state, line: "", middle: this.f });
		return (line, kind = "at", suffix = "") => el("td", { class: kind }, line && el("a", {
			href: `#${link}&line=${line.number}${suffix}`,
			"data-line": `${line.number}${suffix}`,
		}, String(line.number)));
	}

	// Rows of the table for parts {rows, a, b}, with gaps where lines are missing or hidden.
	tableRows(head, parts, cellsOf) {
		const out = [heading(head)], columns = out[0].cells.length;
		let last = -1;
		parts.forEach((part, i) => {
			const cells = cellsOf(part), [row] = part.rows;
			if (!part.rows.some(this.isShown)) return;
			if (last >= 0 && (last !== i - 1 || isGap(parts[last], part)))
				out.push(el("tr", { class: "gap" }, el("td", { colspan: String(columns) }, "⋯")));
			last = i;
			const isMarked = part.rows.includes(this.markedRow);
			const element = el("tr", {
				class: rowClass(part.tint ?? row.tint, isMarked),
				title: isMarked && this.scale.isDiff ? "most of the change is in this line" :
					row.weight ? this.describe(row) : null,
			}, ...cells);
			if (row.share) element.style.setProperty("--share", row.share.toFixed(3));
			for (const one of part.rows) one.element = element;
			if (isMarked) this.marked = element;
			out.push(element);
			if (this.model.state.ops)
				out.push(...part.rows.flatMap((one) => this.opRows(one, columns)));
		});
		return out;
	}

	diffRows(isWide) {
		const { data } = this.model, { f, rows, cost } = this;
		const { factor, header } = data, isScaled = showsScale(factor);
		const family = this.isFile ? "" : changedFamily(data, f, cost);
		this.markedRow = family ? changedRow(rows, family, this.deltaOf(f, family)) : null;
		const change = header.scale.mode === "share" ? "Change by share" : "Change";
		const [shown, other] = cost === "self" ? ["Self", "Total"] : ["Total", "Self"];
		const names = isWide ?
			[["Line"], ["Before", "code"], [shown], ["Line"], ["After", "code"], [shown]] :
			[["Before", "first"], ["After"], ["±"], ["Source", "code"], ["Before", "each-side"],
				isScaled && ["Expected", "each-side"], ["After", "each-side"]];
		const parts = isWide ? pairReplaced(rows) :
			rows.map((row) => ({ rows: [row], a: row.a, b: row.b }));
		// Two rows: a line beside the one that replaced it.
		for (const part of parts)
			if (part.rows.length > 1) part.tint = this.tintOf(part.rows);
		const cells = this.diffCells(isWide, isScaled);
		return this.tableRows([...names, [change], [other, "more-room"]], parts, cells);
	}

	tintOf(rows) {
		const { scale } = this, most = this.most;
		const weight = rows.reduce((sum, row) => sum + (row.family ? row.weight : 0), 0);
		return scale.name(scale.step(weight, most));
	}

	// Makes the cells of a part of a diff.
	diffCells(isWide, isScaled) {
		const { data } = this.model, { cost, scale } = this, { unit } = data;
		const [paintBefore, paintAfter] = this.painters(), number = this.numberCells();
		const other = cost === "self" ? "total" : "self";
		return ({ rows, a, b }) => {
			const sum = (of, key) => rows.reduce((all, row) => all + row[of][key], 0);
			const value = (key, kind) => el("td", { class: kind }, scale.value(sum(cost, key)));
			const change = { delta: sum(cost, "delta") };
			const isChanged = rows.length > 1 || !a || !b;
			const before = paintBefore(a), after = paintAfter(b);
			const extra = (version) => rows.filter((row) => row[version])
				.flatMap((row) => [this.callsOf(row), ...this.verdictsOf(row)]);
			const rest = [sum(other, "base"), sum(other, "head")];
			const code = isWide ? [
				number(a, "at", "b"), el("td", { class: `code${a && isChanged ? " gone" : ""}` },
					...before, ...(a && isChanged ? extra("a") : [])),
				value("base"),
				number(b), el("td", { class: `code${b && isChanged ? " added" : ""}` },
					...after, this.opsOf(a, b), ...(b ? extra("b") : [])),
				value("head"),
			] : [
				number(a, "at first", "b"), number(b, b ? "at" : "at none"),
				el("td", { class: "sign" }, a ? (b ? "" : "−") : "+"),
				el("td", { class: "code" }, ...(b ? after : before), this.opsOf(a, b),
					...extra(b ? "b" : "a")),
				value("base", "each-side"), isScaled && value("expected", "quiet each-side"),
				value("head", "each-side"),
			];
			const isSure = rows.some((row) => row.family);
			return [...code,
				el("td", { class: scale.tone(change, isSure) }, scale.change(change)),
				el("td", { class: "quiet more-room" }, rest.some((v) => v > 0) ?
					rest.map((v) => formatValue(v, unit)).join(" → ") : "")];
		};
	}

	plainRows() {
		const { data } = this.model, { rows, side, scale, cost, isFile, f } = this;
		const { header } = data, name = noun(header);
		const all = (isFile ? filesOf(data).sum[side] : wholeTotal(data, f, side)) || 1;
		const few = isFew(data, side, all), paint = this.painters()[side];
		const number = this.numberCells(), suffix = side === BASE ? "b" : "";
		this.markedRow = isFile ? null : hottestRow(rows, side, cost);
		const share = (value) => (value ? formatShare(value / all) : "");
		// A phone has room for the chosen cost.
		const [total, self] = cost === "self" ? ["quiet each-side", ""] : ["", "quiet each-side"];
		const head = [["Line"], ["Source", "code"], [`Total ${name}`, total],
			[`Self ${name}`, self], !few && ["Share", "each-side"]];
		const parts = rows.map((row) => ({ rows: [row], a: row.a, b: row.b }));
		return this.tableRows(head, parts, ({ rows: [row], a, b }) => {
			const line = this.lineOf(row);
			return [number(line, "at", suffix),
				el("td", { class: "code" }, ...paint(line), this.opsOf(a, b),
					!data.isDiff && this.callsOf(row), ...this.verdictsOf(row)),
				el("td", { class: total }, scale.value(line.total)),
				el("td", { class: self }, scale.value(line.self)),
				!few && el("td", { class: "each-side" }, share(line[cost]))];
		});
	}
}
