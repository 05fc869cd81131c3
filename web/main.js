// SPDX-License-Identifier: MIT
// The page: state -> tree -> picture, and everything that changes the state.
import { HEAD, BASE, loadPage } from "./data.js";
import { glyphOf, heatClass, makePalette, NEW, REMOVED, SAME } from "./colors.js";
import { el, pressSegment, segments, toggle } from "./dom.js";
import { Flame, makePicture, showName } from "./flame.js";
import { formatCount, formatShare, formatValue, plural } from "./format.js";
import { bindKeys, fillHelp } from "./keys.js";
import { moduleOf, Searcher } from "./search.js";
import { Sidebar } from "./sidebar.js";
import { linkOf, pathOfHash, stateOfLink, zoomNode } from "./state.js";
import { FunctionTable } from "./table.js";
import { Theme } from "./theme.js";
import { nodeFacts, Tooltip } from "./tooltip.js";
import { elidedTree, functionCosts, hasRemoved, invertTree, isRemoved, matchedTotal, pathOf, straightTree } from "./tree.js";

const $ = (id) => document.getElementById(id);
const NARROW = 900;
const PAPER_WIDTH = 1040;
const PAPER_LONGEST = 4000;

// What the sides are called, without the folders that both share.
function sideLabels(header) {
	const labels = [header.base?.label, header.head.label].filter(Boolean).map((s) => s.split("/"));
	const [a, b = a] = labels;
	let shared = 0;
	while (a && shared < Math.min(a.length, b.length) - 1 && a[shared] === b[shared]) shared++;
	return labels.map((parts) => parts.slice(shared).join("/")).join(" → ");
}

class App {
	constructor(data) {
		this.data = data;
		this.modules = data.functions.files.map(moduleOf);
		this.searcher = new Searcher(data);
		this.cache = {};
		const { state, zoomHash } = stateOfLink(data, location.hash);
		this.state = state;
		this.hasRemoved = data.isDiff && hasRemoved(state.threads ? straightTree(data, null) : this.straight());
		this.flame = new Flame(data, {
			canvas: $("canvas"), space: $("space"), scroller: $("flame"),
			location: (f) => this.shortPlaceOf(f),
		});
		this.tooltip = new Tooltip(this, $("tip"));
		this.table = new FunctionTable(this, $("table"));
		this.sidebar = new Sidebar(this, $("sidebar"));
		this.buildControls();
		this.theme = new Theme($("theme"), (theme) => this.applyTheme(theme));
		this.bindCanvas();
		this.bindPage();
		bindKeys(this, data.isDiff);
		if (zoomHash) this.resolveZoom(zoomHash);
		this.depthInHistory = history.state?.at ?? 0;
		this.furthest = this.depthInHistory;
		this.remember(false);
		this.refresh();
	}

	resolveZoom(hash) {
		this.state.zoom = pathOfHash(this.data, this.shownTree(), hash);
	}

	// ---- from state to picture ----

	straight() {
		const { threads } = this.state;
		const key = threads ? threads.join("") : "all";
		if (this.cache.straightKey !== key) this.cache = { straightKey: key, straight: straightTree(this.data, threads) };
		return this.cache.straight;
	}

	isElided() {
		return this.state.elided && this.state.show === "diff" && this.hasRemoved;
	}

	upright() {
		const straight = this.straight();
		if (!this.isElided()) return straight;
		return (this.cache.elided ??= elidedTree(this.data, straight));
	}

	shownTree() {
		const upright = this.upright();
		if (!this.state.inverted) return upright;
		const key = `${this.isElided()}`;
		const known = this.cache.inverted;
		if (known?.key === key && (!known.tree.partial || known.zoom === this.state.zoom.join())) return known.tree;
		const tree = invertTree(upright, this.data.functions.n, this.data.factor, this.state.zoom);
		this.cache.inverted = { key, tree, zoom: this.state.zoom.join() };
		return tree;
	}

	// The side that gives frames their width.
	widthSide() {
		const { show, layout } = this.state;
		if (show === "base" || this.isElided()) return BASE;
		if (show === "diff" && layout === "base") return BASE;
		return HEAD;
	}

	describe() {
		const { state, data } = this;
		const straight = this.straight();
		const isDiff = data.isDiff && state.show === "diff";
		return {
			isDiff, side: this.widthSide(), byTotal: state.by === "total", factor: data.factor,
			removedHere: (i) => isRemoved(straight, i),
			rootName: this.isElided() ? "Removed" : "All",
		};
	}

	refresh() {
		const { state, flame } = this;
		const what = this.describe();
		const tree = this.shownTree();
		flame.up = state.up;
		flame.matched = this.findMatches();
		flame.setPicture(makePicture(tree, what.side, what), zoomNode(tree, state.zoom));
		what.all = tree.total[what.side][0];
		this.costs = functionCosts(this.upright(), this.data.functions.n);
		this.sidebar.update(this.costs, what);
		this.showControls(what);
		this.tooltip.hide();
	}

	// Change the state, remember it, draw again.
	set(change) {
		Object.assign(this.state, change);
		this.remember(false);
		this.refresh();
	}

	// ---- history and links ----

	remember(isStep) {
		const hash = linkOf(this.data, this.state);
		if (isStep) this.furthest = ++this.depthInHistory;
		const entry = { at: this.depthInHistory };
		try {
			history[isStep ? "pushState" : "replaceState"](entry, "", hash ? `#${hash}` : location.pathname + location.search);
		} catch {
			location.hash = hash;
		}
		this.showHistory();
	}

	showHistory() {
		$("back").disabled = this.depthInHistory <= 0;
		$("forward").disabled = this.depthInHistory >= this.furthest;
	}

	back() {
		if (this.depthInHistory > 0) history.back();
	}

	forward() {
		if (this.depthInHistory < this.furthest) history.forward();
	}

	// The browser moved through its history, or the link was edited.
	followLink() {
		const { state, zoomHash } = stateOfLink(this.data, location.hash);
		this.depthInHistory = history.state?.at ?? this.depthInHistory;
		const only_zoom = linkOf(this.data, { ...state, zoom: [] }) === linkOf(this.data, { ...this.state, zoom: [] });
		this.state = state;
		if (zoomHash) this.resolveZoom(zoomHash);
		$("query").value = state.query;
		if (only_zoom && !this.cache.inverted?.tree.partial) this.glide();
		else this.refresh();
		this.showHistory();
	}

	glide() {
		this.flame.setFocus(zoomNode(this.flame.picture.tree, this.state.zoom), true);
		this.showCrumbs();
	}

	zoomTo(path) {
		if (path.join() === this.state.zoom.join()) return;
		this.state.zoom = path;
		this.remember(true);
		this.tooltip.hide();
		if (this.flame.picture.tree.partial) this.refresh();
		else this.glide();
	}

	async copyLink() {
		try {
			await navigator.clipboard.writeText(location.href);
			this.say("Link copied");
		} catch {
			this.say(location.href);
		}
	}

	// ---- search ----

	findMatches() {
		const found = this.searcher.find(this.state.query);
		const output = $("found");
		this.matches = null;
		const isOn = found !== null;
		$("search").classList.toggle("on", isOn);
		$("next-match").hidden = $("previous-match").hidden = !isOn;
		if (!isOn) {
			output.textContent = "";
			return null;
		}
		const side = this.widthSide();
		const upright = this.upright();
		const total = matchedTotal(upright, found.matched)[side];
		const share = total / (upright.total[side][0] || 1);
		output.textContent = `${plural(found.count, "function")} · ${formatShare(share)}`;
		output.title = `${formatValue(total, this.data.unit)} in samples that pass through them`;
		return found.matched;
	}

	search(query) {
		this.state.query = query;
		this.remember(false);
		this.flame.matched = this.findMatches();
		this.flame.draw();
	}

	focusSearch() {
		$("query").focus();
		$("query").select();
	}

	findFunction(f) {
		const { functions } = this.data;
		$("query").value = functions.names[f];
		this.state.query = functions.names[f];
		this.set({ tab: "flame" });
		this.nextMatch(1);
	}

	// Frames that match and have width, widest first.
	matchingNodes() {
		if (this.matches) return this.matches;
		const { tree, w } = this.flame.picture;
		const { matched } = this.flame;
		const nodes = [];
		for (let i = 1; i < tree.n; i++) if (matched[tree.func[i]] && w[i] > 0) nodes.push(i);
		nodes.sort((a, b) => w[b] - w[a] || a - b);
		this.matchAt = -1;
		return (this.matches = nodes);
	}

	nextMatch(step) {
		if (!this.flame.matched) return;
		const nodes = this.matchingNodes();
		if (!nodes.length) return;
		this.matchAt = this.matchAt < 0 && step < 0 ? nodes.length - 1 : (this.matchAt + step + nodes.length) % nodes.length;
		const node = nodes[this.matchAt];
		const { tree, w } = this.flame.picture;
		const isOutside = w[node] / this.flame.span * this.flame.width < 40 ||
			!(node >= this.flame.focus && node < tree.end[this.flame.focus]);
		if (isOutside) this.zoomTo(pathOf(tree, tree.parent[node]));
		this.select(node);
		$("hint").textContent = `Match ${formatCount(this.matchAt + 1)} of ${formatCount(nodes.length)}`;
	}

	clear() {
		$("query").value = "";
		document.activeElement?.blur?.();
		this.flame.selected = -1;
		this.tooltip.hide();
		this.search("");
	}

	// ---- selection ----

	select(node) {
		const { flame } = this;
		flame.selected = node;
		flame.reveal(node);
		flame.draw();
		if (node <= 0) {
			this.tooltip.hide();
			return;
		}
		const box = flame.boxOf(node);
		const frame = $("canvas").getBoundingClientRect();
		if (!(flame.animation && flame.span !== flame.picture.w[flame.focus]))
			this.tooltip.show(node, { x: frame.left + box.left, y: frame.top + box.top, below: 28 });
		this.say(this.sentence(node));
	}

	sentence(node) {
		const facts = nodeFacts(this, node);
		const name = showName(this.data.functions.names[facts.f]);
		const share = `${formatShare(facts.width / facts.all)} of ${facts.allName}`;
		if (!facts.isDiff) return `${name}, ${share}`;
		const { base, head } = facts.self;
		return `${name}, ${share}, self ${formatValue(base, facts.unit)} to ${formatValue(head, facts.unit)}`;
	}

	say(text) {
		$("spoken").textContent = text;
		$("hint").textContent = text;
	}

	move(key) {
		const { flame } = this;
		const { tree, w } = flame.picture;
		const at = flame.selected;
		if (at < 0) {
			this.select(flame.focus);
			return;
		}
		const toCaller = (key === "ArrowUp") !== flame.up;
		let next = at;
		if (key === "ArrowUp" || key === "ArrowDown") next = toCaller ? Math.max(0, tree.parent[at]) : this.widestChild(at);
		else next = this.sibling(at, key === "ArrowRight" ? 1 : -1);
		if (next >= 0 && (w[next] > 0 || next === 0)) this.select(next);
	}

	widestChild(node) {
		const { tree, w } = this.flame.picture;
		let best = -1;
		for (let c = node + 1; c < tree.end[node]; c = tree.end[c]) if (w[c] > 0 && (best < 0 || w[c] > w[best])) best = c;
		return best;
	}

	sibling(node, step) {
		const { tree, w } = this.flame.picture;
		if (node === 0) return -1;
		const parent = tree.parent[node];
		let before = -1, isPast = false;
		for (let c = parent + 1; c < tree.end[parent]; c = tree.end[c]) {
			if (c === node) {
				if (step < 0) return before;
				isPast = true;
			} else if (w[c] > 0) {
				if (isPast) return c;
				before = c;
			}
		}
		return -1;
	}

	zoomSelected() {
		const { flame } = this;
		if (flame.selected >= 0) this.zoomTo(pathOf(flame.picture.tree, flame.selected));
	}

	scrollPage(key) {
		const { flame } = this;
		flame.scroller.scrollTop += (key === "PageDown" ? 1 : -1) * flame.height * 0.85;
	}

	toggleElided() {
		if (this.hasRemoved) this.set({ elided: !this.isElided(), show: "diff" });
	}

	nextThread() {
		const { threads } = this.data.header;
		if (!this.data.cells) return;
		const now = this.state.threads ? this.state.threads.indexOf(1) : -1;
		const next = now + 1 >= threads.length ? -1 : now + 1;
		this.set({ threads: next < 0 ? null : Uint8Array.from(threads, (_, i) => (i === next ? 1 : 0)) });
		this.say(next < 0 ? "All threads" : `Thread ${threads[next].label}`);
	}

	// ---- places ----

	placeOf(f) {
		const { functions } = this.data;
		const file = this.state.names === "module" ? this.modules[functions.file[f]] : functions.files[functions.file[f]];
		const line = functions.line[f];
		return showName(file ? (line > 0 ? `${file}:${line}` : file) : " ").trim();
	}

	shortPlaceOf(f) {
		const { functions } = this.data;
		const file = functions.files[functions.file[f]];
		if (!file) return "";
		const name = this.state.names === "module" ? this.modules[functions.file[f]] : file.length > 48 ? `…/${file.slice(file.lastIndexOf("/") + 1)}` : file;
		const line = functions.line[f];
		return showName(line > 0 ? `${name}:${line}` : name);
	}

	// ---- controls ----

	buildControls() {
		const { data, state } = this;
		const { header } = data;
		if (data.isDiff)
			segments($("sides"), [
				["base", "Base", "The profile before (1)"], ["head", "Head", "The profile after (2)"],
				["diff", "Diff", "What changed (3)"],
			], state.show, (show) => this.set({ show }));
		else $("sides").hidden = true;
		segments($("tabs"), [["flame", "Flame graph", "(t)"], ["table", "Table", "(t)"]], state.tab, (tab) => this.set({ tab }));
		const choice = (id, title, options, key) => el("label", { class: "choice", id: `choice-${id}` }, `${title} `,
			el("select", { id: `select-${id}`, onchange: (e) => this.set({ [key]: e.target.value }) },
				...options.map(([value, text]) => el("option", { value }, text))));
		$("switches").append(...[
			data.isDiff && choice("layout", "Width", [["head", "Head"], ["base", "Base"]], "layout"),
			choice("by", "Colour", [["self", "Self"], ["total", "Total"]], "by"),
			this.hasRemoved && toggle("Elided", "Only what was removed (e)", false, () => this.toggleElided(), "toggle-elided"),
			toggle("Inverted", "Callers: leaf functions are the roots (i)", false, (inverted) => this.set({ inverted }), "toggle-inverted"),
			toggle("Flame", "Roots at the bottom (f)", false, (up) => this.set({ up }), "toggle-up"),
			toggle("Modules", "Module names in place of file paths (m)", false, (on) => this.set({ names: on ? "module" : "path" }), "toggle-names"),
		].filter(Boolean));
		const command = header.head.facts.find(([k]) => k === "command")?.[1] ?? "";
		const labels = sideLabels(header);
		$("subtitle").textContent = showName(labels || command || " ").trim();
		$("subtitle").title = showName([header.base?.label, header.head.label].filter(Boolean).join(" → "));
		fillHelp($("help"), data.isDiff);
	}

	title() {
		const { data, state } = this;
		const kind = !data.isDiff ? "Flame graph" :
			state.show === "diff" ? "Differential flame graph" : state.show === "base" ? "Base flame graph" : "Head flame graph";
		return state.inverted ? `Inverted ${kind[0].toLowerCase()}${kind.slice(1)}` : kind;
	}

	showControls(what) {
		const { state } = this;
		$("title").textContent = this.title();
		document.title = [this.title(), $("subtitle").textContent].filter(Boolean).join(" · ");
		$("canvas").setAttribute("aria-label", this.title());
		pressSegment($("sides"), state.show);
		pressSegment($("tabs"), state.tab);
		$("flame").hidden = state.tab !== "flame";
		$("table").hidden = state.tab !== "table";
		$("app").classList.toggle("on-table", state.tab === "table");
		const check = (id, on) => $(id)?.setAttribute("aria-checked", String(on));
		check("toggle-elided", this.isElided());
		check("toggle-inverted", state.inverted);
		check("toggle-up", state.up);
		check("toggle-names", state.names === "module");
		$("select-by").value = state.by;
		if ($("select-layout")) {
			$("select-layout").value = state.layout;
			$("choice-layout").hidden = state.show !== "diff" || this.isElided();
		}
		if ($("toggle-elided")) $("toggle-elided").hidden = state.show !== "diff";
		if ($("query").value !== state.query) $("query").value = state.query;
		this.showLegend(what);
		this.showCrumbs();
		this.showEmpty(what);
		if (state.tab === "flame") this.flame.settle();
		else this.table.update(this.costs, what);
	}

	showCrumbs() {
		const { tree } = this.flame.picture;
		const focus = this.flame.focus;
		const path = pathOf(tree, focus);
		const crumb = (text, to, title) => el("button", { class: "link", title, onclick: () => this.zoomTo(to) }, text);
		const name = (f) => showName(this.data.functions.names[f]);
		const tail = path.slice(-3);
		const items = [crumb("All", [], "The whole picture (0)")];
		if (path.length > tail.length) items.push(el("span", {}, "…"));
		tail.forEach((f, i) => items.push(crumb(name(f), path.slice(0, path.length - tail.length + i + 1), this.placeOf(f))));
		$("crumbs").replaceChildren(...items);
		$("crumbs").classList.toggle("zoomed", path.length > 0);
	}

	showEmpty(what) {
		const { data } = this;
		const { header } = data;
		const box = $("empty");
		let text = "";
		if (!(what.all > 0)) {
			text = data.isDiff && what.isDiff && header.head.sum > 0 && !(header.base.sum > 0) ? "" :
				`There are no samples ${this.state.threads ? "of these threads " : ""}to draw.`;
			if (data.isDiff && what.side === HEAD && !(header.head.sum > 0)) text = "The head has no samples. Elided shows all that was removed.";
			if (data.isDiff && what.side === BASE && !(header.base.sum > 0)) text = "The base has no samples: there is nothing to compare with, so everything is new.";
		} else if (what.isDiff && !(header.head.sum > 0)) {
			text = "The head has no samples: everything below was removed.";
		} else if (what.isDiff && !(header.base.sum > 0)) {
			text = "The base has no samples: everything below is new.";
		}
		box.textContent = text;
		box.hidden = !text;
		box.classList.toggle("note", what.all > 0);
	}

	showLegend(what) {
		const { palette } = this.flame;
		const swatch = (classes, text, extra = "") => el("span", { class: `key ${extra}` }, ...classes.map((c) => {
			const box = el("i", { class: c === NEW ? "new" : c === REMOVED ? "removed" : "" });
			if (c === REMOVED) box.style.borderColor = palette.removed;
			if (c !== REMOVED || !palette.isHollow) box.style.background = palette.fill[c];
			if (c === NEW) box.style.borderColor = palette.inkOf(c);
			return box;
		}), `${glyphOf(classes.at(-1))} ${text}`.trim());
		const by = this.state.inverted ? "the leaf's self" : this.state.by;
		const items = what.isDiff ? [
			swatch([1, 2, 3, 4], "Slower"), swatch([5, 6, 7, 8], "Faster"),
			swatch([SAME], "Within 15 %"), swatch([NEW], "New"), swatch([REMOVED], "Removed"),
			el("span", { class: "quiet" }, `by ${by} time; steps at 15, 30, 50, 100 %`),
		] : [
			...[0, 0.01, 0.03, 0.06, 0.12, 0.18, 0.35, 0.6].map((s, k, all) =>
				swatch([heatClass(s)], k === 0 ? `< ${all[1] * 100} %` : k === all.length - 1 ? `≥ ${s * 100} %` : "", k && k < all.length - 1 ? "joined" : "joined end")),
			el("span", { class: "quiet" }, `share of ${by} time`),
		];
		$("legend").replaceChildren(...items);
	}

	applyTheme(theme) {
		this.flame.palette = makePalette(this.data.header.palette, theme);
		if (!this.flame.picture) return;
		this.flame.draw();
		this.showLegend(this.describe());
	}

	openHelp() {
		$("help").showModal();
	}

	toggleSidebar(on) {
		const root = $("app");
		const show = on ?? root.classList.contains("no-side");
		root.classList.toggle("no-side", !show);
		$("side-toggle").setAttribute("aria-expanded", String(show));
		this.flame.settle();
	}

	// ---- events ----

	bindCanvas() {
		const canvas = $("canvas");
		const { flame } = this;
		const at = (event) => {
			const box = canvas.getBoundingClientRect();
			return flame.hit(event.clientX - box.left, event.clientY - box.top);
		};
		canvas.addEventListener("pointermove", (event) => {
			const node = at(event);
			canvas.style.cursor = node >= 0 ? "pointer" : "";
			if (node !== flame.hovered) {
				flame.hovered = node;
				flame.draw();
			}
			if (node > 0) this.tooltip.show(node, { x: event.clientX, y: event.clientY });
			else this.tooltip.hide();
		});
		canvas.addEventListener("pointerleave", () => {
			flame.hovered = -1;
			flame.draw();
			this.tooltip.hide();
		});
		canvas.addEventListener("click", (event) => {
			const node = at(event);
			if (node < 0) return;
			flame.selected = node;
			this.zoomTo(pathOf(flame.picture.tree, node));
			flame.draw();
		});
		flame.scroller.addEventListener("scroll", () => {
			this.tooltip.hide();
			flame.draw();
		});
		new ResizeObserver(() => {
			flame.resize();
			flame.draw();
		}).observe(flame.scroller);
	}

	bindPage() {
		let waiting = 0;
		$("query").addEventListener("input", (event) => {
			clearTimeout(waiting);
			waiting = setTimeout(() => this.search(event.target.value), 60);
		});
		$("next-match").addEventListener("click", () => this.nextMatch(1));
		$("previous-match").addEventListener("click", () => this.nextMatch(-1));
		$("back").addEventListener("click", () => this.back());
		$("forward").addEventListener("click", () => this.forward());
		$("help-open").addEventListener("click", () => this.openHelp());
		$("side-toggle").addEventListener("click", () => this.toggleSidebar());
		addEventListener("popstate", () => this.followLink());
		addEventListener("beforeprint", () => this.print(true));
		addEventListener("afterprint", () => this.print(false));
		if (innerWidth < NARROW) this.toggleSidebarAtStart();
		document.querySelector("main").addEventListener("pointerdown", () => {
			if (innerWidth < NARROW && !$("app").classList.contains("no-side")) this.toggleSidebar(false);
		});
		this.bindResizer();
	}

	toggleSidebarAtStart() {
		$("app").classList.add("no-side");
		$("side-toggle").setAttribute("aria-expanded", "false");
	}

	bindResizer() {
		const resizer = $("resizer");
		const setWidth = (px) => {
			const width = Math.max(200, Math.min(px, innerWidth * 0.6, 640));
			document.documentElement.style.setProperty("--side", `${width}px`);
		};
		resizer.addEventListener("pointerdown", (event) => {
			resizer.setPointerCapture(event.pointerId);
			const move = (e) => setWidth(e.clientX);
			resizer.addEventListener("pointermove", move);
			resizer.addEventListener("pointerup", () => resizer.removeEventListener("pointermove", move), { once: true });
		});
		resizer.addEventListener("keydown", (event) => {
			const step = { ArrowLeft: -16, ArrowRight: 16 }[event.key];
			if (step) setWidth($("sidebar").offsetWidth + step);
		});
	}

	// Paper is white and does not scroll: draw in the light theme, all rows.
	print(isOn) {
		document.documentElement.dataset.theme = isOn ? "light" : this.theme.current;
		this.flame.palette = makePalette(this.data.header.palette, isOn ? "light" : this.theme.current);
		this.showLegend(this.describe());
		this.flame.setPaper(isOn ? PAPER_WIDTH : 0, PAPER_LONGEST);
	}
}

function fail(error) {
	const box = $("failure");
	box.hidden = false;
	box.textContent = typeof DecompressionStream === "undefined" ?
		"This browser is too old to open the page: it has no DecompressionStream (Chrome 103, Firefox 113, Safari 16.4 have)." :
		`The page could not be opened: ${error.message}`;
}

async function start() {
	try {
		const data = await loadPage();
		$("app").hidden = false;
		globalThis.fizeau = new App(data);
		document.documentElement.dataset.ready = "1";
	} catch (error) {
		fail(error);
		throw error;
	}
}

start();
