// SPDX-License-Identifier: MIT
// A real Chromium for the tests, and what every page must keep to: no errors, no requests.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { chromium } = require("playwright-core");

const candidates = [process.env.FZ_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

function findChromium() {
	return candidates.find((file) => file && fs.existsSync(file));
}

function launch() {
	return chromium.launch({
		executablePath: findChromium(),
		args: [
			"--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
			"--disable-background-networking", "--disable-component-update", "--disable-sync",
		],
	});
}

// Open a page file. `problems` collects console errors, exceptions and requests of the network.
async function open(browser, file, options = {}) {
	const context = await browser.newContext({
		viewport: { width: options.width ?? 1400, height: options.height ?? 860 },
		colorScheme: options.theme ?? "light",
		reducedMotion: options.motion ? "no-preference" : "reduce",
		deviceScaleFactor: options.scale ?? 1,
		javaScriptEnabled: options.javascript ?? true,
	});
	const page = await context.newPage();
	const problems = [];
	page.on("console", (m) => ["error", "warning"].includes(m.type()) && problems.push(`console: ${m.text()}`));
	page.on("pageerror", (e) => problems.push(`exception: ${e.message}`));
	page.on("request", (r) => !/^(file|data|blob):/.test(r.url()) && problems.push(`request: ${r.url()}`));
	page.problems = problems;
	await page.goto(`file://${path.resolve(file)}${options.hash ? `#${options.hash}` : ""}`);
	if (options.javascript !== false && !options.unready)
		await page.waitForSelector("html[data-ready]", { timeout: 20000 });
	return page;
}

module.exports = { findChromium, launch, open };
