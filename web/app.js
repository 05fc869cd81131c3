// SPDX-License-Identifier: MIT
// The application: from the reader's choices to the picture.
//
//   state -> trees -> picture -> views      each change of the state runs down this line
//
// The model (model.js) is everything up to the picture; views use only the model. Modules that act
// on several views get the application as `app`: history, finder, selection, keys.
import { actionsOf } from "./actions.js";
import { HEAD, BASE } from "./data.js";
import { makePalette } from "./colors.js";
import { buildControls, showControls, showCrumbs, showLegend } from "./controls.js";
import { Band } from "./verdict_band.js";
import { BenchmarkList } from "./benchmark_list.js";
import { blinkNames } from "./flip.js";
import { Busy } from "./busy.js";
import { Chart } from "./chart.js";
import { ContextMenu } from "./context_menu.js";
import { EditorDialog } from "./editor_dialog.js";
import { Finder } from "./find_frames.js";
import { Flame } from "./flame.js";
import { foldWords } from "./fold_functions.js";
import { forcePalette, whenForced } from "./forced_colors.js";
import { bindPageFrame } from "./page_frame.js";
import { bindKeys } from "./keys.js";
import { showName } from "./labels.js";
import { Matches } from "./matches.js";
import { Model } from "./model.js";
import { bindPointer } from "./pointer.js";
import { bindSave } from "./save.js";
import { Sandwich } from "./sandwich.js";
import { Selection } from "./selection.js";
import { Sheet } from "./sheet.js";
import { Sidebar } from "./sidebar.js";
import { SourceView } from "./source.js";
import { Strip } from "./time_strip.js";
import { layouts, linkOf, stateOfLink, zoomNode } from "./state.js";
import { swapSides } from "./swap.js";
import { FunctionTable } from "./table.js";
import { Theme } from "./theme.js";
import { Tooltip } from "./tooltip.js";
import { AccessibleTree } from "./screen_reader.js";
import { Trail } from "./browser_history.js";
import { pathOf } from "./tree.js";
import { Waits } from "./waits.js";

const $ = (id) => document.getElementById(id);

const REST = 300; // ms from the first picture until other views are prepared
const MANY = 1e5; // number of nodes from which a change of view can take long

export class App {
	constructor(loaded) {
		this.busy = new Busy($("busy"), loaded.n > MANY);
		this.model = new Model(loaded, location.hash, this.actsOfViews());
		this.makeViews();
		buildControls(this);
		this.theme = new Theme($("theme"), (theme) => this.applyTheme(theme));
		whenForced(() => this.applyTheme(this.theme.current));
		bindPointer(this, $("canvas"));
		bindPageFrame(this);
		bindSave(this);
		bindKeys(this);
		this.trail = new Trail(this);
		this.refresh();
		setTimeout(() => this.model.prepare(), REST);
	}

	// All actions that a view may call.
	actsOfViews() {
		return {
			set: (change, isStep) => this.set(change, isStep),
			change: (change, isStep) => this.change(change, isStep),
			setRules: (rules) => this.setRules(rules),
			refresh: () => this.refresh(),
			remember: (isStep = false) => this.trail.remember(isStep),
			say: (text) => this.say(text),
			showBenchmark: (f) => this.showBenchmark(f),
			findFunction: (f) => this.finder.findFunction(f),
			goToChange: (entry) => this.finder.goToChange(entry),
			goToNode: (node) => this.goToNode(node),
			select: (node, flame) => this.selection.select(node, flame),
			selectionMenu: () => this.selection.menu(),
			showSheet: (frame) => this.sheet.show(frame),
			openMenu: (frame, at) => this.openMenu(frame, at),
		};
	}

	get loaded() {
		return this.model.loaded;
	}
	get data() {
		return this.model.data;
	}
	get state() {
		return this.model.state;
	}
	get trees() {
		return this.model.trees;
	}
	get costs() {
		return this.model.costs;
	}

	makeViews() {
		const { data, model } = this;
		this.flame = new Flame(data, {
			canvas: $("canvas"), space: $("space"), scroller: $("flame"),
			placeOf: (f) => model.shortPlaceOf(f),
		});
		new AccessibleTree(model, this.flame, $("grid"));
		this.finder = new Finder(this);
		this.selection = new Selection(this);
		this.tooltip = new Tooltip(model, this.flame, $("tip"));
		this.benchmarks = new BenchmarkList(model, $("benchmarks"));
		this.sheet = new Sheet($("sheet"), {
			contentOf: (frame) => this.tooltip.contentOf(frame),
			actionsOf: (frame) => actionsOf(this, frame),
		});
		this.context = new ContextMenu($("context"), (frame) => actionsOf(this, frame));
		this.editor = new EditorDialog($("editor"));
		this.table = new FunctionTable(model, $("table"));
		this.sandwich = new Sandwich(model, this.flame, this.tooltip, $("sandwich"));
		this.chart = new Chart(model, this.flame, this.tooltip, $("chart"));
		this.source = new SourceView(model, $("source"));
		this.matches = new Matches(model, $("matches"));
		this.waits = new Waits(model, $("waits"));
		this.sidebar = new Sidebar(model, $("sidebar"));
		this.band = new Band(model, $("band"), $("leading"));
		this.strip = new Strip(model, $("strip"));
	}

	// ---- from state to picture ----

	refresh() {
		const { flame, model, state } = this;
		const what = model.update();
		const picture = model.picture(what);
		flame.up = state.up;
		flame.matched = this.finder.match();
		flame.blink = null;
		this.finder.forgetChanges();
		flame.setPicture(picture, zoomNode(picture.tree, state.zoom), model.removedAside(what),
			state.part);
		this.sidebar.update(what);
		this.band.update(what.found);
		this.strip.update();
		showControls(this, what);
		this.tooltip.hide();
		this.sheet.hide();
	}

	// Change the state, remember it, draw again.
	set(change, isStep = false) {
		// A path from the root is meaningless in an inverted tree.
		if (["inverted", "calls"].some((k) => k in change && change[k] !== this.state[k]))
			this.state.zoom = [];
		if ("zoom" in change || "inverted" in change) this.state.part = "";
		if ("range" in change) this.state.at = "";
		if ("middle" in change) this.state.line = "";
		if ("middle" in change && this.state.code === "files") this.state.code = "file";
		Object.assign(this.state, change);
		this.trail.remember(isStep);
		this.refresh();
	}

	// The same for controls, with an indicator if it takes long.
	change(change, isStep = false) {
		this.busy.during(() => this.set(change, isStep));
	}

	// ---- zoom ----

	glide() {
		this.flame.setFocus(zoomNode(this.flame.picture.tree, this.state.zoom), true,
			this.state.part);
		showCrumbs(this);
	}

	zoomTo(path) {
		if (path.join() === this.state.zoom.join() && !this.state.part) return;
		Object.assign(this.state, { zoom: path, part: "" });
		this.trail.remember(true);
		this.tooltip.hide();
		if (this.flame.picture.tree.partial) this.refresh();
		else this.glide();
	}

	showBenchmark(bench) {
		this.set({ bench, zoom: [], tab: this.state.tab === "benchmarks" ? "flame" :
			this.state.tab }, true);
	}

	// Zoom by keys, around the selected frame or the middle, or pan by fifths of the window.
	moveWindow(factor, fifths) {
		const { flame } = this;
		if (this.state.tab === "chart") {
			this.chart.moveWindow(factor, fifths);
			return;
		}
		const { left, right } = flame.selected > 0 && flame.isInView(flame.selected) ?
			flame.boxOf(flame.selected) : { left: 0, right: flame.width };
		if (fifths) flame.panBy(-fifths * flame.width / 5);
		else flame.zoomAt((left + right) / 2, factor);
		this.tooltip.hide();
		this.keepWindow();
	}

	// Called when a window that was moved by hand has come to rest.
	keepWindow() {
		const { flame, state } = this;
		const zoom = pathOf(flame.picture.tree, flame.focus);
		const isElsewhere = zoom.join() !== state.zoom.join();
		Object.assign(state, { zoom, part: flame.part });
		this.trail.remember(false);
		if (isElsewhere && flame.picture.tree.partial) {
			this.refresh();
			return;
		}
		flame.rest();
		showCrumbs(this);
	}

	// Apply the reader's choice of folding; not part of the browser's history.
	setFold(change) {
		this.unfolded = [];
		this.set(change);
	}

	// Unfold a node of the straight tree; fold the one unfolded before.
	unfold(node) {
		const { state, trees } = this;
		for (const key of this.unfolded ?? []) state[key] = true;
		this.unfolded = [];
		for (let fold; (fold = trees.foldOf(node)) >= 0;) {
			const [key] = foldWords[fold];
			state[key] = false;
			this.unfolded.push(key);
		}
	}

	// Zoom the flame graph to a node of the straight tree.
	goToNode(node) {
		this.state.inverted = false;
		this.unfold(node);
		this.set({ tab: "flame", zoom: this.model.pathTo(node) }, true);
	}

	// ---- what is shown ----

	// Show one side, then the other, in the union layout; Escape ends it.
	nextBlink() {
		const { state, flame } = this;
		const next = flame.blink === BASE ? HEAD : BASE;
		if (state.show !== "diff" || state.layout !== "union" || this.model.isElided() ||
			state.tab !== "flame")
			this.set({ show: "diff", layout: "union", elided: false, tab: "flame" });
		flame.blink = next;
		flame.draw();
		showLegend(this, {
			...this.model.describe(), isDiff: false, by: this.model.describe().heat,
		});
		this.tooltip.hide();
		this.say(blinkNames[next]);
	}

	endBlink() {
		if (this.flame.blink !== null) showLegend(this, this.model.describe());
		this.flame.blink = null;
	}

	// Rebuild everything that refers to functions after sides or names changed.
	renew(rules) {
		this.model.renew(rules);
		for (const flame of [this.flame, ...this.sandwich.halves]) flame.setData(this.data);
		this.finder.setData(this.data);
		this.sidebar.build();
		buildControls(this);
	}

	exchange() {
		swapSides(this.loaded);
		this.renew(this.state.rules);
	}

	// Apply other name patterns; choices are found again by name, if the name still exists.
	setRules(rules) {
		const link = linkOf(this.data, { ...this.state, rules });
		this.state.rules = rules;
		this.renew(rules);
		const { state, zoomHash } = stateOfLink(this.data, link);
		this.model.state = state;
		if (zoomHash) this.model.resolveZoom(zoomHash);
		this.trail.remember(true);
		this.refresh();
	}

	swap() {
		this.exchange();
		this.set({ swapped: this.data.isSwapped });
		this.say(this.data.isSwapped ? "Sides swapped" :
			"Sides as recorded");
	}

	openMiddle(tab) {
		const { flame } = this;
		const node = flame.selected > 0 ? flame.selected : flame.focus;
		const f = node > 0 ? flame.picture.tree.func[node] : this.state.middle;
		const middle = f < this.data.functions.n ? f : this.state.middle;
		this.set({ tab, middle }, true);
	}

	whole() {
		if (this.state.tab === "chart") this.chart.whole();
		else this.zoomTo([]);
	}

	nextLayout() {
		const at = layouts.indexOf(this.state.layout);
		this.set({ layout: layouts[(at + 1) % layouts.length] });
	}

	toggleElided() {
		this.set({ elided: !this.model.isElided(), show: "diff" });
	}

	nextColour() {
		const colours = [...$("select-by").options].map((option) => option.value);
		this.set({ by: colours[(colours.indexOf(this.model.colourMode()) + 1) % colours.length] });
	}

	copyTable(format) {
		if (this.state.tab !== "table") this.set({ tab: "table" });
		this.table.copy(format);
	}

	nextThread() {
		const { threads } = this.data.header;
		const now = this.state.threads ? this.state.threads.indexOf(1) : -1;
		const next = now + 1 >= threads.length ? -1 : now + 1;
		this.set({
			threads: next < 0 ? null : Uint8Array.from(threads, (_, i) => (i === next ? 1 : 0)),
		});
		this.say(next < 0 ? "All threads" : `Thread ${threads[next].label}`);
	}

	openMenu(frame, at) {
		this.tooltip.hide();
		this.sheet.hide();
		this.context.show(showName(this.data.functions.names[frame.f]), frame, at);
	}

	// ---- words ----

	// Show a message and announce it to screen readers.
	say(text) {
		$("spoken").textContent = text;
		this.hint(text);
	}

	hint(text) {
		$("hint").textContent = text;
	}

	applyTheme(theme) {
		this.flame.palette = forcePalette(makePalette(this.data.header.palette, theme));
		if (!this.flame.picture) return;
		this.flame.draw();
		this.sandwich.draw();
		this.chart.draw();
		this.source.minimap.draw();
		showLegend(this, this.model.describe());
	}
}
