// SPDX-License-Identifier: MIT
// What runs in the page of a recording that an editor shows (page.js): makes the choices that a reader
// would make there, and tells the editor of links that are for it.
(() => {
	const { scheme, choices } = document.currentScript.dataset;
	try {
		for (const [key, value] of Object.entries(JSON.parse(choices))) localStorage.setItem(key, value);
	} catch {
		// The page asks, then.
	}
	const host = acquireVsCodeApi();
	addEventListener("click", (event) => {
		for (const node of event.composedPath()) {
			if (!(node instanceof HTMLAnchorElement) || !node.href.startsWith(scheme)) continue;
			event.preventDefault();
			event.stopImmediatePropagation();
			host.postMessage({ open: node.href });
			return;
		}
	}, true);
})();
