// SPDX-License-Identifier: MIT
// The pictures in docs/images, made from real pages:
//
//   tests/web/pictures.js DIFF.html PROFILE.html FOLDER
"use strict";
const path = require("node:path");
const { centreOf, closeBrowser, readTree, withPage } = require("./browser.js");

// Put the pointer on the widest frame of a function, to show its tooltip.
async function point(page, name) {
	const { nodes } = await readTree(page);
	const node = nodes.filter((n) => n.name === name && n.w > 0).sort((a, b) => b.w - a.w)[0];
	if (!node) throw new Error(`no frame of ${name}`);
	const at = await centreOf(page, node.i);
	await page.mouse.move(at.x, at.y);
}

async function widestChange(page) {
	return page.evaluate(() => document.querySelector(".spot .what").textContent);
}

const pictures = [
	["diff", "diff-light", { theme: "light" }, async (page) => point(page, await widestChange(page))],
	["diff", "diff-dark", { theme: "dark" }],
	["diff", "diff-narrow-light", { theme: "light", width: 700, height: 860 }],
	["diff", "diff-narrow-dark", { theme: "dark", width: 700, height: 860 }],
	["diff", "diff-removed", { theme: "light", hash: "elided=1" }],
	["diff", "diff-table", { theme: "light", hash: "tab=table" }],
	["profile", "flame-light", { theme: "light" }],
	["profile", "flame-dark", { theme: "dark" }, (page) => page.evaluate(() => fizeau.findFunction(fizeau.data.functions.names.findIndex((n) => n === document.querySelector(".spot .what").textContent)))],
];

async function main() {
	const [diff, profile, folder] = process.argv.slice(2);
	const files = { diff, profile };
	for (const [kind, name, options, prepare] of pictures)
		await withPage(files[kind], { height: 700, ...options }, async (page) => {
			await prepare?.(page);
			await page.waitForTimeout(50);
			await page.screenshot({ path: path.join(folder, `${name}.png`) });
		});
	await closeBrowser();
}

main();
