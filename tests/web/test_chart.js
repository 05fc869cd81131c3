// SPDX-License-Identifier: MIT
// The flame chart: what ran when, from a trace whose calls are known, and of a recording too long for a screen.
"use strict";
const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const { until, withPage } = require("./browser.js");
const { newFile, profilePage, diffPage, someProgram, writeText } = require("./pages.js");
const { test } = require("./tap.js");

const MS = 1e6;

// Threads as calls: [name, from, to, callees], in ms.
function tracePage(threads) {
	const names = [], frame = (name) => (names.includes(name) ? names.indexOf(name) : names.push(name) - 1);
	const events = (calls) => calls.flatMap(([name, from, to, callees = []]) =>
		[{ type: "O", at: from, frame: frame(name) }, ...events(callees), { type: "C", at: to, frame: frame(name) }]);
	const profiles = Object.entries(threads).map(([name, calls]) => ({ type: "evented", name, unit: "milliseconds", startValue: 0, endValue: 100, events: events(calls) }));
	const file = writeText(JSON.stringify({ shared: { frames: names.map((name) => ({ name, file: "app.py" })) }, profiles }), ".speedscope.json"), page = newFile(".html");
	execFileSync(process.env.FIZEAU, ["replay", file, "-o", page], { stdio: "ignore" });
	return page;
}

const small = () => tracePage({
	one: [["main", 0, 100, [["load", 0, 30, [["read", 10, 20]]], ["work", 30, 60], ["load", 60, 80]]]],
	two: [["job", 20, 40], ["job", 70, 90]],
});

// Bars as they are drawn: {thread: {name: [[from, to], ...]}}, in ms.
const drawnBars = (page) => page.evaluate(() => {
	const { chart, data } = fizeau, { tree } = chart.picture, out = {};
	for (const { track, bars } of chart.drawn)
		for (const bar of bars) ((out[track.label] ??= {})[data.functions.names[tree.func[bar.node]]] ??= []).push([bar.from, bar.to].map((c) => Math.round(c * chart.cell / 1e4) / 100));
	for (const names of Object.values(out)) for (const list of Object.values(names)) list.sort((a, b) => a[0] - b[0]);
	return out;
});
const windowOf = (page) => page.evaluate(() => [fizeau.chart.bounds[0] + fizeau.chart.left, fizeau.chart.span]);
const barAt = (page, name, k = 0) => page.evaluate(([text, n]) => {
	const { chart, data } = fizeau, box = chart.canvas.getBoundingClientRect();
	const bar = chart.drawn.flatMap(({ bars }) => bars).filter((b) => data.functions.names[chart.picture.tree.func[b.node]] === text).sort((a, b) => a.left - b.left)[n];
	return { x: box.left + (bar.left + bar.right) / 2, y: box.top + bar.y + 10, left: bar.left, right: bar.right };
}, [name, k]);

test("bars are the calls, in order, each as long as its call", async () => {
	await withPage(small(), {}, async (page) => {
		await page.click("#tabs [data-value=chart]");
		assert.deepEqual(await drawnBars(page), {
			one: { main: [[0, 100]], load: [[0, 30], [60, 80]], read: [[10, 20]], work: [[30, 60]] },
			two: { job: [[20, 40], [70, 90]] },
		});
		const bar = await barAt(page, "work"), width = await page.evaluate(() => fizeau.chart.full);
		assert.ok(Math.abs(bar.left - width * 0.3) < 1 && Math.abs(bar.right - width * 0.6) < 1);
		await page.mouse.move(bar.x, bar.y);
		assert.match(await page.innerText("#tip .when"), /^30(\.0)? ms, from 30(\.0)? ms to 60(\.0)? ms$/);
		// The same frame elsewhere has its own times.
		const last = await barAt(page, "load", 1);
		await page.mouse.move(last.x, last.y);
		assert.match(await page.innerText("#tip .when"), /^20(\.0)? ms, from 60/);
		assert.ok(await page.evaluate(() => {
			const { canvas, drawn } = fizeau.chart, { left, y } = drawn[0].bars[0], ratio = devicePixelRatio;
			const [r, g, b] = canvas.getContext("2d").getImageData((left + 3) * ratio, (y + 3) * ratio, 1, 1).data;
			return r + g + b < 3 * 255;
		}));
	});
});

test("the strip, the wheel, drags and keys select the time; links contain it; a click selects", async () => {
	let link;
	await withPage(small(), { hash: "tab=chart" }, async (page) => {
		const box = await page.locator("#strip .tracks").boundingBox();
		await page.mouse.move(box.x + box.width * 0.25, box.y + 8);
		await page.mouse.down();
		await page.mouse.move(box.x + box.width * 0.5, box.y + 8, { steps: 4 });
		await page.mouse.up();
		assert.deepEqual(await windowOf(page), [25 * MS, 25 * MS]);
		assert.deepEqual(Object.keys((await drawnBars(page)).one).sort(), ["load", "main", "work"]);
		const { x, y } = await barAt(page, "work");
		await page.mouse.move(x, y);
		await page.keyboard.down("Control");
		await page.mouse.wheel(0, -100);
		await page.keyboard.up("Control");
		await until(page, () => fizeau.state.at !== "");
		const [from, span] = await windowOf(page);
		assert.ok(span < 20 * MS && from > 25 * MS);
		await page.mouse.down();
		await page.mouse.move(x + 80, y, { steps: 4 });
		await page.mouse.up();
		assert.ok((await windowOf(page))[0] < from);
		await page.mouse.click(x, y);
		assert.match(await page.textContent("#spoken"), /^one: work: 30(\.0)? ms/);
		await page.keyboard.press("Enter");
		assert.deepEqual((await windowOf(page)).map((ns) => Math.round(ns / 1e4) * 1e4), [30 * MS, 20 * MS]);
		link = await page.evaluate(() => location.hash.slice(1));
		assert.match(link, /at=300000\d\d-50000000/);
		await page.keyboard.press("0");
		assert.deepEqual(await windowOf(page), [25 * MS, 25 * MS]);
		await page.keyboard.press("+");
		assert.ok((await windowOf(page))[1] < 25 * MS);
	});
	await withPage(small(), { hash: link }, async (page) => {
		assert.deepEqual((await windowOf(page)).map((ns) => Math.round(ns / 1e4) * 1e4), [30 * MS, 20 * MS]);
		for (const hash of ["tab=chart&at=5-1", "tab=chart&at=x", "tab=chart&at=0-99999999999999999"]) {
			await page.evaluate((text) => (location.hash = text), hash);
			await until(page, () => fizeau.chart.span === fizeau.chart.all && fizeau.chart.all === 1e8);
		}
		await page.focus("#chart canvas");
		const said = async (key) => {
			await page.keyboard.press(key);
			return (await page.textContent("#spoken")).replace(/:? [\d.]+ ms,.*/, "");
		};
		assert.equal(await said("ArrowDown"), "one: main");
		assert.equal(await said("ArrowDown"), "one: load");
		assert.equal(await said("ArrowDown"), "one: read");
		assert.equal(await said("ArrowUp"), "one: load");
		assert.equal(await said("ArrowRight"), "one: work");
		assert.equal(await said("ArrowLeft"), "one: load");
	});
});

test("the menu of a frame zooms to its time, keeps it, hides it", async () => {
	await withPage(small(), { hash: "tab=chart" }, async (page) => {
		const { x, y } = await barAt(page, "load", 1);
		await page.mouse.click(x, y, { button: "right" });
		assert.equal(await page.locator("#context button").first().innerText(), "Zoom to its time");
		await page.locator("#context button").first().click();
		assert.deepEqual((await windowOf(page)).map((ns) => Math.round(ns / 1e4) * 1e4), [60 * MS, 20 * MS]);
		const job = await barAt(page, "job");
		await page.mouse.click(job.x, job.y, { button: "right" });
		await page.locator("#context button", { hasText: "Hide" }).click();
		assert.equal((await drawnBars(page)).two?.job, undefined);
	});
});

test("threads, filters, search and name rules apply to the chart", async () => {
	await withPage(small(), { hash: "tab=chart" }, async (page) => {
		await page.evaluate(() => fizeau.set({ threads: Uint8Array.from(fizeau.data.header.threads, (t) => (t.label === "two" ? 1 : 0)) }));
		assert.deepEqual(Object.keys(await drawnBars(page)), ["two"]);
		await page.evaluate(() => fizeau.set({ threads: null, only: fizeau.data.functions.names.indexOf("load") }));
		assert.deepEqual(await drawnBars(page), { one: { main: [[0, 30], [60, 80]], load: [[0, 30], [60, 80]], read: [[10, 20]] } });
		await page.evaluate(() => fizeau.set({ only: -1 }));
		await page.fill("#query", "job");
		await until(page, () => fizeau.state.query === "job");
		await page.keyboard.press("Enter");
		assert.match(await page.textContent("#spoken"), /^two: job: 20(\.0)? ms, from 20/);
		await page.keyboard.press("Enter");
		assert.match(await page.textContent("#spoken"), /^two: job: 20(\.0)? ms, from 70/);
		await page.evaluate(() => fizeau.setRules([["load|work", "stage"]]));
		assert.deepEqual((await drawnBars(page)).one.stage, [[0, 80]]);
	});
});

test("frames below a pixel are grey, and a frame with others in between is marked", async () => {
	const calls = Array.from({ length: 20000 }, (_, i) => ["step", i * 0.005, (i + 1) * 0.005, i % 4 ? [["most", i * 0.005, (i + 1) * 0.005]] : []]);
	await withPage(tracePage({ one: [["main", 0, 100, calls]] }), { hash: "tab=chart" }, async (page) => {
		const shown = await drawnBars(page);
		assert.deepEqual(Object.keys(shown.one).sort(), ["main", "most", "step"]);
		assert.ok(shown.one.most.length < 2000, `${shown.one.most.length} bars`);
		assert.equal(await page.evaluate(() => fizeau.chart.drawn[0].bars.filter((b) => b.mixed).every((b) => b.row === 2)), true);
		const most = await barAt(page, "most");
		await page.mouse.move(most.x, most.y);
		assert.match(await page.innerText("#tip .when"), /shorter frames in between/);
		// Near enough, each is itself.
		await page.evaluate(() => {
			Object.assign(fizeau.chart, { left: 50e6, span: 50000 });
			fizeau.chart.keep();
		});
		const near = await page.evaluate(() => fizeau.chart.drawn[0].bars.map((b) => [fizeau.data.functions.names[fizeau.chart.picture.tree.func[b.node]], b.mixed]));
		assert.equal(near.filter(([name, mixed]) => name === "most" && mixed).length, 0);
		assert.ok(near.filter(([name]) => name === "most").length >= 2);
	});
});

test("there is a chart only if samples have times", async () => {
	for (const page of [profilePage(someProgram(1)), diffPage(someProgram(1), someProgram(2))])
		await withPage(page, { hash: "tab=chart" }, async (p) => {
			assert.equal(await p.locator("#tabs [data-value=chart]").count(), 0);
			assert.equal(await p.evaluate(() => fizeau.state.tab), "flame");
		});
});

test("the time axis of the chart continues that of the strip above it", async () => {
	await withPage(small(), { hash: "tab=chart" }, async (page) => {
		const [tracks, canvas] = await page.evaluate(() => ["#strip .tracks", "#chart canvas"].map((selector) => {
			const { left, right } = document.querySelector(selector).getBoundingClientRect();
			return [left, right];
		}));
		for (const end of [0, 1]) assert.ok(Math.abs(tracks[end] - canvas[end]) <= 1, `${tracks} ${canvas}`);
	});
});
