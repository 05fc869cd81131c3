// SPDX-License-Identifier: MIT
// The application: what the reader chose, and from it the picture.
//
//   state -> trees -> picture -> views      each change of the state runs down this line
//
// Its parts know it as `app`: the trail of links, the finder, the selection, and one object a view.
import { HEAD, BASE } from "./data.js";
import { makePalette } from "./colors.js";
import { buildControls, showControls, showCrumbs, showLegend } from "./controls.js";
import { Band } from "./band.js";
import { blinkNames } from "./blink.js";
import { findChanges } from "./changes.js";
import { Finder } from "./finder.js";
import { Flame } from "./flame.js";
import { forcePalette, whenForced } from "./forced.js";
import { bindFurniture } from "./furniture.js";
import { movedFunctions } from "./inferred.js";
import { bindKeys } from "./keys.js";
import { Matches } from "./matches.js";
import { Picture } from "./picture.js";
import { placeOf, shortPlaceOf } from "./places.js";
import { bindPointer } from "./pointer.js";
import { bindSave } from "./save.js";
import { moduleOf } from "./search.js";
import { Sandwich } from "./sandwich.js";
import { Selection } from "./selection.js";
import { Sidebar } from "./sidebar.js";
import { SourceView } from "./source.js";
import { layouts, linkOf, pathOfHash, rulesOfLink, sidesOfLink, stateOfLink, zoomNode } from "./state.js";
import { swapSides } from "./swap.js";
import { FunctionTable } from "./table.js";
import { Theme } from "./theme.js";
import { Tooltip } from "./tooltip.js";
import { Twin } from "./twin.js";
import { Trail } from "./trail.js";
import { transform } from "./transform.js";
import { changeOf, functionCosts, isAdded, isRemoved } from "./tree.js";
import { Trees } from "./trees.js";

const $ = (id) => document.getElementById(id);

export class App {
	constructor(loaded) {
		this.loaded = loaded;
		this.trees = new Trees(this);
		if (sidesOfLink(location.hash, loaded)) swapSides(loaded);
		this.takeData(rulesOfLink(location.hash));
		const { data } = this;
		const { state, zoomHash } = stateOfLink(data, location.hash);
		this.state = state;
		this.trees.findRemoved();
		this.makeViews();
		buildControls(this);
		this.theme = new Theme($("theme"), (theme) => this.applyTheme(theme));
		whenForced(() => this.applyTheme(this.theme.current));
		bindPointer(this, $("canvas"));
		bindFurniture(this);
		bindSave(this);
		bindKeys(this, data.isDiff);
		if (zoomHash) this.resolveZoom(zoomHash);
		this.trail = new Trail(this);
		this.refresh();
	}

	// The data as the rules for names make it.
	takeData(rules) {
		this.data = transform(this.loaded, rules);
		this.modules = this.data.functions.files.map(moduleOf);
	}

	makeViews() {
		const { data } = this;
		this.flame = new Flame(data, {
			canvas: $("canvas"), space: $("space"), scroller: $("flame"),
			location: (f) => this.shortPlaceOf(f),
		});
		new Twin(this, this.flame, $("grid"));
		this.finder = new Finder(this);
		this.selection = new Selection(this);
		this.tooltip = new Tooltip(this, $("tip"));
		this.table = new FunctionTable(this, $("table"));
		this.sandwich = new Sandwich(this, $("sandwich"));
		this.source = new SourceView(this, $("source"));
		this.matches = new Matches(this, $("matches"));
		this.sidebar = new Sidebar(this, $("sidebar"));
		this.band = new Band(this, $("band"));
	}

	resolveZoom(hash) {
		this.state.zoom = pathOfHash(this.data, this.trees.shown(), hash);
	}

	// ---- from state to picture ----

	get hasRemoved() {
		return this.trees.hasRemoved;
	}

	isElided() {
		return this.trees.isElided();
	}

	upright() {
		return this.trees.upright();
	}

	// The side that gives frames their width.
	widthSide() {
		const { show, layout } = this.state;
		if (show === "base" || this.isElided()) return BASE;
		if (show === "diff" && layout === "base") return BASE;
		return HEAD;
	}

	// Share and significance are a diff's; significance is known where somebody judged.
	colourMode() {
		const { by, show } = this.state;
		if (by === "self" || by === "total" || (show === "diff" && (by === "share" || this.data.verdicts))) return by;
		return "self";
	}

	// What a picture of the state is about; nodeClass() and the legend go by it.
	describe() {
		const { state, data } = this;
		const whole = this.trees.whole();
		const isDiff = data.isDiff && state.show === "diff";
		return {
			isDiff, side: this.widthSide(), widths: isDiff && !this.isElided() ? state.layout : "side", by: this.colourMode(), factor: data.factor, kinds: data.functions.kind,
			isSeed: data.header.palette === "tachyon", isSwapped: data.isSwapped, marks: data.marks, moved: movedFunctions(data), change: 0,
			verdicts: isDiff && data.header.palette !== "tachyon" ? data.verdicts : null,
			removedHere: (i) => isRemoved(whole, i), addedHere: (i) => isAdded(whole, i),
			rootName: this.isElided() ? "Removed" : "All",
		};
	}

	// A wrapper's total, or one that was recorded, is known for the whole recordings only; filtered, it
	// is what is drawn of it.
	functionCosts() {
		const { data, loaded, state } = this;
		const costs = functionCosts(this.upright(), data.functions.n);
		if (data !== loaded || this.isElided() || state.threads || state.modules || state.verdict) return costs;
		const { func, total } = data.wrappers;
		for (const side of [BASE, HEAD]) func.forEach((f, k) => (costs.total[side][f] = total[side][k]));
		return costs;
	}

	refresh() {
		const { data, state, flame } = this;
		const what = this.describe();
		const tree = this.trees.shown();
		// Another layout or view of the same tree needs no new sums.
		const upright = this.upright();
		if (this.costsOf !== upright) {
			this.costs = this.functionCosts();
			this.changes = data.verdicts && !this.isElided() ? findChanges(upright, data, this.costs) : null;
		}
		this.costsOf = upright;
		what.change = changeOf(this.costs, what);
		flame.up = state.up;
		flame.matched = this.finder.match();
		flame.blink = null;
		this.finder.forgetChanges();
		flame.setPicture(new Picture(tree, what), zoomNode(tree, state.zoom), this.removedAside(what));
		what.all = tree.total[what.side][0];
		what.found = what.verdicts ? this.changes : null;
		this.sidebar.update(this.costs, what);
		this.band.update(what.found);
		showControls(this, what);
		this.tooltip.hide();
	}

	// What was removed, to stand beside the head's 100 %.
	removedAside(what) {
		const { inverted, layout } = this.state;
		if (!what.isDiff || !this.hasRemoved || this.isElided() || inverted || layout !== "head") return null;
		return new Picture(this.trees.elided(), { ...what, side: BASE, rootName: "Removed" });
	}

	// Change the state, remember it, draw again.
	set(change, isStep = false) {
		// A path from the root means nothing in the tree that was turned round.
		if ("inverted" in change && change.inverted !== this.state.inverted) this.state.zoom = [];
		Object.assign(this.state, change);
		this.trail.remember(isStep);
		this.refresh();
	}

	// ---- zoom ----

	glide() {
		this.flame.setFocus(zoomNode(this.flame.picture.tree, this.state.zoom), true);
		showCrumbs(this);
	}

	zoomTo(path) {
		if (path.join() === this.state.zoom.join()) return;
		this.state.zoom = path;
		this.trail.remember(true);
		this.tooltip.hide();
		if (this.flame.picture.tree.partial) this.refresh();
		else this.glide();
	}

	// ---- what is shown ----

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

	endBlink() {
		if (this.flame.blink !== null) showLegend(this, this.describe());
		this.flame.blink = null;
	}

	// Sides or names changed: all that knows functions begins anew.
	renew(rules) {
		this.takeData(rules);
		this.trees.forget();
		this.trees.findRemoved();
		for (const flame of [this.flame, ...this.sandwich.halves]) flame.setData(this.data);
		this.finder.setData(this.data);
		this.sidebar.build();
		buildControls(this);
	}

	exchange() {
		swapSides(this.loaded);
		this.renew(this.state.rules);
	}

	// Other patterns for names; what was chosen is found again by its name, as far as it still has it.
	setRules(rules) {
		const link = linkOf(this.data, { ...this.state, rules });
		this.state.rules = rules;
		this.renew(rules);
		const { state, zoomHash } = stateOfLink(this.data, link);
		this.state = state;
		if (zoomHash) this.resolveZoom(zoomHash);
		this.trail.remember(true);
		this.refresh();
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

	nextColour() {
		const colours = [...$("select-by").options].map((option) => option.value);
		this.set({ by: colours[(colours.indexOf(this.colourMode()) + 1) % colours.length] });
	}

	copyTable() {
		if (this.state.tab !== "table") this.set({ tab: "table" });
		this.table.copy();
	}

	nextThread() {
		const { threads } = this.data.header;
		if (!this.data.cells) return;
		const now = this.state.threads ? this.state.threads.indexOf(1) : -1;
		const next = now + 1 >= threads.length ? -1 : now + 1;
		this.set({ threads: next < 0 ? null : Uint8Array.from(threads, (_, i) => (i === next ? 1 : 0)) });
		this.say(next < 0 ? "All threads" : `Thread ${threads[next].label}`);
	}

	// ---- words ----

	// Tell those who look, and those who listen.
	say(text) {
		$("spoken").textContent = text;
		this.hint(text);
	}

	hint(text) {
		$("hint").textContent = text;
	}

	placeOf(f) {
		return placeOf(this, f);
	}

	shortPlaceOf(f) {
		return shortPlaceOf(this, f);
	}

	applyTheme(theme) {
		this.flame.palette = forcePalette(makePalette(this.data.header.palette, theme));
		if (!this.flame.picture) return;
		this.flame.draw();
		this.sandwich.draw();
		showLegend(this, this.describe());
	}
}
