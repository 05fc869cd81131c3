// SPDX-License-Identifier: MIT
// The page's beginning: read its data, make the application, or say why that cannot be.
import { App } from "./app.js";
import { loadPage } from "./data.js";
import { sayNotOpened } from "./failure.js";

async function start() {
	document.documentElement.dataset.begun = "1";
	try {
		const data = await loadPage();
		document.getElementById("app").hidden = false;
		globalThis.fizeau = new App(data);
		document.documentElement.dataset.ready = "1";
	} catch (error) {
		sayNotOpened(error);
		throw error;
	}
}

start();
