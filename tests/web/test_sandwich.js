// SPDX-License-Identifier: MIT
// The sandwich of one function: its callers and its callees, each sample counted once.
"use strict";
const assert = require("node:assert/strict");
const { readTree, until, withPage } = require("./browser.js");
const { diffPage, nameOf, profilePage, someProgram } = require("./pages.js");
const { test } = require("./tap.js");

const base = someProgram(1, { skip: (_, i) => i % 13 === 0 });
const head = someProgram(2, { skip: (_, i) => i % 17 === 0, scale: 1.4 });

// Totals by path of both halves, from the samples: the stack is cut at the outermost frame.
function halvesOf(samples, name) {
	const halves = [new Map(), new Map()];
	for (const { stack, count } of samples) {
		const at = stack.findIndex((f) => f.name === name);
		if (at < 0) continue;
		[stack.slice(0, at + 1).reverse(), stack.slice(at)].forEach((path, k) => {
			let key = "";
			for (const f of path) {
				key += `|${nameOf(f)}`;
				halves[k].set(key, (halves[k].get(key) ?? 0) + count);
			}
		});
	}
	return halves;
}

function readHalves(page) {
	return page.evaluate(() => fizeau.sandwich.halves.map(({ picture: { tree, w } }) => {
		const { functions } = fizeau.data, keys = [""], out = [];
		for (let i = 1; i < tree.n; i++) {
			const f = tree.func[i];
			keys[i] = `${keys[tree.parent[i]]}|${functions.names[f]}\n${functions.files[functions.file[f]]}`;
			out.push([keys[i], tree.total[0][i], tree.total[1][i], w[i]]);
		}
		return out;
	}));
}

test("the sandwich has the callers and the callees of all calls, recursion counted once", async () => {
	await withPage(diffPage(base, head, ["exact", "time"]), {}, async (page) => {
		for (const name of ["function_0", "function_1", "function_7"]) {
			await page.evaluate((n) => fizeau.set({ tab: "sandwich", middle: fizeau.data.functions.names.indexOf(n) }), name);
			const halves = await readHalves(page), before = halvesOf(base, name), after = halvesOf(head, name);
			halves.forEach((nodes, k) => {
				assert.equal(nodes.length, new Set([...before[k].keys(), ...after[k].keys()]).size);
				for (const [key, b, h] of nodes) assert.deepEqual([b, h], [before[k].get(key) ?? 0, after[k].get(key) ?? 0], key);
			});
			assert.ok(halves[0][0][3] >= Math.max(halves[0][0][1], halves[0][0][2]));
		}
	});
});

test("g opens the sandwich of the selected frame, a click continues, and history goes back", async () => {
	await withPage(profilePage(head), {}, async (page) => {
		const node = (await readTree(page)).nodes.filter((n) => n.depth === 3).sort((a, b) => b.w - a.w)[0];
		for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
		await page.evaluate((i) => fizeau.selection.select(i), node.i);
		await page.keyboard.press("g");
		assert.ok(await page.isVisible("#sandwich"));
		assert.match(await page.innerText("#sandwich h2"), new RegExp(`^${node.name}:`));
		const hash = await page.evaluate(() => location.hash.slice(1));
		const target = await page.evaluate(() => {
			const [flame] = fizeau.sandwich.halves;
			const box = flame.canvas.getBoundingClientRect(), at = flame.boxOf(2);
			return { x: box.left + (at.left + at.right) / 2, y: box.top + at.top + 9, name: fizeau.data.functions.names[flame.picture.tree.func[2]] };
		});
		await page.mouse.move(target.x, target.y);
		assert.ok((await page.innerText("#tip")).includes(target.name));
		await page.mouse.click(target.x, target.y);
		assert.match(await page.innerText("#sandwich h2"), new RegExp(`^${target.name.replace(/[<>]/g, "\\$&")}:`));
		await page.keyboard.press("Backspace");
		await until(page, (n) => document.querySelector("#sandwich h2").textContent.startsWith(`${n}:`), node.name);
		await withPage(profilePage(head), { hash }, async (other) =>
			assert.match(await other.innerText("#sandwich h2"), new RegExp(`^${node.name}:`)));
	});
});

test("the sandwich fits both widths and both themes", async () => {
	const file = diffPage(base, head, ["exact"]);
	for (const width of [1400, 700])
		for (const theme of ["light", "dark"])
			await withPage(file, { width, theme, hash: "tab=sandwich" }, async (page) => {
				assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
				const heights = await page.$$eval(".half canvas", (list) => list.map((c) => c.clientHeight));
				assert.ok(heights.every((h) => h > 150), heights.join());
			});
});

test("a sandwich of very many callees opens", async () => {
	const main = { name: "main", file: "/srv/app/main.py", line: 1 };
	const wide = Array.from({ length: 200000 }, (_, i) => ({ tid: 1, stack: [main, { name: `leaf_${i}`, file: "/srv/app/leaf.py", line: 1 }], count: 1 }));
	await withPage(profilePage(wide), {}, async (page) => {
		await page.evaluate(() => fizeau.set({ tab: "sandwich", middle: fizeau.data.functions.names.indexOf("main") }));
		assert.equal((await readHalves(page))[1].length, wide.length + 1);
	});
});

test("the function is drawn once, between its callers and its callees, without a row for all", async () => {
	await withPage(diffPage(base, head, ["exact"]), {}, async (page) => {
		await page.evaluate(() => fizeau.set({ tab: "sandwich", middle: fizeau.data.functions.names.indexOf("function_1") }));
		const halves = await page.evaluate(() => fizeau.sandwich.halves.map((flame) => {
			const box = flame.canvas.getBoundingClientRect(), drawn = [];
			for (let y = 2; y < box.height; y += 3) {
				const node = flame.hit(box.width / 2, y);
				if (node >= 0) drawn.push(node ? fizeau.data.functions.names[flame.picture.tree.func[node]] : "All");
			}
			return { drawn: [...new Set(drawn)], first: flame.hit(box.width / 2, flame.boxOf(flame.hidden).top + 5) };
		}));
		assert.ok(halves[0].drawn.length >= 1, "there are callers");
		for (const { drawn } of halves) assert.ok(!drawn.includes("All"), drawn.join());
		assert.equal(halves[1].drawn[0], "function_1");
		const rows = await page.evaluate(() => fizeau.sandwich.halves.map((flame) => flame.needed - flame.content));
		assert.ok(rows.every((rest) => rest <= 0), "no row is outside of the content");
	});
});

test("without a choice, sandwich and source begin with the first change, or with code rather than markers", async () => {
	const at = (name) => ({ name, file: "/srv/app/work.py", line: 7 });
	const run = (slow) => [["slow", slow], ["quick", 4000]].map(([name, count]) => ({ tid: 1, stack: [at("main"), at(name)], count }))
		.concat({ tid: 1, stack: [{ name: "<GC>", file: "~", line: 0 }], count: 9000 });
	for (const tab of ["sandwich", "source"]) {
		await withPage(diffPage(run(1000), run(3500), ["exact", "time", "judged", "counted=instructions,count"]), { hash: `tab=${tab}` }, async (page) =>
			assert.equal(await page.evaluate(() => fizeau.data.functions.names[fizeau.model.middle()]), "slow"));
		await withPage(profilePage(run(1000)), { hash: `tab=${tab}` }, async (page) =>
			assert.equal(await page.evaluate(() => fizeau.data.functions.names[fizeau.model.middle()]), "quick"));
	}
});

test("a half takes no more than it needs, and the half that is missing takes a line", async () => {
	const at = (name) => ({ name, file: "/srv/app/deep.py", line: 3 });
	const deep = Array.from({ length: 60 }, (_, i) => at(`step_${i}`));
	await withPage(profilePage([{ tid: 1, stack: deep, count: 50 }]), { hash: "tab=sandwich" }, async (page) => {
		const show = async (name) => {
			await page.evaluate((n) => fizeau.set({ middle: fizeau.data.functions.names.indexOf(n) }), name);
			return page.evaluate(() => ({
				notes: [...document.querySelectorAll("#sandwich p")].filter((p) => p.offsetHeight).map((p) => p.textContent),
				heights: fizeau.sandwich.halves.map(({ scroller }) => scroller.offsetHeight), room: document.getElementById("sandwich").offsetHeight,
				rest: fizeau.sandwich.halves.map((flame) => flame.needed - flame.scroller.offsetHeight),
			}));
		};
		const root = await show("step_0");
		assert.deepEqual([root.notes, root.heights[0]], [["No callers."], 0]);
		assert.ok(root.heights[1] > 0.85 * root.room, JSON.stringify(root));
		await page.evaluate(() => document.getElementById("skip").click());
		assert.equal(await page.evaluate(() => document.activeElement.id), "grid-callees");
		const svg = await page.evaluate(() => $$save.svgText(fizeau));
		assert.match(svg, /<title>step_59 /);
		assert.doesNotMatch(svg, /NaN|Infinity/);
		const leaf = await show("step_59");
		assert.deepEqual(leaf.notes, ["No callees."]);
		assert.ok(leaf.heights[0] > 0.75 * leaf.room && leaf.rest[1] === 0, JSON.stringify(leaf));
		const near = await show("step_3");
		assert.deepEqual([near.notes, near.rest[0]], [[], 0], "all callers are in view");
		assert.ok(near.heights[1] > 0.6 * near.room, JSON.stringify(near));
		const middle = await show("step_30");
		assert.ok(Math.abs(middle.heights[0] - middle.heights[1]) < 2, "both halves scroll");
	});
});
