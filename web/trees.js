// SPDX-License-Identifier: MIT
// The trees of the current state. Each is computed on first use and cached until its inputs change.
//
//   straight (after filters) -> upright (perhaps elided) -> shown (perhaps inverted or folded)
import { planCalls, splitsCalls } from "./call_lines.js";
import { choosesPaths, isFiltered, pathFilter } from "./filters.js";
import { foldOf } from "./fold_functions.js";
import { foldTree, planFolds } from "./folds.js";
import { savedFunctions } from "./saved_time.js";
import { elidedTree, hasRemoved, invertTree, removedSum, straightTree } from "./tree.js";

export class Trees {
	constructor(model) {
		this.model = model;
		this.forget();
	}

	forget() {
		this.cache = {};
	}

	// Was anything removed, independent of filters?
	findRemoved() {
		const { data, state } = this.model;
		this.hasRemoved = data.isDiff &&
			hasRemoved(state.bench >= 0 || isFiltered(state) ? straightTree(data, null, null) :
				this.straight());
	}

	isElided() {
		const { state } = this.model;
		return state.elided && state.show === "diff" && this.hasRemoved;
	}

	straight() {
		const { data, modules, state } = this.model;
		const key = [state.threads?.join("") ?? "", state.verdict, state.range?.join() ?? "",
			state.bench, state.only, state.without.join(), ...(state.modules ?? ["*"])].join("\n");
		if (this.cache.straightKey !== key)
			this.cache = {
				straightKey: key,
				straight: straightTree(data, state.threads, pathFilter(data, modules, state),
					state.bench, state.range),
			};
		return this.cache.straight;
	}

	// The tree without filters by function, which shows whether a path exists on a side.
	whole() {
		const { data, state } = this.model;
		const straight = this.straight();
		if (!choosesPaths(state)) return straight;
		return (this.cache.whole ??= straightTree(data, state.threads, null, state.bench,
			state.range));
	}

	elided() {
		const straight = this.straight();
		return (this.cache.elided ??= elidedTree(this.model.data, straight));
	}

	upright() {
		return this.isElided() ? this.elided() : this.straight();
	}

	// The folding of the drawn tree, or null. Inverted trees are not folded.
	get folded() {
		const { data, state } = this.model;
		if (state.inverted) return null;
		const whole = this.whole(), byLine = splitsCalls(this.model);
		const key = `${state.show === "diff" && state.noise} ${state.imports} ${byLine}`;
		if (this.cache.foldKey !== key) {
			const isJudged = state.show === "diff" && data.header.palette !== "tachyon";
			this.cache.foldKey = key;
			this.cache.folded = byLine ? planCalls(data) : planFolds(data, whole, {
				noise: state.noise && isJudged, imports: state.imports,
			});
			this.cache.drawn = new Map();
		}
		return this.cache.folded;
	}

	// The fold of node i of the straight tree; -1: not folded.
	foldOf(i) {
		const { folded } = this;
		return folded ? foldOf(this.model.data, folded.tree.func[folded.nodeOf[i]]) : -1;
	}

	// A tree of the page's nodes, as drawn.
	drawn(tree) {
		const { folded } = this;
		if (!folded) return tree;
		const { drawn } = this.cache;
		if (!drawn.has(tree)) drawn.set(tree, foldTree(folded, tree));
		return drawn.get(tree);
	}

	shownWhole() {
		return this.drawn(this.whole());
	}

	// Saved time of removed paths, to draw beside the head: {sum, tree}; all removed paths if
	// nothing was judged. costs: returns those of all functions; only called if judged.
	saved(isJudged, costs) {
		const tree = this.drawn(this.straight()), { cache, model: { data } } = this;
		if (cache.saved?.of !== tree || cache.saved.isJudged !== isJudged) {
			const flags = isJudged ? savedFunctions(tree, data, costs()) : null;
			let elided = null;
			cache.saved = {
				of: tree, isJudged, sum: removedSum(tree, flags),
				get tree() {
					return (elided ??= elidedTree(tree, tree, flags));
				},
			};
		}
		return cache.saved;
	}

	shownElided() {
		const straight = this.straight();
		if (!this.folded) return this.elided();
		const { drawn } = this.cache;
		if (!drawn.has("elided"))
			drawn.set("elided", elidedTree(this.drawn(straight), this.drawn(straight)));
		return drawn.get("elided");
	}

	shown() {
		const { data, state } = this.model;
		if (!state.inverted)
			return this.isElided() ? this.shownElided() : this.drawn(this.straight());
		const upright = this.upright();
		const key = `${this.isElided()}`, zoom = state.zoom.join();
		const known = this.cache.inverted;
		if (known?.key === key && (!known.tree.partial || known.zoom === zoom)) return known.tree;
		const tree = invertTree(upright, data.functions.n, data.factor, state.zoom);
		this.cache.inverted = { key, tree, zoom };
		return tree;
	}
}
