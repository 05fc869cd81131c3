// SPDX-License-Identifier: MIT
// The documentation as a website: any width, light and dark, and accessibility.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { execFileSync } = require("node:child_process");
const { complaints } = require("./axe.js");
const { withPage } = require("./browser.js");
const pages = require("./pages.js");
const { test } = require("./tap.js");

const site = path.join(pages.folder, "site");

function sitePage(name) {
	if (!fs.existsSync(site)) execFileSync(path.join(__dirname, "../../packaging/website.py"), [site]);
	return path.join(site, name);
}

for (const name of ["index.html", "alternatives.html", "man/fizeau-diff.html"])
	test(`${name}: fits its window, contains its named parts, axe finds nothing`, async () => {
		for (const [width, theme] of [[1280, "light"], [700, "dark"], [320, "light"]])
			await withPage(sitePage(name), { theme, width, unready: true }, async (page) => {
				const seen = await page.evaluate(() => ({
					wide: document.documentElement.scrollWidth,
					pictures: [...document.images].filter((i) => !i.naturalWidth).map((i) => i.src),
					text: document.querySelector("main").getBoundingClientRect().top,
					parts: document.querySelectorAll("nav h2").length,
				}));
				assert.equal(seen.wide, width);
				assert.deepEqual(seen.pictures, []);
				assert.ok(seen.text < 200, `the text begins at ${seen.text}`);
				assert.ok(seen.parts >= 6);
				// Not reading the sheets, which a page from the disk may not.
				assert.deepEqual(await complaints(page, { preload: false }), []);
			});
	});
