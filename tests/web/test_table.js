// SPDX-License-Identifier: MIT
// The table of functions: use by keyboard, and its rows in other programs.
"use strict";
const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const { until, withPage } = require("./browser.js");
const { judgedPage } = require("./judged.js");
const { diffPage, profilePage } = require("./pages.js");
const { test } = require("./tap.js");

const column = (page, title) => page.evaluate((wanted) => {
	const at = [...document.querySelectorAll("#table .head .cell")].findIndex((c) => c.textContent === wanted);
	return [...document.querySelectorAll("#table .rows .row")].map((r) => r.children[at].textContent);
}, title);
const sorts = (page) => page.$$eval("#table .head .cell", (cells) => cells.map((c) => c.getAttribute("aria-sort")).filter((s) => s !== "none"));
// The rows that Python's csv module reads.
const readCsv = (text) => JSON.parse(execFileSync("python3", ["-c", "import csv, io, json, sys; print(json.dumps(list(csv.reader(io.StringIO(sys.stdin.read(), newline='')))))"], { input: text, encoding: "utf8" }));

test("every column sorts by keys, both ways, and announces it", async () => {
	await withPage(judgedPage(), { hash: "tab=table" }, async (page) => {
		const titles = await page.$$eval("#table .head button", (list) => list.map((b) => b.textContent));
		assert.ok(titles.length >= 9, titles.join());
		for (const title of titles) {
			await page.focus(`#table .head button:text-is("${title}")`);
			await page.keyboard.press("Enter");
			const [first] = await sorts(page), one = await column(page, title);
			await page.focus(`#table .head button:text-is("${title}")`);
			await page.keyboard.press("Space");
			const [second] = await sorts(page), other = await column(page, title);
			assert.deepEqual([first, second].sort(), ["ascending", "descending"], title);
			assert.notDeepEqual(one, other, title);
		}
		await page.focus("#table .bar input");
		await page.keyboard.type("view.py");
		await until(page, () => fizeau.state.rows === "view.py");
		assert.ok((await column(page, "Function")).every((text) => text.includes("view.py")));
	});
});

test("a table shows whole columns and whole names: the rest is beyond its edge", async () => {
	for (const width of [1500, 1280, 1000, 700, 390]) await withPage(judgedPage(), { width, hash: "tab=table" }, async (page) => {
		const [edge, rights, cut, tags] = await page.evaluate(() => {
			const box = document.querySelector("#table .scroller"), left = box.getBoundingClientRect().left + box.clientLeft;
			const cells = [...document.querySelectorAll("#table .head .cell")];
			const own = (e) => e.scrollWidth > e.clientWidth;
			const tagsOf = [...document.querySelectorAll("#table .rows .cell.name")].map((cell) => {
				const { bottom } = cell.getBoundingClientRect();
				return [...cell.querySelectorAll(".origin, .place")].map((e) => e.getBoundingClientRect()).every((b) => b.bottom <= bottom || b.top >= bottom);
			});
			return [left + box.clientWidth, cells.map((c) => c.getBoundingClientRect().right),
				[...document.querySelectorAll("#table .what > span, #table .head button, #table .rows .cell:not(.name)")].filter(own).map((e) => e.textContent), tagsOf.every(Boolean)];
		});
		assert.ok(rights.some((right) => Math.abs(right - edge) < 1.5), `${width}: ${edge} is no edge of ${rights}`);
		assert.deepEqual([cut, tags], [[], true], `${width}`);
	});
});

test("large numbers, long headings and words have room, and a column no more than it needs", async () => {
	const f = (name) => ({ name, file: "/srv/m.py", line: 3 }), count = 123456789012;
	const side = (k) => [{ tid: 1, stack: [f("main"), f("steady")], count }, { tid: 1, stack: [f("main"), f("grown")], count: 7 + k * count }];
	for (const file of [diffPage(side(0), side(1), ["share"]), profilePage(side(1)), judgedPage()])
		for (const width of [1500, 390]) await withPage(file, { width, hash: "tab=table" }, async (page) => {
			const { cut, spare } = await page.evaluate(() => {
				const cells = [...document.querySelectorAll("#table .head .cell:not(.name), #table .rows .cell:not(.name)")];
				const room = (cell) => {
					const { paddingLeft, paddingRight } = getComputedStyle(cell), text = document.createRange();
					text.selectNodeContents(cell);
					// The arrow of the sorted column is not text.
					const arrow = cell.ariaSort === "descending" ? 14 : 0;
					return cell.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - text.getBoundingClientRect().width - arrow;
				};
				const byLeft = new Map();
				for (const cell of cells) {
					const left = Math.round(cell.getBoundingClientRect().left);
					byLeft.set(left, Math.min(byLeft.get(left) ?? Infinity, room(cell)));
				}
				return {
					cut: cells.filter((cell) => cell.scrollWidth > cell.clientWidth || room(cell) < -0.5).map((cell) => cell.textContent),
					spare: Math.max(...byLeft.values()),
				};
			});
			assert.deepEqual(cut, [], `${width}`);
			assert.ok(spare < 60, `${width}: ${spare} pixels too many`);
		});
});

test("on a phone both columns of the change are in sight, also by share", async () => {
	const f = (name) => ({ name, file: "/srv/m.py", line: 3 });
	const side = (n) => [{ tid: 1, stack: [f("main"), f("work")], count: n }, { tid: 1, stack: [f("main")], count: 9 }];
	await withPage(diffPage(side(5), side(8), ["share"]), { width: 390, hash: "tab=table" }, async (page) => {
		const shown = await page.$$eval("#table .head .cell", (cells) => cells.filter((c) => c.getBoundingClientRect().right <= innerWidth).map((c) => c.textContent));
		assert.deepEqual(shown, ["Function", "Change", "Change %"]);
	});
});

test("on a phone names with equal ends are distinguishable", async () => {
	const f = (name) => ({ name, file: "/srv/m.go", line: 3 });
	const file = profilePage([{ tid: 1, stack: [f("runtime.main"), f("main.main")], count: 3 }]);
	await withPage(file, { width: 390, hash: "tab=table" }, async (page) => {
		const shown = await page.$$eval("#table .rows .what", (names) => names.map((e) => [...e.children]
			.filter((part) => part.clientWidth > 0 && part.scrollWidth <= part.clientWidth).map((part) => part.textContent).join("")));
		assert.deepEqual(shown.sort(), ["main.main", "runtime.main"]);
	});
});

test("rows of equal change are in order of cost", async () => {
	const f = (name) => ({ name, file: "/srv/m.py", line: 3 });
	const stack = (...names) => names.map(f);
	const same = [{ tid: 1, stack: stack("main", "a", "b"), count: 5 }, { tid: 1, stack: stack("main", "a"), count: 2 }, { tid: 1, stack: stack("main", "c"), count: 9 }];
	await withPage(diffPage(same, same, ["time"]), { hash: "tab=table" }, async (page) => {
		const after = (await column(page, "After")).map((text) => parseFloat(text));
		assert.deepEqual(after, [...after].sort((a, b) => b - a));
	});
});

test("rows are copied as CSV that another program reads back, formulas tamed", async () => {
	const f = (name, file) => ({ name, file, line: 3 });
	const names = ["plain", 'say "hi", twice', "=HYPERLINK(1)", "-x", "@sum"];
	await withPage(profilePage(names.map((name, i) => ({ tid: 1, stack: [f("main", "/srv/m.py"), f(name, "/srv/a, b.py")], count: 10 + i }))), { hash: "tab=table" }, async (page) => {
		await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
		await page.click("#copy-csv");
		await until(page, () => document.getElementById("spoken").textContent === "6 rows copied");
		const rows = readCsv(await page.evaluate(() => navigator.clipboard.readText()));
		assert.deepEqual(rows[0].slice(0, 4), ["function", "file", "line", "self"]);
		assert.ok(rows.every((row) => row.length === rows[0].length));
		const tsv = await page.evaluate(() => fizeau.table.tsv());
		assert.deepEqual(rows.map((row) => row.map((cell) => cell.replace(/^'/, ""))), tsv.trimEnd().split("\n").map((line) => line.split("\t")));
		assert.deepEqual(rows.slice(1).map(([name]) => name).sort(), ["plain", 'say "hi", twice', "'=HYPERLINK(1)", "'-x", "'@sum", "main"].sort());
	});
	await withPage(judgedPage(), { hash: "tab=table" }, async (page) => {
		const rows = readCsv(await page.evaluate(() => fizeau.table.csv()));
		const at = rows[0].indexOf("change");
		assert.ok(rows[0].includes("low") && rows[0].includes("high") && rows.slice(1).some((row) => row[at].startsWith("-")), "numbers stay numbers");
		assert.ok(rows.every((row) => row.length === rows[0].length));
		await page.evaluate(() => document.activeElement.blur());
		await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
		await page.keyboard.press("C");
		await until(page, () => / rows copied$/.test(document.getElementById("spoken").textContent));
		assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await page.evaluate(() => fizeau.table.csv()));
	});
});
