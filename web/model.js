// SPDX-License-Identifier: MIT
// The state of the page: the data, the reader's choices, and what follows from both.
//
//   loaded --rules for names--> data --state--> trees -> costs, changes -> a picture
//
// Views use the model and `acts`, the list of actions they may call, and nothing else.
import { BASE, HEAD, MARKER_KIND } from "./data.js";
import { chosenBenchmark, verdictsWithin } from "./benchmarks.js";
import { findChanges, listChanges } from "./listed_changes.js";
import { isFiltered } from "./filters.js";
import { movedFunctions } from "./inferred.js";
import { ownChanges } from "./own_code.js";
import { LaterPicture, Picture } from "./picture.js";
import { placeOf, shortPlaceOf } from "./source_places.js";
import { moduleOf } from "./search.js";
import { pathOfHash, rulesOfLink, sidesOfLink, stateOfLink } from "./state.js";
import { swapSides } from "./swap.js";
import { transform } from "./transform.js";
import { changeOf, functionCosts, isAdded, isRemoved, pathOf } from "./tree.js";
import { Trees } from "./trees.js";

export class Model {
	constructor(loaded, link, acts) {
		this.loaded = loaded;
		this.acts = acts;
		this.trees = new Trees(this);
		if (sidesOfLink(link, loaded)) swapSides(loaded);
		this.takeData(rulesOfLink(link));
		const { state, zoomHash } = stateOfLink(this.data, link);
		this.state = state;
		this.trees.findRemoved();
		if (zoomHash) this.resolveZoom(zoomHash);
	}

	// Apply the name rules to the data.
	takeData(rules) {
		this.data = transform(this.loaded, rules);
		this.modules = this.data.functions.files.map(moduleOf);
	}

	// Start again after sides or names changed.
	renew(rules) {
		this.takeData(rules);
		this.trees.forget();
		this.trees.findRemoved();
	}

	// A link to a frame that is folded now unfolds it.
	resolveZoom(hash) {
		const { data, state, trees } = this;
		state.zoom = pathOfHash(data, trees.shown(), hash);
		if (state.zoom.length || !trees.folded) return;
		const { noise, imports } = state;
		Object.assign(state, { noise: false, imports: false });
		state.zoom = pathOfHash(data, trees.shown(), hash);
		if (!state.zoom.length) Object.assign(state, { noise, imports, part: "" });
	}

	get hasRemoved() {
		return this.trees.hasRemoved;
	}

	isElided() {
		return this.trees.isElided();
	}

	upright() {
		return this.trees.upright();
	}

	// The side that determines widths.
	widthSide() {
		const { show, layout } = this.state;
		if (show === "base" || this.isElided()) return BASE;
		if (show === "diff" && layout === "base") return BASE;
		return HEAD;
	}

	// How to colour: as chosen, if possible. "Share" needs a diff, significance a judged diff. By
	// default, diffs are coloured by total, which shows where they changed, and CPython's palette
	// by own time.
	colourMode() {
		const { data, state: { by, show } } = this;
		const isDiff = data.isDiff && show === "diff";
		if (by === "self" || by === "total" || (by && isDiff && (by === "share" || data.verdicts)))
			return by;
		return isDiff && data.header.palette !== "tachyon" ? "total" : "self";
	}

	// Description of the state's picture, used by nodeClass() and the legend.
	describe() {
		const { state, data } = this;
		const whole = this.trees.shownWhole();
		const isDiff = data.isDiff && state.show === "diff";
		return {
			isDiff, functions: data.functions.n, side: this.widthSide(),
			widths: isDiff && !this.isElided() ? state.layout : "side", by: this.colourMode(),
			heat: state.by === "total" ? "total" : "self", factor: data.factor,
			kinds: data.functions.kind,
			isTachyonPalette: data.header.palette === "tachyon", isSwapped: data.isSwapped,
			marks: data.marks,
			moved: movedFunctions(data), change: 0,
			verdicts: isDiff && data.header.palette !== "tachyon" ? data.verdicts : null,
			removedHere: (i) => isRemoved(whole, i), addedHere: (i) => isAdded(whole, i),
			rootName: this.isElided() ? "All removed paths" : "All",
		};
	}

	// Costs of all functions. Totals of wrappers and recorded totals are only known for the whole
	// recordings; with filters, the totals of the drawn tree are used.
	costsOfAll(straight) {
		const { data, loaded, state } = this;
		const costs = functionCosts(straight, data.functions.n);
		if (data !== loaded || state.bench >= 0 || isFiltered(state)) return costs;
		const { func, total } = data.wrappers;
		for (const side of [BASE, HEAD])
			func.forEach((f, k) => (costs.total[side][f] = total[side][k]));
		return costs;
	}

	// Costs of functions in the shown tree, computed on first use: the picture does not need
	// them.
	get costs() {
		this.prepare();
		return this.knownCosts;
	}

	// Compute them early, for the first tooltip, list or table.
	prepare() {
		this.knownCosts ??= this.isStraight ? this.costsOfAll(this.costsOf) :
			functionCosts(this.costsOf, this.data.functions.n);
	}

	// Update trees, costs and the description of the picture.
	update() {
		const { data } = this;
		const bench = chosenBenchmark(this);
		if (bench && data.verdicts) data.verdicts = verdictsWithin(data, bench);
		const what = this.describe();
		const tree = this.trees.shown();
		// Another layout or view of the same tree needs no new costs.
		const upright = this.upright(), straight = this.trees.straight();
		this.isStraight = upright === straight;
		if (this.costsOf !== upright) this.knownCosts = null;
		this.costsOf = upright;
		if (this.changesOf !== straight && data.verdicts)
			this.changes = findChanges(straight, data,
				() => (this.isStraight ? this.costs : this.costsOfAll(straight)));
		this.changesOf = straight;
		if (what.by === "share") what.change = changeOf(this.costs, what);
		what.all = tree.total[what.side][0];
		what.found = what.verdicts ? this.listed() : null;
		return what;
	}

	picture(what) {
		return new Picture(this.trees.shown(), what);
	}

	// Removed paths that saved time (saved_time.js), shown beside the head's 100 %.
	removedAside(what) {
		const { inverted, layout } = this.state;
		if (!what.isDiff || !this.hasRemoved || this.isElided() || inverted || layout !== "head")
			return null;
		const saved = this.trees.saved(what.verdicts !== null, () => this.costs);
		return new LaterPicture(saved.sum,
			{ ...what, side: BASE, rootName: "Gone", removedHere: (i) => saved.tree.isGone(i) },
			() => saved.tree);
	}

	// The listed changes; null if nothing was judged.
	listed() {
		return this.changes && this.state.own ? ownChanges(this.data, this.changes) : this.changes;
	}

	// The path to a node of the straight tree, in the tree as drawn.
	pathTo(node) {
		const { folded } = this.trees;
		return folded ? pathOf(folded.tree, folded.nodeOf[node]) :
			pathOf(this.trees.straight(), node);
	}

	// Is a node of the straight tree only in the base?
	isGone(node) {
		return isRemoved(this.trees.straight(), node);
	}

	// The function shown in the sandwich and the source view: chosen, or else the first of the
	// changes, or else the code with most own time.
	middle() {
		const { state: { middle }, data: { functions, factor, verdicts }, costs } = this;
		const isCode = (f) => functions.kind[f] !== MARKER_KIND;
		if (middle >= 0) return middle;
		const first = verdicts && listChanges(this.listed()).find(({ f }) => isCode(f));
		if (first) return first.f;
		const weight = (f) => (isCode(f) ?
			Math.max(costs.self[BASE][f] * factor, costs.self[HEAD][f]) : -1);
		let best = 0;
		for (let f = 1; f < functions.n; f++) if (weight(f) > weight(best)) best = f;
		return best;
	}

	placeOf(f) {
		return placeOf(this, f);
	}

	shortPlaceOf(f) {
		return shortPlaceOf(this, f);
	}
}
