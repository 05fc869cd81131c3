// SPDX-License-Identifier: MIT
// A real Chromium for the tests, and checks of every page: no errors, no requests.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { chromium } = require("playwright-core");

const PATIENCE = 120000; // milliseconds, on a busy machine

const candidates = [process.env.FZ_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

function findChromium() {
	return candidates.find((file) => file && fs.existsSync(file));
}

function launch() {
	return chromium.launch({
		executablePath: findChromium(),
		timeout: PATIENCE,
		args: [
			"--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
			"--disable-background-networking", "--disable-component-update", "--disable-sync",
		],
	});
}

let shared = null, hasCrashed = false;

async function closeBrowser() {
	await shared?.close();
	shared = null;
}

// Did a case fail because its browser, or the process of its page, ended?
function hasDied() {
	return hasCrashed || (shared !== null && !shared.isConnected());
}

// Run `body` with a page file open; afterwards nothing may have gone wrong in it.
async function withPage(file, options, body) {
	if (hasCrashed || !shared?.isConnected()) shared = await launch();
	hasCrashed = false;
	const page = await open(shared, file, options);
	try {
		await body(page);
		assert.deepEqual(page.problems, []);
	} finally {
		if (shared.isConnected()) await page.context().close();
	}
}

// The shown tree as a map from path to values, and its order.
function readTree(page) {
	return page.evaluate(() => {
		const { data, flame } = fizeau;
		const { tree, w } = flame.picture;
		const { functions } = data;
		const keys = [""], nodes = [];
		for (let i = 1; i < tree.n; i++) {
			const f = tree.func[i];
			const name = functions.names[f], file = functions.files[functions.file[f]];
			keys[i] = `${keys[tree.parent[i]]}|${name}\n${file}`;
			nodes.push({
				key: keys[i], i, name, file, depth: tree.depth[i], w: w[i], x: flame.picture.placeOf(i), parent: tree.parent[i],
				base: { self: tree.self[0][i], total: tree.total[0][i] },
				head: { self: tree.self[1][i], total: tree.total[1][i] },
			});
		}
		return { nodes, all: [tree.total[0][0], tree.total[1][0]], inverted: tree.inverted };
	});
}

// Centre of a node's box, in the page's pixels.
async function centreOf(page, i) {
	return page.evaluate((node) => {
		fizeau.flame.reveal(node);
		fizeau.flame.draw();
		const box = fizeau.flame.boxOf(node);
		const frame = document.getElementById("canvas").getBoundingClientRect();
		return { x: frame.left + (box.left + box.right) / 2, y: frame.top + box.top + 9 };
	}, i);
}

// Colour of the canvas at a point of the page, as #rrggbb.
function pixel(page, at) {
	return page.evaluate(({ x, y }) => {
		const canvas = document.getElementById("canvas");
		const box = canvas.getBoundingClientRect();
		const d = canvas.getContext("2d").getImageData(Math.round(x - box.left), Math.round(y - box.top), 1, 1).data;
		return `#${[...d.slice(0, 3)].map((v) => v.toString(16).padStart(2, "0")).join("")}`;
	}, at);
}

// Wait for something to become true. The page's policy forbids what waitForFunction does.
async function until(page, condition, argument) {
	const end = Date.now() + PATIENCE;
	while (!(await page.evaluate(condition, argument))) {
		if (Date.now() > end) throw new Error(`never true: ${condition}`);
		await page.waitForTimeout(15);
	}
}

// Open a page file, or a page of a server's. `problems` collects console errors, exceptions and
// network requests, except those to the page's own server.
async function open(browser, file, options = {}) {
	const context = await browser.newContext({
		viewport: { width: options.width ?? 1400, height: options.height ?? 860 },
		colorScheme: options.theme ?? "light",
		reducedMotion: options.motion ? "no-preference" : "reduce",
		deviceScaleFactor: options.scale ?? 1,
		javaScriptEnabled: options.javascript ?? true,
		hasTouch: options.touch ?? false, isMobile: options.touch ?? false,
		...(options.password && { httpCredentials: { username: "me", password: options.password } }),
	});
	context.setDefaultTimeout(PATIENCE);
	const page = await context.newPage();
	const problems = [];
	// Reading pixels back is what `pixel` above does, not the page.
	page.on("console", (m) => ["error", "warning"].includes(m.type()) && !m.text().includes("willReadFrequently") &&
		problems.push(`console: ${m.text()}`));
	page.on("pageerror", (e) => problems.push(`exception: ${e.message}`));
	const isServed = /^http:/.test(file);
	const mayAsk = (url) => /^(file|data|blob):/.test(url) || (isServed && new URL(url).origin === new URL(file).origin);
	page.on("crash", () => {
		hasCrashed = true;
		browser.close();
	});
	page.on("request", (r) => !mayAsk(r.url()) && problems.push(`request: ${r.url()}`));
	page.problems = problems;
	if (options.before) await page.addInitScript(options.before);
	await page.goto(isServed ? file : `file://${path.resolve(file)}${options.hash ? `#${options.hash}` : ""}`);
	if (options.javascript !== false && !options.unready) await page.waitForSelector("html[data-ready]");
	return page;
}

// Returns when the page is drawn for the width.
async function resize(page, width, height = 700) {
	await page.setViewportSize({ width, height });
	await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

module.exports = {
	centreOf, closeBrowser, findChromium, hasDied, launch, open, pixel, readTree, resize, until, withPage,
};
