// SPDX-License-Identifier: MIT
// The browser's history: each entry is a link with the whole state.
import { linkOf, rulesOfLink, sidesOfLink, stateOfLink } from "./state.js";

const $ = (id) => document.getElementById(id);

export class Trail {
	constructor(app) {
		this.app = app;
		this.depth = history.state?.at ?? 0;
		this.furthest = this.depth;
		this.remember(false);
		$("back").addEventListener("click", () => this.back());
		$("forward").addEventListener("click", () => this.forward());
		addEventListener("popstate", () => this.follow());
	}

	// A step adds an entry; anything else changes the current one.
	remember(isStep) {
		const hash = linkOf(this.app.data, this.app.state);
		if (isStep) this.furthest = ++this.depth;
		const entry = { at: this.depth };
		try {
			history[isStep ? "pushState" : "replaceState"](entry, "",
				hash ? `#${hash}` : location.pathname + location.search);
		} catch {
			location.hash = hash;
		}
		this.show();
	}

	show() {
		$("back").disabled = this.depth <= 0;
		$("forward").disabled = this.depth >= this.furthest;
	}

	back() {
		if (this.depth > 0) history.back();
	}

	forward() {
		if (this.depth < this.furthest) history.forward();
	}

	// The browser moved through its history, or the link was edited.
	follow() {
		const { app } = this;
		const rules = rulesOfLink(location.hash);
		if (sidesOfLink(location.hash, app.loaded)) app.exchange();
		if (rules.join("\n") !== app.state.rules.join("\n")) app.renew(rules);
		const { data } = app;
		const { state, zoomHash } = stateOfLink(data, location.hash);
		this.depth = history.state?.at ?? this.depth;
		const unzoomed = { zoom: [], part: "" };
		const isZoomOnly = linkOf(data, { ...state, ...unzoomed }) === linkOf(data,
			{ ...app.state, ...unzoomed });
		app.model.state = state;
		if (zoomHash) app.model.resolveZoom(zoomHash);
		$("query").value = state.query;
		const { tree } = app.flame.picture;
		if (isZoomOnly && !tree.partial && tree === app.trees.shown()) app.glide();
		else app.refresh();
		this.show();
	}

	async copy() {
		try {
			await navigator.clipboard.writeText(location.href);
			this.app.say("Link copied");
		} catch {
			this.app.say(location.href);
		}
	}
}
