// SPDX-License-Identifier: MIT
// The Matches view: renamed and moved functions, name rules, and moved cost, each with the option
// that undoes it.
import { BASE, HEAD } from "./data.js";
import { copyText } from "./clipboard.js";
import { breakable, el, table } from "./dom.js";
import { wordsOfFrames } from "./cost_words.js";
import { compare, formatChange, formatPair, formatValue, plural } from "./format.js";
import { howWords, linksByFunction } from "./inferred.js";
import { showName } from "./labels.js";

const MOST = 500; // rows of a list

function place(name, file) {
	return [el("span", { class: "what" }, ...breakable(showName(name))),
		file && el("span", { class: "place" }, ...breakable(showName(file)))];
}

// Quote a word for a shell.
function quote(text) {
	return /^[\w./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export class Matches {
	constructor(model, section) {
		this.model = model;
		this.section = section;
	}

	update() {
		const { header } = this.model.data, { many } = wordsOfFrames(header);
		this.section.replaceChildren(...[
			this.links(header.links ?? []), this.shifts(header.shifts ?? []), this.wrappers(),
			this.rules(header.name_rules ?? []),
		].flat().filter(Boolean));
		if (!this.section.childElementCount)
			this.section.append(el("p", { class: "quiet" },
				`No renamed or moved ${many}: they are matched by name and file.`));
	}

	// The option that repeats the comparison without a link; --map takes the names recorded on the
	// base and the head.
	veto(link) {
		const { isSwapped } = this.model.data;
		const [name, file] = isSwapped ? [link.name, link.file] : [link.from_name, link.from_file];
		const side = `${file ? `${file}:` : ""}${name}`.replace(/[\\=]/g, "\\$&");
		return `--map ${quote(`${side}=`)}`;
	}

	vetoButton(link) {
		const option = this.veto(link);
		return el("button",
			{ class: "veto", title: "Copy the option that undoes this match",
				onclick: async () =>
				this.model.acts.say(await copyText(option) ? `Copied: ${option}` : option) },
				option);
	}

	links(links) {
		if (!links.length) return null;
		const { model } = this;
		const { factor, unit } = model.data;
		const functionOf = new Map([...linksByFunction(model.data)].map(([f, link]) => [link, f]));
		const rows = links.slice(0, MOST).map((link) => {
			const f = functionOf.get(link);
			const c = f === undefined ? null :
				compare(model.costs.total[BASE][f], model.costs.total[HEAD][f], factor);
			const after = place(link.name, link.file);
			return [
				`${howWords[link.how] ?? link.how}`, link.score.toFixed(2),
				place(link.from_name, link.from_file),
				f === undefined ? after :
				el("button",
					{
						class: "pair-link", title: "Find in the flame graph",
						onclick: () => model.acts.findFunction(f),
					}, ...after.filter(Boolean)),
				c ? formatPair(c, unit) : "", this.vetoButton(link),
			].map((cell) => (Array.isArray(cell) ? cell.filter(Boolean) : cell));
		});
		const isGuess = links.some((link) => link.how === "neighbourhood");
		return [
			el("h2", {}, `${plural(links.length, "function")} renamed or moved`),
			el("p", { class: "quiet" },
				"To undo a wrong match, give its option to fizeau diff",
				isGuess ? "; --no-rename-detection undoes all matches across names" : "",
				". --match names compares by name only; --map OLD=NEW sets the right match."),
			table(["Why", "Score", "Before", "After", "Total", "Undo"], rows),
			links.length > rows.length &&
			el("p", { class: "quiet" },
				`and ${plural(links.length - rows.length, "function")} more`),
		];
	}

	// Link to a node of the page as it was loaded.
	nodeLink(node) {
		const { model } = this;
		const { loaded } = model;
		const name = showName(loaded.functions.names[loaded.func[node]]);
		if (model.data !== loaded) return name;
		return el("button",
			{
				class: "link", title: "Zoom to this frame",
				onclick: () => model.acts.goToNode(node),
			}, name);
	}

	shifts(shifts) {
		if (!shifts.length) return null;
		const { factor, unit } = this.model.data;
		const rows = shifts.slice(0, MOST).map((s) => [
			this.nodeLink(s.node + 1),
			`${plural(s.base_callees, "callee")}, ${formatValue(s.base_total, unit)}`,
			`${plural(s.head_callees, "callee")}, ${formatValue(s.head_total, unit)}`,
			formatChange(s.head_total - s.base_total * factor, unit),
		]);
		return [
			el("h2", {}, "Moved cost"),
			el("p", { class: "quiet" },
				"Below these callers, new callees cost about as much as removed ones did: " +
				"a function was split, merged or replaced."),
			table(["Below", "Removed", "New", "Change"], rows),
		];
	}

	wrappers() {
		const { marks, func } = this.model.loaded;
		if (!marks) return null;
		const byFunction = new Map();
		for (let i = 1; i < marks.length; i++) if (marks[i] === 2 && !byFunction.has(func[i]))
			byFunction.set(func[i], i);
		if (!byFunction.size) return null;
		const rows = [...byFunction].slice(0, MOST)
			.map(([f, node]) => [this.nodeLink(node),
				this.model.loaded.functions.files[this.model.loaded.functions.file[f]]]);
		return [
			el("h2", {}, "Wrappers"),
			el("p", { class: "quiet" },
				"One side calls these functions, the other calls their callees directly; " +
				"the callees are compared as usual."),
			table(["Function", "File"], rows),
		];
	}

	rules(rules) {
		if (!rules.length) return null;
		const { many } = wordsOfFrames(this.model.data.header);
		return [
			el("h2", {}, "Name rules"),
			el("p", { class: "quiet" }, `How many ${many} of each side each one changed.`),
			table(["Rule", "Before", "After"],
				rules.map((r) => [el("span", { class: "what" }, r.rule),
					String(r.base_functions), String(r.head_functions)])),
		];
	}
}
