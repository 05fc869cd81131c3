// SPDX-License-Identifier: MIT
// Finding frames: by search text and by how much they changed.
import { HEAD } from "./data.js";
import { listChanges } from "./listed_changes.js";
import { focusView, uncover } from "./page_frame.js";
import { formatCount, formatShare, formatValue } from "./format.js";
import { countFrames, isHeap, wordsOfFrames } from "./cost_words.js";
import { Hits } from "./search_results.js";
import { showName } from "./labels.js";
import { looksLikeExpression, Searcher } from "./search.js";
import { matchedTotal, pathOf } from "./tree.js";
import { changedNodes, matchingNodes } from "./neighbours.js";

const $ = (id) => document.getElementById(id);

const NARROW = 40; // pixels; the view zooms to the caller of a narrower frame
const LISTED = 50; // maximum number of functions listed
const QUICK = 30; // ms; faster searches run on every key
const PATIENCE = 60; // ms without typing before slower searches

// The next index among n, wrapping around; -1 is before the first.
function nextIndex(at, step, n) {
	return at < 0 && step < 0 ? n - 1 : (at + step + n) % n;
}

// Words for matches that are not listed.
function restOf(more, outside, { many }) {
	return [more > 0 && `${formatCount(more)} more; the table lists all ${many}`,
		outside > 0 && `${formatCount(outside)} outside the chosen benchmark or filters`]
		.filter(Boolean).map((words) => `and ${words}`).join(" ");
}

export class Finder {
	constructor(app) {
		this.app = app;
		this.setData(app.data);
		this.took = 0; // ms, by the last search
		this.typed = null; // text typed but not searched for yet
		let waiting = 0;
		$("query").addEventListener("input", (event) => {
			clearTimeout(waiting);
			this.typed = event.target.value;
			waiting = setTimeout(() => this.catchUp(), this.took > QUICK ? PATIENCE : 0);
		});
		$("regex").addEventListener("click", () => this.setExpression(!app.state.regex));
		this.hits = new Hits($("hits"), $("query"));
		$("next-match").addEventListener("click", () => this.nextMatch(1));
		$("previous-match").addEventListener("click", () => this.nextMatch(-1));
	}

	setData(data) {
		this.searcher = new Searcher(data);
		this.changeAt = -1;
	}

	// As the searcher, of functions in the chosen benchmark, threads, time and paths; `outside`:
	// how many others match.
	find(query, regex) {
		const found = this.searcher.find(query, regex);
		if (!found) return null;
		const [base, head] = this.app.costs.total;
		const matched = found.matched.map((is, f) => (is && (base[f] || head[f]) ? 1 : 0));
		const count = matched.reduce((sum, is) => sum + is, 0);
		return { ...found, matched, count, outside: found.count - count };
	}

	// Flags of functions that match the query, or null; shows their number.
	match() {
		const { app } = this;
		const { query, regex } = app.state;
		const found = this.find(query, regex);
		const output = $("found");
		this.matches = null;
		const isOn = found !== null, fault = found?.fault;
		$("regex").setAttribute("aria-pressed", String(regex));
		$("query").setAttribute("aria-invalid", String(Boolean(fault)));
		output.classList.toggle("error", Boolean(fault));
		this.list(fault ? null : found);
		$("search").classList.toggle("on", isOn);
		$("next-match").hidden = $("previous-match").hidden = !isOn;
		if (!isOn) {
			output.textContent = output.title = "";
			return null;
		}
		if (fault) {
			output.textContent = output.title = `Invalid expression: ${fault}`;
			return null;
		}
		const side = app.model.widthSide();
		const upright = app.model.upright();
		const total = matchedTotal(upright, found.matched)[side];
		const share = total / (upright.total[side][0] || 1);
		const { header, unit } = app.data;
		output.textContent = `${countFrames(header, found.count)} · ${formatShare(share)}`;
		output.title = `${formatValue(total, unit)} ` + (isHeap(header) ?
			"in these types and holders, with objects held" : "in samples through these functions");
		return found.matched;
	}

	// List the functions found: matches by name before those by file, costliest first. Plain
	// text that looks like a regular expression can be searched as one.
	list(found) {
		const { app } = this;
		const { data, state } = app;
		if (!found) {
			this.hits.update([], "", null);
			return;
		}
		const side = app.model.widthSide(), costs = app.costs.total[side];
		const all = app.model.upright().total[side][0] || 1;
		const missing = side === HEAD ? "only before" : "only after";
		const hits = [];
		for (let f = 0; f < data.functions.n; f++) if (found.matched[f]) hits.push(f);
		const inName = this.searcher.nameMatcher(state.query, state.regex);
		const named = new Set(hits.filter(inName));
		hits.sort((a, b) => named.has(b) - named.has(a) || costs[b] - costs[a] || a - b);
		const other = !state.regex && looksLikeExpression(state.query) ?
			this.find(state.query, true) : null;
		const rest = restOf(hits.length - LISTED, found.outside, wordsOfFrames(data.header));
		this.hits.update(hits.slice(0, LISTED).map((f) => ({
			name: showName(data.functions.names[f]), place: app.model.shortPlaceOf(f),
			share: costs[f] > 0 ? formatShare(costs[f] / all) : missing, go: () => this.goToHit(f),
		})), rest, other && !other.fault && {
			text: `Search as a regular expression: ${countFrames(data.header, other.count)}`,
			take: () => this.setExpression(true),
		});
	}

	setExpression(regex) {
		this.app.state.regex = regex;
		this.search(this.app.state.query);
	}

	// Go to the widest frame of a function, in a picture of both sides if this one has none.
	goToHit(f) {
		const { app } = this;
		const find = () =>
			this.matchingFrames().find((i) => app.flame.picture.tree.func[i] === f);
		if (app.state.tab !== "flame") app.set({ tab: "flame" });
		let node = find();
		if (node === undefined && app.data.isDiff) {
			app.set({ show: "diff", layout: "union", elided: false }, true);
			node = find();
		}
		if (node !== undefined) this.goTo(node);
		else app.say("Not in this view");
	}

	catchUp() {
		if (this.typed !== null) this.search(this.typed);
	}

	search(query) {
		const { app } = this, begun = performance.now();
		this.typed = null;
		app.state.query = query;
		app.trail.remember(false);
		app.flame.matched = this.match();
		app.flame.draw();
		app.chart.draw();
		this.took = performance.now() - begun;
	}

	focus() {
		$("query").focus();
		$("query").select();
	}

	findFunction(f) {
		const { app } = this;
		const name = app.data.functions.names[f];
		$("query").value = name;
		app.state.query = name;
		app.set({ tab: "flame", regex: false });
		this.nextMatch(1);
	}

	// The matching frames; unfolds a match that is folded.
	matchingFrames() {
		const { app } = this;
		const found = matchingNodes(app.flame.picture, app.flame.matched);
		if (found.length || !app.trees.folded) return found;
		app.setFold({ noise: false, imports: false });
		return matchingNodes(app.flame.picture, app.flame.matched);
	}

	nextMatch(step) {
		const { app } = this;
		// Enter right after typing searches for the new text.
		this.catchUp();
		if (!app.flame.matched) return;
		if (app.state.tab === "chart") {
			app.chart.nextMatch(step);
			return;
		}
		if (!this.matches) {
			this.matches = this.matchingFrames();
			this.matchAt = -1;
		}
		const nodes = this.matches;
		if (!nodes.length) return;
		this.matchAt = nextIndex(this.matchAt, step, nodes.length);
		this.goTo(nodes[this.matchAt]);
		this.tellPlace("Match", this.matchAt, nodes.length);
	}

	tellPlace(what, at, of, order = "") {
		this.app.hint(`${what} ${formatCount(at + 1)} of ${formatCount(of)}${order}`);
	}

	// Forget the nodes of a previous picture.
	forgetChanges() {
		if (this.changes) this.changeAt = -1;
		this.changes = null;
	}

	// Go to the place of a certain change, in the picture and colours that show it.
	goToChange(entry) {
		const { app } = this;
		const list = listChanges(app.model.listed());
		this.changeAt = list.findIndex(({ f }) => f === entry.f);
		const isGone = app.model.isGone(entry.node);
		// If only the base gives widths, new frames have none.
		const layout = app.state.layout === "base" ? "union" : app.state.layout;
		$("query").value = app.state.query = "";
		Object.assign(app.state, { show: "diff", inverted: false });
		app.unfold(entry.node);
		app.sidebar.visit(entry.f);
		app.set({ tab: "flame", show: "diff", layout, inverted: false, elided: isGone,
			zoom: app.model.pathTo(entry.node) }, true);
		uncover(app);
		app.selection.select(app.flame.focus, app.flame);
		if (this.changeAt >= 0)
			this.tellPlace("Change", this.changeAt, list.length, ", in list order");
	}

	// Go to the next change: in a judged page in the order of the list; else by the size of the
	// change.
	nextChange(step) {
		const { app } = this;
		const { picture } = app.flame;
		if (!picture.what.isDiff) return;
		const listed = app.model.changes && picture.what.verdicts ?
			listChanges(app.model.listed()) : null;
		if (!listed && !this.changes) this.changes = changedNodes(picture);
		const all = listed ?? this.changes;
		if (!all.length) {
			app.say("Nothing changed.");
			return;
		}
		this.changeAt = nextIndex(Math.min(this.changeAt, all.length - 1), step, all.length);
		if (listed) {
			this.goToChange(listed[this.changeAt]);
			return;
		}
		this.goTo(all[this.changeAt]);
		this.tellPlace("Change", this.changeAt, all.length, ", largest first");
	}

	// Select a frame, and zoom to its caller when it would be too narrow to be seen.
	goTo(node) {
		const { app } = this;
		const { flame } = app;
		const { tree, w } = flame.picture;
		const isOutside = w[node] / flame.span * flame.width < NARROW ||
			!(node >= flame.focus && node < tree.end[flame.focus]) || !flame.isInView(node);
		if (isOutside) app.zoomTo(pathOf(tree, tree.parent[node]));
		app.selection.select(node);
	}

	clear() {
		const { app } = this;
		app.chart.mark = null;
		app.endBlink();
		$("query").value = "";
		if (document.activeElement !== document.body) focusView(app);
		app.flame.selected = -1;
		app.tooltip.hide();
		app.sheet.hide();
		this.search("");
	}
}
