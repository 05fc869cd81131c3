// SPDX-License-Identifier: MIT
// The page: state -> tree -> picture, and everything that changes the state.
import { HEAD, BASE, loadPage } from "./data.js";
import { makePalette } from "./colors.js";
import { buildControls, showControls, showCrumbs, showLegend } from "./controls.js";
import { Flame, makePicture, showName } from "./flame.js";
import { formatCount, formatShare, formatValue, plural } from "./format.js";
import { blinkNames } from "./blink.js";
import { bindKeys } from "./keys.js";
import { moduleOf, Searcher } from "./search.js";
import { Sandwich } from "./sandwich.js";
import { Sidebar } from "./sidebar.js";
import { SourceView } from "./source.js";
import { layouts, linkOf, pathOfHash, sidesOfLink, stateOfLink, zoomNode } from "./state.js";
import { swapSides } from "./swap.js";
import { FunctionTable } from "./table.js";
import { Theme } from "./theme.js";
import { nodeFacts, Tooltip } from "./tooltip.js";
import { elidedTree, functionCosts, hasRemoved, invertTree, isRemoved, matchedTotal, pathOf, straightTree } from "./tree.js";
import { changedNodes, matchingNodes, neighbour } from "./walk.js";

const $ = (id) => document.getElementById(id);
const NARROW = 900;
const PAPER_WIDTH = 1040;
const PAPER_LONGEST = 4000;

// The index after a step through n things, round; -1 is before the first.
function nextIndex(at, step, n) {
	return at < 0 && step < 0 ? n - 1 : (at + step + n) % n;
}

// Frames that are no code have "~" or nothing for a file.
function isFile(file) {
	return file !== "" && file !== "~";
}

class App {
	constructor(data) {
		this.data = data;
		this.modules = data.functions.files.map(moduleOf);
		this.searcher = new Searcher(data);
		this.cache = {};
		if (sidesOfLink(location.hash, data)) swapSides(data);
		const { state, zoomHash } = stateOfLink(data, location.hash);
		this.state = state;
		this.findRemoved();
		this.flame = new Flame(data, {
			canvas: $("canvas"), space: $("space"), scroller: $("flame"),
			location: (f) => this.shortPlaceOf(f),
		});
		this.tooltip = new Tooltip(this, $("tip"));
		this.table = new FunctionTable(this, $("table"));
		this.sandwich = new Sandwich(this, $("sandwich"));
		this.source = new SourceView(this, $("source"));
		this.sidebar = new Sidebar(this, $("sidebar"));
		buildControls(this);
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

	findRemoved() {
		const { data, state } = this;
		this.hasRemoved = data.isDiff && hasRemoved(state.threads ? straightTree(data, null) : this.straight());
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
			isDiff, side: this.widthSide(), widths: isDiff && !this.isElided() ? state.layout : "side", byTotal: state.by === "total", factor: data.factor,
			verdicts: isDiff && data.header.palette !== "tachyon" ? data.verdicts : null,
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
		flame.blink = null;
		this.changes = null;
		flame.setPicture(makePicture(tree, what), zoomNode(tree, state.zoom), this.removedAside(what));
		what.all = tree.total[what.side][0];
		this.costs = functionCosts(this.upright(), this.data.functions.n);
		this.sidebar.update(this.costs, what);
		showControls(this, what);
		this.tooltip.hide();
	}

	// What was removed, to stand beside the head's 100 %.
	removedAside(what) {
		const { inverted, layout } = this.state;
		if (!what.isDiff || !this.hasRemoved || this.isElided() || inverted || layout !== "head") return null;
		const tree = (this.cache.elided ??= elidedTree(this.data, this.straight()));
		return makePicture(tree, { ...what, side: BASE, rootName: "Removed" });
	}

	// Change the state, remember it, draw again.
	set(change, isStep = false) {
		// A path from the root means nothing in the tree that was turned round.
		if ("inverted" in change && change.inverted !== this.state.inverted) this.state.zoom = [];
		Object.assign(this.state, change);
		this.remember(isStep);
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
		if (sidesOfLink(location.hash, this.data)) this.exchange();
		const { state, zoomHash } = stateOfLink(this.data, location.hash);
		this.depthInHistory = history.state?.at ?? this.depthInHistory;
		const isZoomOnly = linkOf(this.data, { ...state, zoom: [] }) === linkOf(this.data, { ...this.state, zoom: [] });
		this.state = state;
		if (zoomHash) this.resolveZoom(zoomHash);
		$("query").value = state.query;
		if (isZoomOnly && !this.cache.inverted?.tree.partial) this.glide();
		else this.refresh();
		this.showHistory();
	}

	glide() {
		this.flame.setFocus(zoomNode(this.flame.picture.tree, this.state.zoom), true);
		showCrumbs(this);
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

	nextMatch(step) {
		if (!this.flame.matched) return;
		if (!this.matches) {
			this.matches = matchingNodes(this.flame.picture, this.flame.matched);
			this.matchAt = -1;
		}
		const nodes = this.matches;
		if (!nodes.length) return;
		this.matchAt = nextIndex(this.matchAt, step, nodes.length);
		this.goTo(nodes[this.matchAt]);
		$("hint").textContent = `Match ${formatCount(this.matchAt + 1)} of ${formatCount(nodes.length)}`;
	}

	// By the size of the frame's own change.
	nextChange(step) {
		const { picture } = this.flame;
		if (!picture.what.isDiff) return;
		if (!this.changes) {
			this.changes = changedNodes(picture);
			this.changeAt = -1;
		}
		const nodes = this.changes;
		if (!nodes.length) {
			this.say("Nothing changed.");
			return;
		}
		this.changeAt = nextIndex(this.changeAt, step, nodes.length);
		this.goTo(nodes[this.changeAt]);
		$("hint").textContent = `Change ${formatCount(this.changeAt + 1)} of ${formatCount(nodes.length)}, the biggest first`;
	}

	// Select a frame, and zoom to its caller when it would be too narrow to be seen.
	goTo(node) {
		const { tree, w } = this.flame.picture;
		const isOutside = w[node] / this.flame.span * this.flame.width < 40 ||
			!(node >= this.flame.focus && node < tree.end[this.flame.focus]);
		if (isOutside) this.zoomTo(pathOf(tree, tree.parent[node]));
		this.select(node);
	}

	clear() {
		if (this.flame.blink !== null) showLegend(this, this.describe());
		this.flame.blink = null;
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
		if (!flame.isMoving)
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
		if (flame.selected < 0) {
			this.select(flame.focus);
			return;
		}
		const next = neighbour(flame.picture, flame.selected, key, flame.up);
		if (next >= 0) this.select(next);
	}

	zoomSelected() {
		const { flame } = this;
		if (flame.selected >= 0) this.zoomTo(pathOf(flame.picture.tree, flame.selected));
	}

	scrollPage(key) {
		const { flame } = this;
		flame.scroller.scrollTop += (key === "PageDown" ? 1 : -1) * flame.height * 0.85;
	}

	// One side, then the other, in the places of the union layout; Escape ends it.
	nextBlink() {
		const { state, flame } = this;
		const next = flame.blink === BASE ? HEAD : BASE;
		if (state.show !== "diff" || state.layout !== "union" || this.isElided() || state.tab !== "flame")
			this.set({ show: "diff", layout: "union", elided: false, tab: "flame" });
		flame.blink = next;
		flame.draw();
		showLegend(this, { ...this.describe(), isDiff: false });
		this.tooltip.hide();
		this.say(blinkNames[next]);
	}

	exchange() {
		swapSides(this.data);
		this.cache = {};
		this.findRemoved();
		this.sidebar.build();
		buildControls(this);
	}

	swap() {
		this.exchange();
		this.set({ swapped: this.data.isSwapped });
		this.say(this.data.isSwapped ? "Sides swapped: base is what was head" : "Sides as recorded");
	}

	// The function that the sandwich and the source are about: chosen, or else the one with most time of its own.
	middle() {
		const { middle } = this.state;
		if (middle >= 0) return middle;
		const weight = (f) => Math.max(this.costs.self[BASE][f] * this.data.factor, this.costs.self[HEAD][f]);
		let best = 0;
		for (let f = 1; f < this.data.functions.n; f++) if (weight(f) > weight(best)) best = f;
		return best;
	}

	openMiddle(tab) {
		const { flame } = this;
		const node = flame.selected > 0 ? flame.selected : flame.focus;
		const middle = node > 0 ? flame.picture.tree.func[node] : this.state.middle;
		this.set({ tab, middle }, true);
	}

	nextLayout() {
		const at = layouts.indexOf(this.state.layout);
		this.set({ layout: layouts[(at + 1) % layouts.length] });
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
		return isFile(file) ? showName(line > 0 ? `${file}:${line}` : file) : "";
	}

	shortPlaceOf(f) {
		const { functions } = this.data;
		const file = functions.files[functions.file[f]];
		if (!isFile(file)) return "";
		const short = file.length > 48 ? `…/${file.slice(file.lastIndexOf("/") + 1)}` : file;
		const name = this.state.names === "module" ? this.modules[functions.file[f]] : short;
		const line = functions.line[f];
		return showName(line > 0 ? `${name}:${line}` : name);
	}

	applyTheme(theme) {
		this.flame.palette = makePalette(this.data.header.palette, theme);
		if (!this.flame.picture) return;
		this.flame.draw();
		this.sandwich.draw();
		showLegend(this, this.describe());
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
			const px = event.clientX - box.left;
			return { node: flame.hit(px, event.clientY - box.top), isAside: flame.isAside(px) };
		};
		canvas.addEventListener("pointermove", (event) => {
			const { node, isAside } = at(event);
			canvas.style.cursor = node >= 0 ? "pointer" : "";
			if (node !== flame.hovered) {
				flame.hovered = node;
				flame.draw();
			}
			if (node > 0) this.tooltip.show(node, { x: event.clientX, y: event.clientY }, isAside);
			else this.tooltip.hide();
		});
		canvas.addEventListener("pointerleave", () => {
			flame.hovered = -1;
			flame.draw();
			this.tooltip.hide();
		});
		canvas.addEventListener("click", (event) => {
			const { node, isAside } = at(event);
			if (node < 0) return;
			const path = pathOf(flame.picture.tree, node);
			if (isAside) {
				this.set({ elided: true, zoom: path }, true);
				return;
			}
			flame.selected = node;
			this.zoomTo(path);
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
		showLegend(this, this.describe());
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
