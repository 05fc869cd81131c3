// SPDX-License-Identifier: MIT
// Layouts of a diff: widths of the head, the base, both, and of the change.
"use strict";
const assert = require("node:assert/strict");
const { centreOf, readTree, withPage } = require("./browser.js");
const { diffPage, pathCosts, someProgram } = require("./pages.js");
const { test } = require("./tap.js");

const base = someProgram(1, { skip: (_, i) => i % 13 === 0 });
const head = someProgram(2, { skip: (_, i) => i % 17 === 0, scale: 1.4 });

// Widths by path of a layout, computed from the samples: `own` makes them from callees outward.
function expected(widthOf, options) {
	const before = pathCosts(base, options), after = pathCosts(head, options);
	const none = { self: 0, total: 0 };
	const keys = [...new Set([...before.keys(), ...after.keys()])].sort((a, b) => b.split("|").length - a.split("|").length);
	const widths = new Map(), below = new Map();
	for (const key of keys) {
		const w = widthOf(before.get(key) ?? none, after.get(key) ?? none, below.get(key) ?? 0);
		widths.set(key, w);
		const up = key.slice(0, key.lastIndexOf("|"));
		below.set(up, (below.get(up) ?? 0) + w);
	}
	return widths;
}

const layouts = {
	union: (b, h, below) => Math.max(b.total, h.total, below),
	delta: (b, h, below) => Math.abs(h.self - b.self) + below,
};

test("union is as wide as the wider side, all change as wide as all change below", async () => {
	await withPage(diffPage(base, head, ["exact", "time"]), {}, async (page) => {
		for (const [layout, widthOf] of Object.entries(layouts))
			for (const inverted of [false, true]) {
				await page.evaluate((s) => fizeau.set(s), { layout, inverted });
				const { nodes } = await readTree(page);
				const widths = expected(widthOf, { inverted });
				assert.equal(nodes.length, widths.size);
				for (const n of nodes) assert.equal(n.w, widths.get(n.key), `${layout} ${inverted} ${n.key}`);
				assert.equal(await page.evaluate(() => fizeau.flame.views().length), 1, "nothing stands outside");
			}
	});
});

test("a tooltip names the total of which a width is a share", async () => {
	await withPage(diffPage(base, head, ["exact", "time"]), {}, async (page) => {
		for (const [layout, words] of [["union", "of both sides"], ["delta", "of all change"]]) {
			await page.selectOption("#select-layout", layout);
			const node = (await readTree(page)).nodes.find((n) => n.depth === 1);
			const at = await centreOf(page, node.i);
			await page.mouse.move(at.x, at.y);
			assert.match(await page.innerText("#tip"), new RegExp(words));
		}
		assert.match(await page.evaluate(() => location.hash), /layout=delta/);
	});
});

test("a key cycles through all layouts, and a diff without change is reported", async () => {
	await withPage(diffPage(base, head), {}, async (page) => {
		const seen = [];
		for (let i = 0; i < 4; i++) {
			await page.keyboard.press("w");
			seen.push(await page.inputValue("#select-layout"));
		}
		assert.deepEqual(seen, ["base", "union", "delta", "head"]);
	});
	await withPage(diffPage(base, base), { hash: "layout=delta" }, async (page) =>
		assert.equal(await page.innerText("#empty"), "Nothing changed."));
});
