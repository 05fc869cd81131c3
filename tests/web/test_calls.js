// SPDX-License-Identifier: MIT
// Call lines: one frame per calling line.
"use strict";
const assert = require("node:assert/strict");
const { until, withPage } = require("./browser.js");
const { diffPage, profilePage, writeText } = require("./pages.js");
const { test } = require("./tap.js");

const at = (name, line) => ({ name, file: "/srv/app/main.py", line });
// main calls work from line 5 and from line 9; work calls leaf in both.
const call = (line, count, leaf = true) => ({ tid: 1, stack: [at("main", line), at("work", 20), ...(leaf ? [at("leaf", 30)] : [])], count });
const frames = (page) => page.evaluate(() => {
	const { tree } = fizeau.flame.picture, { names } = fizeau.data.functions;
	return [...Array(tree.n).keys()].slice(1).map((i) => ["  ".repeat(tree.depth[i] - 1) + $$folds.frameName(fizeau.data, tree, i, names[tree.func[i]]), ...tree.total.map((t) => t[i])]);
});
// Class of colour and the word on its path of each frame.
const states = (page) => page.evaluate(() => {
	const { flame, data } = fizeau, { tree } = flame.picture, c = $$colors;
	const kindOf = (k) => (c.isTogether(k) ? "together" : k === c.UNSURE ? "unsure" : k === c.SAME ? "same" : "certain");
	return [...Array(tree.n).keys()].slice(1).map((i) => ["  ".repeat(tree.depth[i] - 1) + $$folds.frameName(data, tree, i, data.functions.names[tree.func[i]]),
		kindOf($$frame_colour.nodeClass(tree, i, flame.picture.what)), $$frame_facts.nodeFacts(data, flame, i).path]);
});
const samples = [call(5, 30), call(9, 60), call(9, 10, false)];

test("a function called from two lines is one frame, or two on request", async () => {
	await withPage(profilePage(samples), {}, async (page) => {
		assert.deepEqual((await frames(page)).map(([name]) => name), ["main", "  work", "    leaf"]);
		await page.click("#menu-view summary");
		await page.click("#toggle-calls");
		assert.deepEqual(await frames(page), [["main", 0, 100], ["  work (main:9)", 0, 70], ["    leaf (work:20)", 0, 60], ["  work (main:5)", 0, 30], ["    leaf (work:20)", 0, 30]]);
		// A zoom into the second one is of that, and its link leads there again.
		await page.evaluate(() => fizeau.zoomTo($$tree.pathOf(fizeau.flame.picture.tree, 4)));
		assert.equal(await page.evaluate(() => fizeau.flame.focus), 4);
		assert.match(await page.innerText("#crumbs"), /work \(main:5\)/);
		const hash = await page.evaluate(() => location.hash.slice(1));
		await withPage(profilePage(samples), { hash }, async (again) => {
			await until(again, () => fizeau.flame.focus === 4);
		});
		await page.evaluate(() => fizeau.set({ calls: false }));
		assert.deepEqual((await frames(page)).length, 3);
	});
});

test("lines of calls are those of the head, wherever the base had them, and a certain change is that of both calls together", async () => {
	const lines = Array.from({ length: 40 }, (_, i) => `line_${i + 1}()`);
	const then = writeText(lines.join("\n")), now = writeText(["import os", ...lines].join("\n"));
	const down = (sample) => ({ ...sample, stack: sample.stack.map((f) => ({ ...f, line: f.line + 1 })) });
	const head = [call(5, 30), call(9, 300)].map(down);
	await withPage(diffPage([call(5, 30), call(9, 60)], head, ["exact", "time", "judged", `base-source=/srv/app/main.py=${then}`, `source=/srv/app/main.py=${now}`]), { hash: "calls=1&noise=0" }, async (page) => {
		assert.deepEqual(await frames(page), [["main", 90, 330], ["  work (main:10)", 60, 300], ["    leaf (work:21)", 60, 300], ["  work (main:6)", 30, 30], ["    leaf (work:21)", 30, 30]]);
		// work became slower, and leaf, which is all of it: of the two calls of each, only the first one did.
		assert.deepEqual(await states(page), [["main", "certain", "slower"], ["  work (main:10)", "together", "slower, certain only together with its other paths"],
			["    leaf (work:21)", "together", "slower, certain only together with its other paths"], ["  work (main:6)", "unsure", "unsure"], ["    leaf (work:21)", "unsure", "unsure"]]);
		assert.match(await page.innerText("#legend"), /certain only together with its other paths/);
		await page.keyboard.press("x");
		assert.deepEqual((await frames(page))[1], ["  work (main:10)", 300, 60]);
	});
});

test("a long name of a callee wraps: the costs of lines stay in view", async () => {
	const long = `outer.${"inner_function.".repeat(12)}last`;
	const text = writeText(Array.from({ length: 40 }, (_, i) => `line_${i + 1}()`).join("\n"));
	const calls = (count) => [{ tid: 1, stack: [at("main", 5), { ...at(long, 20) }], count }];
	for (const width of [1500, 1280, 390])
		await withPage(diffPage(calls(30), calls(90), ["exact", `base-source=/srv/app/main.py=${text}`, `source=/srv/app/main.py=${text}`]), { viewport: { width, height: 800 }, hash: "tab=source" }, async (page) => {
			await page.evaluate(() => fizeau.set({ middle: fizeau.data.functions.names.indexOf("main") }));
			assert.match(await page.innerText("#source .lines .call"), /last/);
			assert.ok(await page.$eval("#source .listing", (e) => e.scrollWidth <= e.clientWidth + 1), `${width}`);
		});
});

test("a call whose line was edited is the same call, unless the caller has other calls that could be it", async () => {
	const now = ["def main():", "    work(1, 2)", "    rest()", "    pass", "    work(7)", "", "def work(n):", "    pass"];
	const edited = (lines, number, text) => lines.map((line, i) => (i === number ? text : line));
	const then = edited(now, 1, "    work(1)");
	const sample = (line, count) => ({ tid: 1, stack: [at("main", line), at("work", 8)], count });
	const shown = async (before, head) => {
		const sources = [["base-source", before], ["source", now]].map(([key, text]) => `${key}=/srv/app/main.py=${writeText(text.join("\n"))}`);
		let list = null;
		await withPage(diffPage([sample(2, 40), sample(5, 50)], head, ["exact", "time", ...sources]), { hash: "calls=1" }, async (page) => (list = await frames(page)));
		return list.slice(1);
	};
	assert.deepEqual(await shown(then, [sample(2, 45), sample(5, 50)]), [["  work (main:5)", 50, 50], ["  work (main:2)", 40, 45]]);
	assert.deepEqual(await shown(then, [sample(2, 30), sample(3, 20), sample(5, 50)]),
		[["  work (main:5)", 50, 50], ["  work (main:2)", 40, 0], ["  work (main:2)", 0, 30], ["  work (main:3)", 0, 20]]);
	assert.deepEqual(await shown(edited(then, 4, "    work(6)"), [sample(2, 45), sample(5, 55)]), [["  work (main:5)", 50, 55], ["  work (main:2)", 40, 45]]);
});

test("with samples selected inside a frame, or without lines, there are no calls", async () => {
	const threads = [...samples, { ...call(5, 5), tid: 2 }];
	await withPage(profilePage(threads), { hash: "calls=1" }, async (page) => {
		assert.equal((await frames(page)).length, 5);
		await page.evaluate(() => fizeau.set({ threads: Uint8Array.from(fizeau.data.header.threads, (_, i) => (i ? 0 : 1)) }));
		assert.equal((await frames(page)).length, 3);
		assert.equal(await page.$eval("#toggle-calls", (e) => e.hidden), true);
	});
	await withPage(profilePage(writeText("main;work;leaf 3\n")), {}, async (page) =>
		assert.equal(await page.$("#toggle-calls"), null));
});

test("below a wrapper that only one side has, a call has the line of the side that has one", async () => {
	const plain = [{ tid: 1, stack: [at("main", 5), at("work", 20), at("leaf", 30)], count: 50 }];
	const wrapped = [{ tid: 1, stack: [at("main", 5), at("cached", 12), at("work", 20), at("leaf", 30)], count: 50 }];
	const callsOf = async (sides) => {
		let list = null;
		await withPage(diffPage(...sides, ["time"]), { hash: "calls=1" }, async (page) => (list = await frames(page)));
		return list;
	};
	assert.deepEqual(await callsOf([plain, wrapped]), [["main", 50, 50], ["  cached (main:5)", 50, 50], ["    work (cached:12)", 50, 50], ["      leaf (work:20)", 50, 50]]);
	assert.deepEqual((await callsOf([wrapped, plain])).filter(([, before]) => before), [["main", 50, 50], ["  work (main:5)", 50, 50], ["    leaf (work:20)", 50, 50]]);
});
