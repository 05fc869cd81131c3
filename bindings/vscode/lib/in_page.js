// SPDX-License-Identifier: MIT
// Runs in a recording's page that an editor shows (page.js): presets the reader's choices, and passes
// links to sources on to the editor.
(() => {
	const { scheme, choices } = document.currentScript.dataset;
	try {
		for (const [key, value] of Object.entries(JSON.parse(choices))) localStorage.setItem(key, value);
	} catch {
		// Without storage the page asks for them.
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
