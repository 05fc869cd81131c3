// SPDX-License-Identifier: MIT
// The trees of the present state, each made when it is first asked for and kept until what it was
// made from changes.
//
//   straight (what passes the filters) -> upright (perhaps elided) -> shown (perhaps inverted)
import { wantedFunctions } from "./filters.js";
import { elidedTree, hasRemoved, invertTree, straightTree } from "./tree.js";

export class Trees {
	constructor(app) {
		this.app = app;
		this.forget();
	}

	forget() {
		this.cache = {};
	}

	// Whether anything was removed at all, whatever the filters.
	findRemoved() {
		const { data, state } = this.app;
		const isFiltered = state.threads || state.modules || state.verdict;
		this.hasRemoved = data.isDiff && hasRemoved(isFiltered ? straightTree(data, null, null) : this.straight());
	}

	isElided() {
		const { state } = this.app;
		return state.elided && state.show === "diff" && this.hasRemoved;
	}

	straight() {
		const { data, modules, state } = this.app;
		const key = [state.threads?.join("") ?? "", state.verdict, ...(state.modules ?? ["*"])].join("\n");
		if (this.cache.straightKey !== key)
			this.cache = { straightKey: key, straight: straightTree(data, state.threads, wantedFunctions(data, modules, state)) };
		return this.cache.straight;
	}

	// Without the filters by function: what tells whether a path exists at all on a side.
	whole() {
		const { data, state } = this.app;
		const straight = this.straight();
		if (!state.modules && !state.verdict) return straight;
		return (this.cache.whole ??= straightTree(data, state.threads, null));
	}

	elided() {
		const straight = this.straight();
		return (this.cache.elided ??= elidedTree(this.app.data, straight));
	}

	upright() {
		return this.isElided() ? this.elided() : this.straight();
	}

	shown() {
		const { data, state } = this.app;
		const upright = this.upright();
		if (!state.inverted) return upright;
		const key = `${this.isElided()}`, zoom = state.zoom.join();
		const known = this.cache.inverted;
		if (known?.key === key && (!known.tree.partial || known.zoom === zoom)) return known.tree;
		const tree = invertTree(upright, data.functions.n, data.factor, state.zoom);
		this.cache.inverted = { key, tree, zoom };
		return tree;
	}
}
