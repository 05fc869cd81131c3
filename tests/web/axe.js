// SPDX-License-Identifier: MIT
// Accessibility checks of a page by axe.
"use strict";
const fs = require("node:fs");

const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

// Returns a line for each faulty element in the page's current state.
async function complaints(page, options = {}) {
	if (!(await page.evaluate(() => Boolean(globalThis.axe)))) await page.evaluate(axe);
	const found = await page.evaluate((more) => globalThis.axe.run(document, { resultTypes: ["violations"], ...more }), options);
	return found.violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(" ")} ${(n.any[0] ?? n.all[0] ?? n.none[0])?.message ?? ""}`));
}

module.exports = { complaints };
