// SPDX-License-Identifier: MIT
// The pictures in docs/images, made from real pages:
//
//   tests/web/pictures.js DIFF.html PROFILE.html FOLDER [every]
//
//   tests/web/pictures.js pairs FOLDER PAGE.html...     as a page opens, at four widths
//
// `every`: not those, but each layout and view of the pages in both themes, wide and narrow, to look at.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { centreOf, closeBrowser, readTree, withPage } = require("./browser.js");
const { smaller } = require("./png.js");

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

const aFunction = (page) => page.evaluate(() => {
	const name = document.querySelector(".spot .what").textContent;
	fizeau.finder.findFunction(fizeau.data.functions.names.indexOf(name));
});

const pictures = [
	["diff", "diff-light", { theme: "light" }, async (page) => point(page, await widestChange(page))],
	["diff", "diff-dark", { theme: "dark" }],
	["diff", "diff-narrow", { theme: "light", width: 700, height: 860 }],
	["diff", "diff-removed", { theme: "light", hash: "elided=1" }],
	["diff", "diff-union", { theme: "light", hash: "layout=union" }],
	["diff", "diff-delta", { theme: "dark", hash: "layout=delta" }],
	["diff", "diff-inverted", { theme: "dark", hash: "inverted=1" }],
	["diff", "diff-sandwich", { theme: "light", hash: "tab=sandwich" }],
	["diff", "diff-source", { theme: "light", hash: "tab=source" }],
	["diff", "diff-table", { theme: "light", hash: "tab=table" }],
	["diff", "diff-matches", { theme: "light", hash: "tab=matches" }],
	["profile", "flame-dark", { theme: "dark" }, aFunction],
];

// What `every` combines with themes and widths.
const views = {
	diff: ["", "layout=base", "layout=union", "layout=delta", "elided=1", "inverted=1", "elided=1&inverted=1", "up=1", "show=base", "show=head",
		"by=total", "by=share", "by=surprise", "tab=sandwich", "tab=source", "tab=table", "tab=table&cost=total", "tab=matches", "verdict=changed", "swapped=1"],
	profile: ["", "inverted=1", "by=total", "tab=sandwich", "tab=source", "tab=table"],
};

function everything() {
	return Object.entries(views).flatMap(([kind, hashes]) => hashes.flatMap((hash) => ["light", "dark"].flatMap((theme) => [1400, 700].map((width) =>
		[kind, [kind, hash.replace(/\W/g, "-") || "plain", theme, width].join("-"), { theme, width, hash }]))));
}

const widths = [[1500, "light", 860], [1280, "dark", 800], [700, "light", 860], [390, "dark", 780]];

async function take(html, folder, name, options, prepare) {
	await withPage(html, { height: 700, ...options }, async (page) => {
		await prepare?.(page);
		await page.waitForTimeout(50);
		const file = path.join(folder, `${name}.png`);
		fs.writeFileSync(file, await smaller(page.context(), await page.screenshot()));
	});
}

async function takePairs(folder, files) {
	for (const file of files)
		for (const [width, theme, height] of widths)
			await take(file, folder, `pair-${path.basename(file, ".html")}-${width}`, { width, theme, height });
}

async function takeAll(diff, profile, folder, which) {
	const files = { diff, profile };
	for (const [kind, name, options, prepare] of which === "every" ? everything() : pictures)
		await take(files[kind], folder, name, options, prepare);
}

async function main() {
	const [first, ...rest] = process.argv.slice(2);
	if (first === "pairs") await takePairs(rest[0], rest.slice(1));
	else await takeAll(first, ...rest);
	await closeBrowser();
}

main();
