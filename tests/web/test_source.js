// SPDX-License-Identifier: MIT
// The source of one function: lines of both versions aligned, and what each cost.
"use strict";
const assert = require("node:assert/strict");
const { withPage } = require("./browser.js");
const { diffPage, profilePage, writeText } = require("./pages.js");
const { test } = require("./tap.js");

const work = (line, count) => ({ tid: 1, stack: [{ name: "main", file: "/srv/app/main.py", line: 1 }, { name: "work", file: "/srv/app/code.py", line }], count });
const text = Array.from({ length: 20 }, (_, i) => `    line_${i + 1}()`);
const before = [...text], after = [...text];
before[9] = "    slow(x)";
after[9] = "    fast(x)";
// One more line above, so that every number below differs.
after.splice(8, 0, "    prepare(x)");
const then = writeText(before.join("\n")), now = writeText(after.join("\n"));
const diff = () => diffPage([work(10, 30), work(12, 10)], [work(11, 6), work(13, 10)], ["exact", "time", `base-source=/srv/app/code.py=${then}`, `source=/srv/app/code.py=${now}`]);
const rowsOf = (page) => page.$$eval(".lines tr", (rows) => rows.slice(1).map((r) => [...r.cells].map((c) => c.textContent.trim())));
const show = (page, name) => page.evaluate((n) => fizeau.set({ tab: "source", middle: fizeau.data.functions.names.indexOf(n) }), name);

test("words of the source are coloured, those of a hot line stay readable", async () => {
	const code = writeText(["def work(n):", '    """a text', '    of two lines"""', "    return n  # why", "    pass"].join("\n"));
	await withPage(profilePage([work(4, 30)], [`source=/srv/app/code.py=${code}`]), {}, async (page) => {
		await show(page, "work");
		const words = await page.$$eval(".lines td.code span", (list) => list.map((s) => [s.className, s.textContent]));
		assert.deepEqual(words, [["w-key", "def"], ["w-name", "work"], ["w-str", '"""a text'], ["w-str", '    of two lines"""'], ["w-key", "return"], ["w-note", "# why"], ["w-key", "pass"]]);
		const colours = await page.$$eval(".lines tr:has(.w-key)", (rows) => rows.map((r) => getComputedStyle(r.querySelector(".w-key")).color === getComputedStyle(r.querySelector("td.code")).color));
		assert.deepEqual(colours, [false, true, false]);
	});
});

test("lines of both versions are aligned, with the change of each", async () => {
	await withPage(diff(), {}, async (page) => {
		await show(page, "work");
		const rows = await rowsOf(page);
		const find = (code) => rows.find((r) => r[3] === code);
		assert.deepEqual(find("slow(x)"), ["10", "", "−", "slow(x)", "30", "", "▼ −30"]);
		assert.deepEqual(find("fast(x)"), ["", "11", "+", "fast(x)", "", "6", "▲ +6"]);
		assert.deepEqual(find("line_12()"), ["12", "13", "", "line_12()", "10", "10", ""]);
		assert.deepEqual(find("line_9()"), ["9", "10", "", "line_9()", "", "", ""]);
		const heat = await page.$$eval(".lines tr", (list) => list.map((r) => [r.className, r.style.getPropertyValue("--heat")]).filter(([c]) => c));
		assert.deepEqual(heat.map(([c]) => c).sort(), ["heat-less", "heat-more"]);
		assert.equal(heat.find(([c]) => c === "heat-less")[1], "32%");
		await page.keyboard.press("x");
		assert.deepEqual((await rowsOf(page)).find((r) => r[3] === "slow(x)"), ["", "10", "+", "slow(x)", "", "30", "▲ +30"]);
	});
});

test("the alignment is a longest common subsequence, in order", async () => {
	await withPage(diff(), {}, async (page) => {
		const kept = await page.evaluate(() => {
			const lines = (s) => [...s].map((t, i) => ({ number: i + 1, text: t }));
			return ["abcbdab bdcaba", "abc abc", "abc xyz", " abc"].map((pair) => {
				const [a, b] = pair.split(" ");
				const pairs = $$source.alignLines(lines(a), lines(b));
				const side = (k) => pairs.map((p) => p[k]?.text ?? "").join("");
				return [pairs.filter((p) => p[0] && p[1]).length, side(0) === a && side(1) === b];
			});
		});
		assert.deepEqual(kept, [[4, true], [3, true], [0, true], [0, true]]);
	});
});

test("a profile's source has its own cost, l opens it, and missing source says so", async () => {
	await withPage(profilePage([work(10, 30), work(12, 10)], [`source=/srv/app/code.py=${then}`]), {}, async (page) => {
		for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowDown");
		await page.keyboard.press("l");
		assert.ok(await page.isVisible("#source"));
		assert.deepEqual((await rowsOf(page)).find((r) => r[1] === "slow(x)"), ["10", "slow(x)", "30", "75.0 %"]);
		await show(page, "main");
		assert.match(await page.innerText("#source"), /No source of this function/);
	});
	for (const width of [1400, 700])
		for (const theme of ["light", "dark"])
			await withPage(diff(), { width, theme, hash: "tab=source" }, async (page) =>
				assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)));
});

test("lines are aligned when the file moved, and when the function has another name", async () => {
	const sample = (file, name, line, count) => ({ tid: 1, count, stack: [
		{ name: "main", file: "/srv/app/main.py", line: 1 }, { name: "step", file: "/srv/app/main.py", line: 9 }, { name, file, line }, ...(line === 12 || line === 13 ? [{ name: "leaf", file: "/srv/app/main.py", line: 20 }] : [])] });
	for (const [file, name] of [["/srv/app/lib/fresh.py", "work"], ["/srv/app/code.py", "toil"]]) {
		const changed = diffPage([sample("/srv/app/code.py", "work", 10, 300), sample("/srv/app/code.py", "work", 12, 100)],
			[sample(file, name, 11, 160), sample(file, name, 13, 100)], ["time", `base-source=/srv/app/code.py=${then}`, `source=${file}=${now}`]);
		await withPage(changed, {}, async (page) => {
			const link = await page.evaluate(() => fizeau.data.header.links[0]);
			assert.deepEqual([link.from_name, link.name], ["work", name]);
			await show(page, name);
			const rows = await rowsOf(page);
			const find = (code) => rows.find((r) => r[3] === code);
			assert.deepEqual(find("slow(x)"), ["10", "", "−", "slow(x)", "300", "", "▼ −300"], file);
			assert.deepEqual(find("fast(x)"), ["", "11", "+", "fast(x)", "", "160", "▲ +160"], file);
			assert.deepEqual(find("line_11()").slice(0, 3), ["11", "12", ""], file);
			assert.match(await page.innerText("#source"), /In the base it is work in code\.py\./);
		});
	}
});
