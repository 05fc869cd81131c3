// SPDX-License-Identifier: MIT
// The page of a heap: it has types and holders, no functions, calls or source.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const { centreOf, readTree, withPage } = require("./browser.js");
const { diffPage, profilePage, writeText } = require("./pages.js");
const { test } = require("./tap.js");

const heap = (sizes) => writeText(sizes.map(([path, size]) => `${path} ${size}\n`).join(""));
const before = () => heap([["store;Session;dict;list", 4000000], ["store;old_cache;dict", 900000], ["sys", 300000]]);
const after = () => heap([["store;Session;dict;list", 9000000], ["store;new_cache;dict", 900000], ["sys", 300000]]);
const options = ["counted=memory,bytes", "heap"];

// All texts that the page shows now, and those of tooltips and for screen readers.
const textsOf = (page) => page.evaluate(() => [
	...document.body.innerText.split("\n"),
	...[...document.querySelectorAll("*")].filter((e) => e.checkVisibility())
		.flatMap((e) => ["title", "aria-label", "placeholder"].map((name) => e.getAttribute(name) ?? "")),
]);

const ofCode = /function|caller|callee|called|\bcalls?\b|sample|source/i;
const isHelp = /^(next|previous) .*in the source|^next colour mode/;

async function look(page, where) {
	const wrong = (await textsOf(page)).filter((text) => ofCode.test(text) && !isHelp.test(text));
	assert.deepEqual(wrong, [], where);
}

async function walk(page) {
	const tabs = await page.$$eval("#tabs button", (list) => list.map((b) => b.dataset.value));
	await page.evaluate(() => document.querySelectorAll("details").forEach((box) => (box.open = true)));
	for (const tab of tabs) {
		await page.evaluate((name) => fizeau.set({ tab: name }), tab);
		await look(page, tab);
	}
	await page.evaluate(() => fizeau.set({ tab: "flame" }));
	for (const { i } of (await readTree(page)).nodes.slice(0, 4)) {
		const at = await centreOf(page, i);
		await page.mouse.move(at.x, at.y);
		await look(page, "tooltip");
		await page.mouse.click(at.x, at.y, { button: "right" });
		await look(page, "menu");
		await page.keyboard.press("Escape");
	}
	await page.click("#menu-view summary, #menu-view button");
	await look(page, "view");
	await page.keyboard.press("Escape");
	await page.fill("#query", "s.*");
	await look(page, "search");
	await page.fill("#query", "");
	await page.evaluate(() => document.activeElement.blur());
	await page.keyboard.press("?");
	await look(page, "help");
	await page.keyboard.press("Escape");
	return tabs;
}

test("the page of a heap speaks of types and holders", async () => {
	await withPage(profilePage(before(), options), {}, async (page) => {
		assert.deepEqual(await walk(page), ["flame", "sandwich", "table"]);
		assert.equal(await page.innerText("#tabs [data-value=sandwich]"), "Holders");
	});
});

test("the comparison of two heaps speaks of types and holders, which are new or gone", async () => {
	for (const judged of [["judged"], []])
		await withPage(diffPage(before(), after(), ["exact", "time", ...options, ...judged]), {}, async (page) => {
			assert.deepEqual(await walk(page), ["flame", "sandwich", "table", "matches"]);
			await page.evaluate(() => fizeau.set({ tab: "table", cost: "total" }));
			assert.match(await page.innerText("#table"), /7 types and holders/);
			if (judged.length) assert.match(await page.innerText("#table"), /\bnew\b/);
		});
});

test("a heap has no source to open", async () => {
	await withPage(profilePage(before(), options), { hash: "tab=source" }, async (page) => {
		assert.equal(await page.evaluate(() => fizeau.state.tab), "flame");
		await page.keyboard.press("l");
		assert.equal(await page.evaluate(() => fizeau.state.tab), "flame");
	});
});

test("a heap without a file is named by its program", async () => {
	const file = profilePage(before(), options);
	assert.match(fs.readFileSync(file, "utf8"), /<title>Heap &middot; /);
	fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace(/"label": "[^"]*"/, '"label": ""')
		.replace('"facts": [', '"facts": [["program", "shop.py"], '));
	await withPage(file, {}, async (page) => {
		assert.equal(await page.title(), "Heap · shop.py");
		const shown = await page.$$eval(".facts dt", (names) => names.map((n) => n.textContent));
		assert.ok(shown.includes("program") && !shown.includes("clock"), `${shown}`);
	});
});
