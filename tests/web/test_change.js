// SPDX-License-Identifier: MIT
// Ways to see what changed: steps from change to change, before and after in turn, sides swapped.
"use strict";
const assert = require("node:assert/strict");
const { centreOf, pixel, readTree, until, withPage } = require("./browser.js");
const { diffPage, someProgram } = require("./pages.js");
const { test } = require("./tap.js");

const base = someProgram(1, { skip: (_, i) => i % 13 === 0 });
const head = someProgram(2, { skip: (_, i) => i % 17 === 0, scale: 1.4 });
const f = (name) => ({ name, file: "/srv/app/steps.py", line: 5 });
const selected = (page) => page.evaluate(() => fizeau.flame.selected);

test("] and [ step from change to change, largest first", async () => {
	await withPage(diffPage(base, head, ["exact", "time"]), { hash: "layout=union" }, async (page) => {
		const delta = (n) => Math.abs(n.head.self - n.base.self);
		const { nodes } = await readTree(page);
		const order = nodes.map(delta).sort((a, b) => b - a);
		const seen = [];
		for (let i = 0; i < 5; i++) {
			await page.keyboard.press("]");
			seen.push(await selected(page));
		}
		assert.equal(new Set(seen).size, 5);
		assert.deepEqual(seen.map((i) => delta(nodes.find((n) => n.i === i))), order.slice(0, 5));
		await page.keyboard.press("[");
		assert.equal(await selected(page), seen[3]);
		assert.match(await page.textContent("#hint"), /^Change 4 of /);
	});
	await withPage(diffPage(base, base), {}, async (page) => {
		await page.keyboard.press("]");
		assert.equal(await page.textContent("#spoken"), "Nothing changed.");
	});
});

test("b shows before and after in the same places", async () => {
	const before = [{ tid: 1, stack: [f("main"), f("shrinks")], count: 400 }, { tid: 1, stack: [f("main"), f("grows")], count: 100 }];
	const after = [{ tid: 1, stack: [f("main"), f("shrinks")], count: 100 }, { tid: 1, stack: [f("main"), f("grows")], count: 400 }];
	await withPage(diffPage(before, after, ["exact", "time"]), {}, async (page) => {
		const part = async (name) => {
			const { i } = (await readTree(page)).nodes.find((n) => n.name === name);
			const box = await page.evaluate((node) => fizeau.flame.boxOf(node), i);
			const at = await centreOf(page, i);
			const page_colour = await page.evaluate(() => fizeau.flame.palette.page);
			const from = at.x - (box.right - box.left) / 2;
			const colours = [];
			for (let k = 1; k < 20; k++) colours.push(await pixel(page, { x: from + ((box.right - box.left) * k) / 20, y: at.y - 6 }));
			return colours.filter((c) => c !== page_colour).length;
		};
		await page.keyboard.press("b");
		assert.equal(await page.inputValue("#select-layout"), "union");
		assert.equal(await page.textContent("#spoken"), "Before");
		assert.match(await page.innerText("#legend"), /share of self/);
		assert.deepEqual([await part("shrinks"), (await part("grows")) <= 5], [19, true]);
		await page.keyboard.press("b");
		assert.equal(await page.textContent("#spoken"), "After");
		assert.deepEqual([(await part("shrinks")) <= 5, await part("grows")], [true, 19]);
		await page.keyboard.press("Escape");
		assert.equal(await page.evaluate(() => fizeau.flame.blink), null);
		assert.match(await page.innerText("#legend"), /slower/);
	});
});

test("x swaps the sides as if they were given in reverse", async () => {
	const read = async (page) => {
		const { nodes, all } = await readTree(page);
		const sorted = nodes.map(({ key, base: b, head: h, w }) => [key, b, h, w]).sort((a, b) => (a[0] < b[0] ? -1 : 1));
		return { sorted, all, spots: await page.$$eval(".spot .much", (list) => list.map((e) => e.textContent)) };
	};
	const get = async (file, key, hash = "") => {
		let result;
		await withPage(file, { hash }, async (page) => {
			if (key) await page.keyboard.press(key);
			result = await read(page);
		});
		return result;
	};
	const file = diffPage(base, head, ["exact", "time"]);
	const mirrored = await get(diffPage(head, base, ["exact", "time"]));
	assert.deepEqual(await get(file, "x"), mirrored);
	assert.deepEqual(await get(file, "", "swapped=1"), mirrored, "a link brings it back");
	await withPage(file, {}, async (page) => {
		const first = await read(page);
		await page.keyboard.press("x");
		assert.match(await page.textContent("#title"), /swapped/);
		await page.evaluate(() => fizeau.set({ tab: "table" }));
		assert.equal(await page.textContent("#title"), "Table, swapped");
		await page.evaluate(() => fizeau.set({ tab: "flame" }));
		await page.keyboard.press("x");
		assert.deepEqual(await read(page), first);
		await page.evaluate(() => { location.hash = "swapped=1"; });
		await until(page, () => fizeau.data.isSwapped);
		assert.deepEqual((await read(page)).sorted, mirrored.sorted);
	});
});

test("y copies the link of this view", async () => {
	await withPage(diffPage(base, head), { hash: "layout=delta" }, async (page) => {
		await page.evaluate(() => { navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }; });
		await page.keyboard.press("y");
		await until(page, () => globalThis.copied);
		assert.equal(await page.evaluate(() => copied), await page.evaluate(() => location.href));
	});
});
