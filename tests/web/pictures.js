// SPDX-License-Identifier: MIT
// The pictures in docs/images, made from real pages:
//
//   tests/web/pictures.js FOLDER KIND=PAGE.html...            those of the pages that are given
//   tests/web/pictures.js every FOLDER KIND=PAGE.html...      each layout and view of a diff and of a
//                                                             profile, in both themes, wide and narrow
//   tests/web/pictures.js pairs FOLDER PAGE.html...           as a page opens, at four widths
//
// Kinds: diff, profile, time (a profile of threads), heat and heat-diff (maps on one page), sums (a diff with
// changes that are certain only together with other paths), ci (a gate's report), repository and change (a
// server's addresses of these).
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

// Zoom to the caller of the widest frame whose change is certain only together with other paths, and point at it.
async function showSum(page) {
	const widest = () => page.evaluate(() => {
		const { tree, what, w } = fizeau.flame.picture, family = $$frame_colour.familyOf(tree, what);
		return Array.from(tree.func.keys()).slice(1).filter((i) => w[i] > 0 && $$frame_colour.isOfSum(tree, i, family)).reduce((a, b) => (w[b] > w[a] ? b : a));
	});
	await page.evaluate((i) => fizeau.selection.select(fizeau.flame.picture.tree.parent[i]), await widest());
	await page.keyboard.press("Enter");
	const node = await widest();
	const at = await centreOf(page, node);
	await page.mouse.move(at.x, at.y);
}

const worstBenchmark = (page) => page.click("#benchmarks .benchmark");

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
	["time", "flame-time", { theme: "light" }],
	["sums", "diff-sums", { theme: "light" }, showSum],
	["ci", "ci-list-light", { theme: "light", width: 1200, height: 540 }],
	["ci", "ci-diff-dark", { theme: "dark", width: 1200 }, worstBenchmark],
	["repository", "serve-benchmarks-light", { theme: "light", width: 1280, height: 760, unready: true }],
	["repository", "serve-benchmarks-dark", { theme: "dark", width: 390, height: 780, unready: true }],
	["change", "serve-change-dark", { theme: "dark", width: 1280, height: 680, unready: true }],
	["change", "serve-change-light", { theme: "light", width: 390, height: 780, unready: true }],
	["heat", "heatmap-light", { theme: "light", width: 1200, height: 760 }],
	["heat-diff", "heatmap-diff-dark", { theme: "dark", width: 1200, height: 760, hash: "code=file" }],
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

async function takeAll(folder, pages, list) {
	const files = new Map(pages.map((page) => [page.slice(0, page.indexOf("=")), page.slice(page.indexOf("=") + 1)]));
	for (const [kind, name, options, prepare] of list)
		if (files.has(kind)) await take(files.get(kind), folder, name, options, prepare);
}

async function main() {
	const [first, ...rest] = process.argv.slice(2);
	if (first === "pairs") await takePairs(rest[0], rest.slice(1));
	else if (first === "every") await takeAll(rest[0], rest.slice(1), everything());
	else await takeAll(first, rest, pictures);
	await closeBrowser();
}

main();
