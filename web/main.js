// SPDX-License-Identifier: MIT
// The page's entry point: reads the data and starts the application, or reports the error.
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
