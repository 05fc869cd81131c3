// SPDX-License-Identifier: MIT
// The page's beginning: read its data, make the application, or say why that cannot be.
import { App } from "./app.js";
import { loadPage } from "./data.js";

const $ = (id) => document.getElementById(id);

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
