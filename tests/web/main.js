// SPDX-License-Identifier: MIT
// All tests of the page, in one browser: node main.js [WORD...]
"use strict";
const fs = require("node:fs");
const { closeBrowser, findChromium } = require("./browser.js");
const { folder } = require("./pages.js");
const { runAll } = require("./tap.js");

async function main() {
	if (!findChromium()) {
		console.log("1..0 # SKIP no chromium");
		return;
	}
	for (const file of fs.readdirSync(__dirname).sort())
		if (/^test_.*\.js$/.test(file)) require(`./${file}`);
	const isGood = await runAll(process.argv.slice(2));
	await closeBrowser();
	fs.rmSync(folder, { recursive: true, force: true });
	process.exitCode = isGood ? 0 : 1;
}

main();
