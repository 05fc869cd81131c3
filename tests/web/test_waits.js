// SPDX-License-Identifier: MIT
// The Waits view: reasons, which thread waits for which, the longest chain.
"use strict";
const assert = require("node:assert/strict");
const { withPage } = require("./browser.js");
const { profilePage, someProgram } = require("./pages.js");
const { test } = require("./tap.js");

const cells = (page, title) => page.evaluate((wanted) => {
	const heading = [...document.querySelectorAll("#waits h2")].find((h) => h.textContent.startsWith(wanted));
	let list = heading.nextElementSibling;
	while (!list.matches(".listing")) list = list.nextElementSibling;
	return [...list.querySelectorAll("tr")].slice(1).map((tr) => [...tr.children].map((td) => td.innerText.trim()));
}, title);

test("waits: reasons, in figures and as a bar", async () => {
	await withPage(profilePage("waits"), {}, async (page) => {
		await page.click("#tabs [data-value=waits]");
		assert.match(await page.innerText("#waits h2"), /^60\.0 ms of 110 ms are waits$/);
		assert.deepEqual((await page.innerText("#waits .kinds")).split("\n").map((s) => s.trim()).filter(Boolean), ["lock 36.4 %", "socket 9.1 %", "sleep 9.1 %"]);
		const widths = await page.evaluate(() => [...document.querySelectorAll(".kind-bar span")].map((s) => s.offsetWidth / s.parentNode.offsetWidth));
		[0.364, 0.091, 0.091].forEach((share, i) => assert.ok(Math.abs(widths[i] - share) < 0.01, widths.join()));
		const rows = await cells(page, "All waits");
		assert.deepEqual(rows[0].slice(0, 5), ["40.0 ms", "36.4 %", "1", "40.0 ms", "lock"]);
		assert.match(rows[0][5], /^<i>report<\/i>\s+app.py:20$/);
		assert.match(rows[0][6], /^lock released by work\s+app.py$/);
	});
});

test("waits: a ribbon for each pair of waiter and ender", async () => {
	await withPage(profilePage("waits"), { hash: "tab=waits" }, async (page) => {
		const ends = (side) => page.evaluate((s) => [...document.querySelectorAll(`.${s} > div`)].map((div) => div.innerText.replace(/\s+/g, " ")), side);
		assert.deepEqual(await ends("waiters"), ["<i>report</i> app.py 40.0 ms", "work app.py 10.0 ms"]);
		assert.deepEqual(await ends("enders"), ["work app.py 40.0 ms", "<i>report</i> app.py 10.0 ms"]);
		const ribbons = await page.evaluate(() => [...document.querySelectorAll(".ribbon")].map((path) => [path.getAttribute("class"), path.textContent]));
		assert.deepEqual(ribbons, [["ribbon of-lock", "<i>report</i> waited 40.0 ms for work: lock"], ["ribbon of-net", "work waited 10.0 ms for <i>report</i>: socket"]]);
		const at = await page.locator(".waiters .pair-link").last().boundingBox();
		await page.mouse.click(at.x + at.width / 2, at.y + at.height / 2);
		assert.equal(await page.evaluate(() => fizeau.state.tab), "flame");
		assert.equal(await page.inputValue("#query"), "work");
	});
});

test("waits: the longest chain, thread by thread", async () => {
	await withPage(profilePage("waits"), {}, async (page) => {
		await page.keyboard.press("W");
		const rows = await cells(page, "Longest chain: 60.0 ms, through 2 threads");
		assert.deepEqual(rows.map((row) => [row[0], row[4], row[5].split(/\s/)[0]]), [["30.0 ms", "runs", "work"], ["20.0 ms", "runs", "<i>report</i>"], ["10.0 ms", "sleep", "work"]]);
		const lanes = await page.evaluate(() => [...document.querySelectorAll(".chain-lane")].map((lane) => [lane.querySelector(".what").innerText, [...lane.querySelectorAll("rect")].map((r) => Number(r.getAttribute("x")))]));
		assert.deepEqual(lanes.map(([name]) => name), ["<b>worker</b>", "main"]);
		// 240 cells of a quarter of a millisecond.
		assert.deepEqual([lanes[0][1].at(0), lanes[0][1].at(-1), lanes[0][1].length], [40, 199, 160]);
		assert.deepEqual([lanes[1][1].at(0), lanes[1][1].at(39), lanes[1][1].at(40), lanes[1][1].at(-1)], [0, 39, 200, 239]);
		await page.keyboard.press("W");
		assert.equal(await page.evaluate(() => fizeau.state.tab), "flame");
	});
});

test("waits: no view without recorded waits, and nothing is wider than a phone", async () => {
	await withPage(profilePage(someProgram()), { hash: "tab=waits" }, async (page) => {
		assert.equal(await page.locator("#tabs [data-value=waits]").count(), 0);
		assert.equal(await page.evaluate(() => fizeau.state.tab), "flame");
	});
	await withPage(profilePage("waits"), { hash: "tab=waits", width: 320, height: 700 }, async (page) => {
		assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320);
	});
});
