// SPDX-License-Identifier: MIT
// The numbers in the page equal those of the command line, and those of the samples.
"use strict";
const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const { readTree, withPage } = require("./browser.js");
const { cliJson, diffPage, newFile, pathCosts, profilePage, someProgram, withWatching, writeProfile } = require("./pages.js");
const { test } = require("./tap.js");

const base = someProgram(1, { skip: (_, i) => i % 13 === 0 });
const head = someProgram(2, { skip: (_, i) => i % 17 === 0, scale: 1.4 });

function compareWith(nodes, side, costs) {
	const shown = nodes.filter((n) => n[side].total > 0);
	assert.equal(shown.length, costs.size);
	for (const n of shown) assert.deepEqual(n[side], costs.get(n.key), n.key);
}

test("a profile's page has every node of the command line's tree, in its order", async () => {
	const file = writeProfile(head);
	const json = cliJson("replay", file);
	await withPage(profilePage(file), {}, async (page) => {
		const { nodes } = await readTree(page);
		assert.deepEqual(
			nodes.map((n) => [n.name, n.file, n.parent - 1, n.head.self, n.head.total]),
			json.nodes.map((n) => [n.name, n.file, n.parent, n.self, n.total]));
	});
});

test("a profile's page sums the samples", async () => {
	await withPage(profilePage(head), {}, async (page) => {
		const { nodes, all } = await readTree(page);
		compareWith(nodes, "head", pathCosts(head));
		assert.equal(all[1], head.reduce((n, s) => n + s.count, 0));
	});
});

test("a diff's page has every node of the command line's union tree", async () => {
	const files = [writeProfile(base), writeProfile(head)];
	const json = cliJson("diff", ...files, "--match", "exact");
	await withPage(diffPage(...files, ["exact"]), {}, async (page) => {
		const { nodes } = await readTree(page);
		assert.deepEqual(
			nodes.map((n) => [n.name, n.parent - 1, n.base.self, n.base.total, n.head.self, n.head.total]),
			json.nodes.map((n) => [n.name, n.parent, n.base_self, n.base_total, n.head_self, n.head_total]));
		assert.equal(await page.evaluate(() => fizeau.data.factor), json.scale.factor);
	});
});

test("each side of a diff's page sums its own samples", async () => {
	await withPage(diffPage(base, head, ["exact"]), {}, async (page) => {
		const { nodes } = await readTree(page);
		compareWith(nodes, "base", pathCosts(base));
		compareWith(nodes, "head", pathCosts(head));
	});
});

for (const [scale, kept] of [[1, "Int32Array"], [200, "Float64Array"]])
	test(`costs of a single thread, each times ${scale}, are those of its samples on both sides`, async () => {
		const sides = [1, 2].map((seed) => someProgram(seed, { threads: 1, scale }));
		await withPage(diffPage(...sides, ["exact"]), {}, async (page) => {
			const { nodes } = await readTree(page);
			sides.forEach((samples, side) => compareWith(nodes, ["base", "head"][side], pathCosts(samples)));
			// What is small takes less memory.
			assert.equal(await page.evaluate(() => fizeau.data.self[1].constructor.name), kept);
		});
	});

test("siblings are side by side inside their caller", async () => {
	await withPage(profilePage(head), {}, async (page) => {
		const { nodes, all } = await readTree(page);
		const right = new Map([[0, { end: all[1], next: 0 }]]);
		for (const n of nodes) {
			const parent = right.get(n.parent);
			assert.ok(n.x >= parent.next - 1e-6 && n.x + n.w <= parent.end + 1e-6, n.key);
			parent.next = n.x + n.w;
			right.set(n.i, { end: n.x + n.w, next: n.x });
		}
	});
});

test("the table has the command line's functions", async () => {
	const files = [writeProfile(base), writeProfile(head)];
	const json = cliJson("diff", ...files, "--match", "exact");
	await withPage(diffPage(...files, ["exact"]), {}, async (page) => {
		const rows = await page.evaluate(() => {
			const { n, names } = fizeau.data.functions;
			const { self, total } = fizeau.costs;
			return names.slice(0, n).map((name, f) => [name, self[0][f], total[0][f], self[1][f], total[1][f]]);
		});
		const sorted = (list) => list.map((row) => row.join(" ")).sort();
		assert.deepEqual(sorted(rows),
			sorted(json.functions.map((f) => [f.name, f.base_self, f.base_total, f.head_self, f.head_total])));
	});
});

test("inverted: every sample once, by its leaf", async () => {
	await withPage(diffPage(base, head, ["exact"]), { hash: "inverted=1" }, async (page) => {
		const { nodes, all, inverted } = await readTree(page);
		assert.ok(inverted);
		compareWith(nodes, "base", pathCosts(base, { inverted: true }));
		compareWith(nodes, "head", pathCosts(head, { inverted: true }));
		const roots = nodes.filter((n) => n.depth === 1);
		assert.equal(roots.reduce((n, r) => n + r.head.total, 0), all[1]);
		assert.equal(roots.reduce((n, r) => n + r.base.total, 0), all[0]);
	});
});

test("an inverted tree that is too large to open is correct where opened", async () => {
	await withPage(diffPage(base, head, ["exact"]), { hash: "inverted=1" }, async (page) => {
		const { nodes } = await readTree(page);
		const whole = new Map(nodes.map((n) => [n.key, n]));
		// As if the tree were large: parts below a twentieth stay closed, except the zoomed path.
		const partial = await page.evaluate(() => {
			const { data } = fizeau;
			const upright = fizeau.model.upright();
			const open = $$tree.invertTree(upright, data.functions.n, data.factor);
			let deep = 1;
			for (let i = 1; i < open.n; i++) if (open.depth[i] > open.depth[deep]) deep = i;
			const zoom = $$tree.pathOf(open, deep);
			const tree = $$tree.invertTree(upright, data.functions.n, data.factor, zoom, { openAllBelow: 0, narrowest: 0.05 });
			const keys = [""], out = [];
			for (let i = 1; i < tree.n; i++) {
				const f = tree.func[i];
				keys[i] = `${keys[tree.parent[i]]}|${data.functions.names[f]}\n${data.functions.files[data.functions.file[f]]}`;
				out.push({ key: keys[i], base: tree.total[0][i], head: tree.total[1][i] });
			}
			return { out, zoomed: $$tree.pathOf(tree, $$tree.nodeOfPath(tree, zoom)).length, want: zoom.length, n: open.n };
		});
		assert.ok(partial.out.length < partial.n / 2);
		assert.equal(partial.zoomed, partial.want);
		for (const n of partial.out) {
			assert.equal(n.base, whole.get(n.key).base.total, n.key);
			assert.equal(n.head, whole.get(n.key).head.total, n.key);
		}
	});
});

test("a thread filter keeps exactly that thread's samples, on both sides, also inverted", async () => {
	const label = "tid 101";
	for (const inverted of [false, true])
		await withPage(diffPage(base, head, ["exact"]), { hash: `thread=${encodeURIComponent(label)}${inverted ? "&inverted=1" : ""}` }, async (page) => {
			assert.deepEqual(await page.evaluate(() => fizeau.data.header.threads.map((t) => t.label).sort()), ["tid 100", label, "tid 102"]);
			const { nodes } = await readTree(page);
			compareWith(nodes, "base", pathCosts(base, { tid: 101, inverted }));
			compareWith(nodes, "head", pathCosts(head, { tid: 101, inverted }));
		});
});

test("elided shows what was removed, with the base's widths, and nothing else", async () => {
	const before = pathCosts(base), after = pathCosts(head);
	const removed = new Map([...before].filter(([key]) => !after.has(key)));
	assert.ok(removed.size > 3);
	await withPage(diffPage(base, head, ["exact"]), { hash: "elided=1" }, async (page) => {
		const { nodes } = await readTree(page);
		const shown = nodes.filter((n) => n.w > 0);
		for (const n of shown) {
			const cost = removed.get(n.key);
			if (cost) assert.deepEqual(n.base, cost, n.key);
			else assert.equal(n.base.self, 0, n.key);
			if (!cost) {
				const below = [...removed].filter(([key]) => key.startsWith(`${n.key}|`)).reduce((sum, [, c]) => sum + c.self, 0);
				assert.equal(n.base.total, below, n.key);
			}
		}
		assert.equal(shown.filter((n) => removed.has(n.key)).length, removed.size);
	});
});

test("names are read unchanged: plain, long, and with multi-byte letters", async () => {
	const long = "long_".repeat(60), plain = ["f", "a_name", long];
	for (const names of [plain, [...plain, "größer", "\u6bd4\u8f03", `${long}\u{1f525}`]]) {
		const stack = names.map((name) => ({ name, file: `/srv/${name.slice(0, 20)}.py`, line: 1 }));
		await withPage(profilePage([{ tid: 1, stack, count: 3 }]), {}, async (page) => {
			const read = await readTree(page);
			assert.deepEqual(read.nodes.map((n) => [n.name, n.file]), stack.map((f) => [f.name, f.file]));
		});
	}
});

test("a stack of 50,000 frames is drawn, scrolled and inverted", async () => {
	const deep = Array.from({ length: 50000 }, (_, i) => ({ name: i % 2 ? "odd" : "even", file: "/srv/deep.py", line: 3 }));
	await withPage(profilePage([{ tid: 1, stack: deep, count: 7 }, { tid: 1, stack: deep.slice(0, 3), count: 1 }]), {}, async (page) => {
		assert.equal(await page.evaluate(() => fizeau.data.deepest), 50000);
		const last = await page.evaluate(() => {
			fizeau.selection.select(fizeau.data.n - 1);
			const box = fizeau.flame.boxOf(fizeau.data.n - 1);
			return fizeau.flame.hit(box.left + 5, box.top + 8) === fizeau.data.n - 1;
		});
		assert.ok(last);
		await page.keyboard.press("i");
		assert.equal(await page.evaluate(() => fizeau.flame.picture.tree.total[1][1]), 8 - 1);
		await page.keyboard.press("f");
	});
});

test("a recording's page reports that its waits were sampled", async () => {
	const file = newFile(".html");
	execFileSync(process.env.FIZEAU, ["run", "--wait", "--engine", "read", "-o", file, "--", "python3", "-c",
		"from watching import LASTING; exec(LASTING); last(20, lambda: time.sleep(0.01))"],
	{ stdio: "ignore", env: withWatching });
	await withPage(file, {}, async (page) => {
		const rows = await page.evaluate(() =>
			[...document.querySelectorAll("#sidebar dt, #sidebar th")].filter((e) => /^waits$/i.test(e.textContent))
				.map((e) => e.nextElementSibling.textContent));
		assert.deepEqual(rows, ["sampled", "sampled"]);
	});
});
