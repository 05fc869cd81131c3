// SPDX-License-Identifier: MIT
// Pages of counted benchmarks: the list that they open on, one of them alone, and what a gate decided.
"use strict";
const assert = require("node:assert/strict");
const { complaints } = require("./axe.js");
const { centreOf, readTree, until, withPage } = require("./browser.js");
const { diffPage, profilePage, writeText } = require("./pages.js");
const { test } = require("./tap.js");

const base = "test_pr;parse;read 700000\ntest_pr;parse;find 300000\ntest_title;split 40000000\ntest_old;f 50000\n";
const head = "test_pr;parse;read 700000\ntest_pr;parse;find 515000\ntest_title;split 39800000\ntest_new;f 60000\n";
const rowsOf = (page) => page.$$eval("#benchmarks .benchmark", (rows) => rows.map((r) => [".word", ".what", ".counts", ".much"].map((part) => r.querySelector(part)?.textContent ?? "")));
const bandOf = (page) => page.$$eval("#band p", (lines) => lines.map((p) => p.textContent));
const gated = (options = []) => diffPage(writeText(base), writeText(head), ["benchmarks", "time", "judged",
	"gated=slower,1000000,1215000,test_pr", "gated=missing,50000,-1,test_old", "gated=new,-1,60000,test_new", "gated=same,40000000,39800000,test_title", ...options]);
const judged = () => diffPage(writeText(base), writeText(head), ["benchmarks", "time", "judged"]);

async function boxOf(page, name) {
	const { nodes } = await readTree(page);
	const at = await centreOf(page, nodes.find((n) => n.name === name && n.w > 0).i);
	await page.mouse.move(at.x, at.y);
	await until(page, () => !document.getElementById("tip").hidden);
	return page.textContent("#tip");
}

test("a gate's page opens on its headline, its exit status and the list, worst first", async () => {
	await withPage(gated(), {}, async (page) => {
		assert.deepEqual(await bandOf(page), ["Performance regression: 1 <slower>", "Exit status 1: test_pr takes +21.5 % instructions (limit 2.0 %)."]);
		assert.deepEqual(await rowsOf(page), [["▲ slower", "test_pr", "1,000,000 → 1,215,000cycles", "+21.5 %limit 2.0 %"], ["− missing", "test_old", "50,000 → –cycles", ""],
			["+ new", "test_new", "– → 60,000cycles", ""], ["= same", "test_title", "40,000,000 → 39,800,000cycles", "−0.5 %limit 2.0 %"]]);
		assert.match(await page.textContent("#benchmarks .fails"), /in parse > <find> \+215 · src\/find\.py:12.*wall time inconclusive/);
		assert.equal(await page.isVisible("#sidebar"), false);
		const text = await page.evaluate(() => document.body.innerText);
		assert.doesNotMatch(text, /41,050,000|41,075,000/, "no sum over benchmarks");
	});
});

test("a runner's work outside of its benchmarks is not on the page", async () => {
	await withPage(diffPage(writeText(`${base}sh;main 9000000\n`), writeText(`${head}sh;main 9900000\n`), ["benchmarks", "time", "judged"]), {}, async (page) => {
		assert.equal((await rowsOf(page)).length, 4);
		assert.doesNotMatch(await page.evaluate(() => document.body.innerText), /main|9,900,000/);
	});
});

test("gauges have one scale: the base in the middle, the limit around it, the head at the bar's end", async () => {
	await withPage(gated(), { width: 1400 }, async (page) => {
		const parts = await page.$$eval("#benchmarks .gauge", (list) => list.map((g) => Object.fromEntries([...g.children].map((i) => {
			const box = i.getBoundingClientRect(), all = g.getBoundingClientRect();
			return [i.className.split(" ")[0], [(box.left - all.left) / all.width, (box.right - all.left) / all.width].map((v) => Math.round(v * 100))];
		}))));
		assert.deepEqual(parts[0].bar, [50, 100]);
		assert.deepEqual(parts[0].allowed, [45, 55]);
		assert.deepEqual(parts[1], {}, "one side only: nothing to measure");
		assert.ok(parts[3].bar[0] >= 48 && parts[3].bar[1] <= 50, JSON.stringify(parts[3]));
	});
	await withPage(gated(["gated=slower,40000000000,60000000000,test_long"]), { width: 1400 }, async (page) => {
		const edges = await page.$$eval("#benchmarks .gauge", (list) => list.map((g) => Math.round(g.getBoundingClientRect().left)));
		const axis = await page.$eval("#benchmarks .axis span", (span) => Math.round(span.getBoundingClientRect().left));
		assert.deepEqual([...new Set([axis, ...edges])], [axis], "below one another, however long the figures are");
	});
});

test("a click shows one benchmark as if there were no other: shares, figures, verdicts", async () => {
	await withPage(gated(), {}, async (page) => {
		await page.click("#benchmarks .benchmark:has-text('test_pr')");
		const { nodes, all } = await readTree(page);
		assert.deepEqual(all, [1000000, 1215000]);
		assert.deepEqual(nodes.filter((n) => n.w > 0).map((n) => n.name), ["test_pr", "parse", "read", "find"]);
		assert.match((await bandOf(page))[0], /^test_pr · ▲ slower \+21\.5 % · 1,000,000 → 1,215,000 cycles$/);
		assert.match((await bandOf(page))[1], /^Exit status 1 · limit 2\.0 % · in parse/);
		// What is much of this benchmark is nothing of all of them.
		const words = await page.evaluate(() => [...document.querySelectorAll("#section-hotspots .spot .what")].map((s) => s.textContent));
		assert.deepEqual(words, ["find"]);
		assert.match(await boxOf(page, "find"), /42\.4 %/);
		await page.click("#band .all");
		assert.equal((await rowsOf(page)).length, 4);
		await page.click("#benchmarks .benchmark:has-text('test_title')");
		assert.deepEqual((await readTree(page)).all, [40000000, 39800000]);
		const link = await page.evaluate(() => location.hash);
		assert.match(link, /bench=test_title/);
	});
	await withPage(gated(), { hash: "tab=table&bench=test_title" }, async (page) =>
		assert.match(await page.textContent("#table .rows"), /split/));
});

test("names of benchmarks in the sidebar differ: their ends are visible", async () => {
	const names = ["test_parse_orders_of_customers_with_few", "test_parse_orders_of_customers_with_many"].map((name) => `tests/benchmarks/test_of_the_whole_shop.py::${name}`);
	const page2 = diffPage(writeText(names.map((n) => `${n};find 300000\n`).join("")), writeText(names.map((n) => `${n};find 500000\n`).join("")), ["benchmarks", "time", "judged"]);
	for (const theme of ["light", "dark"]) await withPage(page2, { width: 1280, theme, hash: "tab=flame" }, async (page) => {
		const ends = await page.$$eval("#section-benchmarks .spot .what > :last-child", (list) => list.map((s) => [s.textContent, s.scrollWidth <= s.clientWidth]));
		assert.deepEqual(ends, [["few", true], ["many", true]]);
		assert.equal(await page.textContent("#section-benchmarks .spot .what"), "test_parse_orders_of_customers_with_few");
		await page.evaluate(() => fizeau.set({ tab: "benchmarks" }));
		assert.deepEqual(await page.$$eval("#benchmarks .which", (list) => list.map((e) => [...e.children].map((c) => c.textContent))),
			names.map((name) => name.split("::").reverse()), "the file is below the name");
	});
});

test("a benchmark's bytes are larger or smaller, its counts more or fewer", async () => {
	const of = (metric) => diffPage(writeText("test_pr;find 300000\ntest_title;split 90000\n"), writeText("test_pr;find 515000\ntest_title;split 40000\n"),
		["benchmarks", "time", "judged", `counted=${metric}`]);
	const kinds = { "peak,bytes": ["larger", "smaller", "1 larger, 1 smaller"], "calls,count": ["more", "fewer", "1 with more, 1 with fewer"] };
	for (const [metric, [more, less, counts]] of Object.entries(kinds)) await withPage(of(metric), { hash: "tab=benchmarks" }, async (page) => {
		assert.deepEqual((await rowsOf(page)).map((r) => r.slice(0, 2)), [[`▲ ${more}`, "test_pr"], [`▼ ${less}`, "test_title"]]);
		assert.equal((await bandOf(page))[0], `2 benchmarks: ${counts}`);
		assert.deepEqual(await page.$$eval("#benchmarks .word", (words) => words.map((w) => w.className)), ["word more", "word less"], "the colours of a change");
	});
});

test("with several metrics each row names its own, and leads to that metric's page", async () => {
	const several = () => gated(["gated=slower,5000,10000,test_pr", "elsewhere=report-peak.html"]);
	await withPage(several(), {}, async (page) => {
		const notes = await page.$$eval("#benchmarks .benchmark", (rows) => rows.map((r) => r.querySelector(".counts .note").textContent));
		assert.deepEqual(notes, ["cycles", "cycles", "cycles", "cycles", "peak"]);
		assert.deepEqual((await rowsOf(page))[4], ["▲ larger", "test_pr", "4.88 KiB → 9.77 KiBpeak", "x 2.00limit 2.0 %"]);
		const link = page.getByRole("link", { name: /test_pr.*peak/ });
		assert.equal(await link.getAttribute("href"), "report-peak.html#tab=flame&bench=test_pr");
		await page.focus("#benchmarks button");
		for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowDown");
		assert.equal(await page.evaluate(() => document.activeElement.tagName), "A");
		assert.equal(await page.$$eval("#section-benchmarks .spot", (list) => list.length), 4);
		assert.deepEqual(await complaints(page), []);
		await page.click("#benchmarks button:has-text('test_pr')");
		assert.match((await bandOf(page))[0], /1,000,000 → 1,215,000 cycles$/);
	});
	await withPage(several(), { hash: "tab=flame&bench=test_pr" }, async (page) =>
		assert.deepEqual((await readTree(page)).all, [1000000, 1215000]));
});

test("a search finds functions of the chosen benchmark, and counts the others", async () => {
	const search = async (page, query) => {
		await page.fill("#query", query);
		await until(page, (text) => fizeau.state.query === text, query);
		return [(await page.textContent("#found")).replace(/ ·.*/, ""), await page.$$eval("#hits :is(.what, p)", (list) => list.map((e) => e.textContent))];
	};
	await withPage(gated(), { hash: "tab=flame&bench=test_title" }, async (page) => {
		const outside = (n) => `and ${n} outside the chosen benchmark or filters`;
		assert.deepEqual(await search(page, "i"), ["2 functions", ["split", "test_title", outside(1)]]);
		assert.deepEqual(await search(page, "parse"), ["0 functions", [outside(1)]]);
		await search(page, "^(par|spl).*");
		assert.equal(await page.textContent("#hits .offer"), "Search as a regular expression: 1 function");
		await page.evaluate(() => fizeau.showBenchmark(fizeau.data.functions.names.indexOf("test_pr")));
		assert.deepEqual(await search(page, "i"), ["1 function", ["find", outside(2)]]);
	});
});

test("threads are offered where the chosen benchmark ran in several", async () => {
	const side = (extra) => [["one", 1], ["several", 1], ["several", 2]].map(([name, tid]) =>
		({ tid, stack: [{ name, file: "", line: 0 }, { name: "work", file: "a.py", line: 3 }], count: 900 + extra }));
	const file = diffPage(side(0), side(90), ["benchmarks", "time", "judged"]);
	for (const [name, isOffered] of [["one", false], ["several", true]])
		await withPage(file, { hash: `tab=flame&bench=${name}` }, async (page) =>
			assert.equal(await page.isVisible("#section-threads"), isOffered, name));
});

test("a page with one benchmark opens on it", async () => {
	const one = diffPage(writeText("test_pr;find 300000\n"), writeText("test_pr;find 515000\n"), ["benchmarks", "time", "judged", "gated=slower,300000,515000,test_pr"]);
	await withPage(one, {}, async (page) => {
		assert.deepEqual(await page.$$eval("#tabs button", (list) => list.map((b) => b.dataset.value)), ["flame", "sandwich", "source", "table", "matches"]);
		assert.match((await bandOf(page)).join("\n"), /^test_pr · ▲ slower \+71\.7 %.*\nExit status 1/);
		assert.equal(await page.isVisible("#canvas"), true);
	});
});

test("a doubled benchmark shows its factor, as in the gate's other reports", async () => {
	for (const [cost, told] of [[690000, "x 2.30"], [4500000, "x 15"], [515000, "+71.7 %"]])
		await withPage(diffPage(writeText("test_pr;find 300000\n"), writeText(`test_pr;find ${cost}\n`), ["benchmarks", "time", "judged"]), {}, async (page) =>
			assert.ok((await bandOf(page)).join(" ").includes(told), `${told}: ${await bandOf(page)}`));
});

test("without a gate a benchmark is judged by its own bound", async () => {
	await withPage(judged(), {}, async (page) => {
		assert.deepEqual((await rowsOf(page)).map((r) => r.slice(0, 2)), [["▲ slower", "test_pr"], ["+ new", "test_new"], ["− gone", "test_old"], ["▼ faster", "test_title"]]);
		assert.deepEqual(await bandOf(page), ["4 benchmarks: 1 slower, 1 new, 1 gone, 1 faster", "instructions per benchmark, worst first"]);
	});
});

test("the list works with keys and screen readers", async () => {
	await withPage(gated(), {}, async (page) => {
		await page.focus("#benchmarks button");
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press("ArrowUp");
		assert.match(await page.evaluate(() => document.activeElement.textContent), /test_old/);
		const spoken = await page.getByRole("button", { name: /^▲ slower ?test_pr ?in parse > <find>.*1,000,000 → 1,215,000 ?cycles ?\+21\.5 % ?limit 2\.0 %$/ }).count();
		assert.equal(spoken, 1);
		await page.keyboard.press("Enter");
		assert.deepEqual((await readTree(page)).all, [50000, 0]);
	});
	for (const [width, theme] of [[1500, "light"], [700, "light"], [390, "dark"]])
		await withPage(gated(), { width, theme }, async (page) => {
			assert.deepEqual(await complaints(page), [], `${width} ${theme}`);
			assert.equal(await page.evaluate(() => [...document.querySelectorAll("#benchmarks *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).length), 0);
		});
});

test("a frame shows its change as a share of the benchmark", async () => {
	await withPage(judged(), {}, async (page) => {
		await page.click("#benchmarks .benchmark:has-text('test_pr')");
		assert.match(await boxOf(page, "find"), /\+21\.5 % of the whole benchmark/);
		assert.doesNotMatch(await boxOf(page, "read"), /whole benchmark/);
		await page.click("#section-benchmarks .spot:has-text('test_title')");
		assert.match(await boxOf(page, "split"), /−0\.5 % of the whole benchmark/);
		assert.doesNotMatch(await boxOf(page, "test_title"), /whole benchmark/);
	});
});

test("one recording lists counts; sampled ones have no benchmarks", async () => {
	await withPage(profilePage(writeText(head), ["benchmarks"]), {}, async (page) => {
		assert.deepEqual((await rowsOf(page))[0], ["", "test_title", "39,800,000", ""]);
		assert.deepEqual(await bandOf(page), ["3 benchmarks", "instructions per benchmark, worst first"]);
		await page.click("#benchmarks .benchmark:has-text('test_pr')");
		assert.doesNotMatch(await boxOf(page, "find"), /whole benchmark/);
	});
	await withPage(diffPage(writeText(base), writeText(head)), {}, async (page) => {
		assert.equal(await page.$("#tabs button[data-value=benchmarks]"), null);
		assert.doesNotMatch(await boxOf(page, "find"), /whole benchmark/);
	});
});
