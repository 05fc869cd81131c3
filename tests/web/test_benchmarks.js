// SPDX-License-Identifier: MIT
// Pages of counted benchmarks: the list beside the picture, and what a frame's change is of its benchmark.
"use strict";
const assert = require("node:assert/strict");
const { centreOf, readTree, until, withPage } = require("./browser.js");
const { diffPage, profilePage, writeText } = require("./pages.js");
const { test } = require("./tap.js");

const base = "test_pr;parse;read 700\ntest_pr;parse;find 300\ntest_title;split 400\ntest_old;f 50\n";
const head = "test_pr;parse;read 700\ntest_pr;parse;find 515\ntest_title;split 398\ntest_new;f 60\n";
const list = (page) => page.$$eval("#section-benchmarks .spot", (spots) => spots.map((s) => [
	s.querySelector(".what").textContent, s.querySelector(".much").textContent, s.querySelector(".much").className.replace("much", "").trim()]));

async function boxOf(page, name) {
	const { nodes } = await readTree(page);
	const at = await centreOf(page, nodes.find((n) => n.name === name && n.w > 0).i);
	await page.mouse.move(at.x, at.y);
	await until(page, () => !document.getElementById("tip").hidden);
	return page.textContent("#tip");
}

test("benchmarks are listed by change, a small one in no colour; a click shows one alone", async () => {
	await withPage(diffPage(writeText(base), writeText(head), ["benchmarks", "time"]), {}, async (page) => {
		assert.deepEqual((await list(page)).sort(), [["test_new", "new", "more"], ["test_old", "gone", "less"],
			["test_pr", "+21.5 %", "more"], ["test_title", "−0.5 %", ""]]);
		assert.deepEqual((await list(page)).slice(2).map(([name]) => name), ["test_pr", "test_title"]);
		await page.click("#section-benchmarks .spot:has-text('test_title')");
		await until(page, () => fizeau.flame.focus > 0);
		const shown = await page.evaluate(() => fizeau.data.functions.names[fizeau.flame.picture.tree.func[fizeau.flame.focus]]);
		assert.equal(shown, "test_title");
	});
});

test("what was decided of a benchmark stands below it", async () => {
	const options = ["benchmarks", "time", "slower=test_pr=+21.5 % instructions; by the clock <not> decided"];
	await withPage(diffPage(writeText(base), writeText(head), options), {}, async (page) => {
		const told = await page.$$eval("#section-benchmarks .verdict", (spots) => spots.map((s) => s.textContent));
		assert.deepEqual(told, ["slower: +21.5 % instructions; by the clock <not> decided"]);
	});
});

test("a frame tells what its change is of the whole benchmark", async () => {
	await withPage(diffPage(writeText(base), writeText(head), ["benchmarks", "time"]), {}, async (page) => {
		assert.match(await boxOf(page, "find"), /\+21\.5 % of the whole benchmark/);
		assert.match(await boxOf(page, "split"), /−0\.5 % of the whole benchmark/);
		assert.doesNotMatch(await boxOf(page, "read"), /whole benchmark/);
		assert.doesNotMatch(await boxOf(page, "test_pr"), /whole benchmark/);
	});
});

test("one recording lists counts; what was sampled has no benchmarks", async () => {
	await withPage(profilePage(writeText(head), ["benchmarks"]), {}, async (page) => {
		assert.deepEqual((await list(page))[0], ["test_pr", "1,215", ""]);
		assert.doesNotMatch(await boxOf(page, "find"), /whole benchmark/);
	});
	await withPage(diffPage(writeText(base), writeText(head)), {}, async (page) => {
		assert.deepEqual(await list(page), []);
		assert.doesNotMatch(await boxOf(page, "find"), /whole benchmark/);
	});
});
