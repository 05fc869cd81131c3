// SPDX-License-Identifier: MIT
// All tests of pages, in one browser, and of their modules, without one: node main.js [WORD...].
// FZ_NO_PAGES contains the reason if no pages can be opened.
"use strict";
const fs = require("node:fs");
const { runAll, test } = require("./tap.js");

function requireAll(pattern) {
	for (const file of fs.readdirSync(__dirname).sort()) if (pattern.test(file)) require(`./${file}`);
}

// Why no page can be opened; with pages, what is to be done at the end.
function openPages() {
	if (process.env.FZ_NO_PAGES) return { why: process.env.FZ_NO_PAGES };
	const { closeBrowser, findChromium, hasDied } = require("./browser.js");
	if (!findChromium()) return { why: "no chromium" };
	const { folder } = require("./pages.js");
	requireAll(/^test_.*\.js$/);
	return {
		hasDied,
		close: async () => {
			await closeBrowser();
			fs.rmSync(folder, { recursive: true, force: true });
		},
	};
}

async function main() {
	requireAll(/^unit_.*\.js$/);
	const { why, hasDied, close } = openPages();
	if (why) test("pages in a browser", () => why);
	const isGood = await runAll(process.argv.slice(2), hasDied);
	await close?.();
	process.exitCode = isGood ? 0 : 1;
}

main();
