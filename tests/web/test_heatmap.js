// SPDX-License-Identifier: MIT
// Heat maps: every line's cost, links that highlight each time, callers and callees, instructions,
// the map of the file, both versions in a diff, a folder of pages; and hostile names.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { until, withPage } = require("./browser.js");
const { judgedPage } = require("./judged.js");
const { diffPage, profilePage, someProgram, writeText } = require("./pages.js");
const { test } = require("./tap.js");

const file = "/srv/app/work.py";
const text = ["import json  # \"text\"", "", "def leaf(n):", "    return n * 2", "", "def work(items):", "    for item in items:", "        leaf(item)", "    return leaf(0)", ""];
const f = (name, line, where = file) => ({ name, file: where, line });
const main = f("<module>", 3, "/srv/app/main.py");
const samples = [
	{ tid: 1, count: 40, stack: [main, f("work", 8), f("leaf", 4)] },
	{ tid: 1, count: 10, stack: [main, f("work", 9), f("leaf", 4)] },
	{ tid: 1, count: 7, stack: [main, f("work", 7)] },
	{ tid: 1, count: 3, stack: [main, f("work", 8), f("work", 8), f("leaf", 3)] },
];
const source = () => `source=${file}=${writeText(text.join("\n"))}`;

// Costs of lines straight from the samples: a line counts a sample once.
function lineCosts(list, where) {
	const costs = new Map();
	const of = (line) => costs.get(line) ?? costs.set(line, { self: 0, total: 0 }).get(line);
	for (const s of list) {
		const lines = new Set(s.stack.filter((x) => x.file === where).map((x) => x.line));
		for (const line of lines) of(line).total += s.count;
		const leaf = s.stack.at(-1);
		if (leaf.file === where) of(leaf.line).self += s.count;
	}
	return costs;
}

const shownLines = (page) => page.$$eval(".line:not(.titles):not(.op)", (rows) => rows.map((row) => {
	const cells = [...row.children].map((c) => c.textContent);
	return { line: +cells[1], self: cells[2] ? +cells[2].replaceAll(",", "") : 0, total: cells[3] ? +cells[3].replaceAll(",", "") : 0, code: row.querySelector("code").textContent };
}));

// Number of the file in the page's list.
const fileNumber = (page, name) => page.evaluate((n) => fizeau.heat.files.path.indexOf(n), name);
async function openFile(page, name) {
	const n = await fileNumber(page, name);
	await page.evaluate((number) => (location.hash = `#f${number}`), n);
	await until(page, () => document.querySelector(".listing"));
	return n;
}

test("on a phone a heat map's list of changes begins in sight; how it was measured is folded", async () => {
	await withPage(path.join(judgedPage(["--heatmap"], { folder: true }), "index.html"), { width: 390, height: 740 }, async (page) => {
		const seen = await page.evaluate(() => [...document.querySelectorAll(".hottest li")].map((li) => li.getBoundingClientRect().bottom));
		assert.ok(seen.length > 2 && seen[2] < 500, JSON.stringify(seen));
		assert.ok(!(await page.innerText("body")).includes("Sampling before"));
		await page.click(".quality summary");
		assert.match(await page.innerText(".quality"), /Sampling before: .* After: /);
	});
});

test("amounts of the list of changes are in columns, and each row of cards is full, at all widths", async () => {
	const page2 = path.join(judgedPage(["--heatmap"], { folder: true }), "index.html");
	for (const width of [1280, 700, 390]) await withPage(page2, { width }, async (page) => {
		const [rights, inside, cards] = await page.evaluate(() => {
			const boxes = (selector) => [...document.querySelectorAll(selector)].map((e) => e.getBoundingClientRect());
			const columns = [3, 4].map((k) => boxes(`.hot > :nth-last-child(${5 - k})`).map((b) => b.right));
			const last = new Map(boxes(".card").map((b) => [b.top, b.right]));
			return [columns.map((list) => new Set(list).size), [...document.querySelectorAll(".hot .num")].every((e) => e.scrollWidth <= e.clientWidth), new Set(last.values()).size];
		});
		assert.deepEqual([rights, inside, cards], [[1, 1], true, 1], `${width}`);
	});
});

test("a heat map shows each line's own cost and total, and its text", async () => {
	await withPage(profilePage(samples, ["heatmap", source()]), {}, async (page) => {
		await openFile(page, file);
		const lines = await shownLines(page);
		assert.deepEqual(lines.map((l) => l.code), text.slice(0, -1));
		const costs = lineCosts(samples, file);
		for (const l of lines) assert.deepEqual({ self: l.self, total: l.total }, costs.get(l.line) ?? { self: 0, total: 0 }, `line ${l.line}`);
	});
});

const hotList = (page) => page.$$eval(".hot", (rows) => rows.map((r) => [r.querySelector("b").textContent, r.querySelector(".where").textContent, r.querySelector("code")?.textContent ?? "", ...[...r.querySelectorAll(".num")].map((n) => n.textContent)]));

test("a heat map opens on the hottest lines and the hottest file, a folder's index too", async () => {
	const expected = [["leaf", "work.py:4", "return n * 2", "50", "83.3 %"], ["work", "work.py:7", "for item in items:", "7", "11.7 %"], ["leaf", "work.py:3", "def leaf(n):", "3", "5.0 %"]];
	for (const where of [profilePage(samples, ["heatmap", source()]), path.join(profilePage(samples, ["heatmap", source()], ""), "index.html")])
		await withPage(where, {}, async (page) => {
			assert.deepEqual(await hotList(page), expected);
			assert.match(await page.textContent(".hot-file"), /^Hottest file: work\.py 100\.0 %$/);
			await page.click(".hot");
			await until(page, () => document.querySelector(".line.target .at"));
			assert.equal(await page.textContent(".line.target .at"), "4");
		});
	await withPage(judgedPage(["--heatmap"]), {}, async (page) => {
		const hot = await hotList(page);
		assert.deepEqual(hot.map(([name]) => name).sort(), ["checksum", "digest", "escape", "parse", "split", "split_body", "split_head"], "what certainly changed, and no more");
		assert.match(hot.find(([name]) => name === "escape")[3], /^▼ −/);
		assert.match(hot.find(([name]) => name === "parse")[3], /^▲ \+/);
	});
});

test("what is listed adds up to the whole, also what is in no file", async () => {
	const some = [...samples, { tid: 1, count: 5, stack: [main, { name: "<GC>", file: "", line: 0 }] }];
	await withPage(profilePage(some, ["heatmap"]), {}, async (page) => {
		const rows = await page.$$eval(".row.group", (list) => list.map((r) => [r.querySelector("b").textContent, +r.querySelectorAll(".num")[0].textContent, parseFloat(r.querySelectorAll(".num")[1].textContent)]));
		assert.deepEqual(rows.at(-1).slice(0, 2), ["Without a file", 5]);
		assert.equal(rows.reduce((sum, [, v]) => sum + v, 0), 65);
		assert.ok(Math.abs(rows.reduce((sum, [, , p]) => sum + p, 0) - 100) < 0.2, JSON.stringify(rows));
	});
});

test("a certain change is never hidden in a group that is closed, and has its direction", async () => {
	await withPage(judgedPage(["--heatmap"]), {}, async (page) => {
		const shown = (name, origin) => page.evaluate(([n, o]) => {
			const { heat, index } = fizeau;
			heat.files.origin.fill(0);
			heat.files.origin[heat.files.name.indexOf(n)] = o;
			index.closed.clear();
			index.update();
			return [...document.querySelectorAll(".row.file .label")].some((e) => e.textContent === n);
		}, [name, origin]);
		assert.equal(await shown("decoder.py", 1), true, "parse changed there");
		assert.equal(await shown("io.py", 1), false, "nothing did");
		const n = await page.evaluate(() => fizeau.heat.files.name.indexOf("decoder.py"));
		await page.evaluate((number) => (location.hash = `#f${number}`), n);
		await until(page, () => document.querySelector(".listing"));
		assert.match((await page.$$eval(".verdict", (list) => list.map((v) => v.textContent))).join(), /parse: ▲ slower/);
	});
});

test("what only one side ran has the page's words for it, and no percentage", async () => {
	await withPage(judgedPage(["--heatmap"]), {}, async (page) => {
		const ratios = Object.fromEntries((await hotList(page)).map((h) => [h[0], h.at(-1)]));
		assert.deepEqual([ratios.checksum, ratios.digest], ["to 0", "from 0"]);
		assert.doesNotMatch(await page.innerText("body"), /−100\.0 %/);
		// Where the other side's code is known, the word is certain.
		await page.evaluate(() => {
			for (const h of fizeau.heat.hot) h.presence = 1;
			fizeau.index.show();
		});
		const known = Object.fromEntries((await hotList(page)).map((h) => [h[0], h.at(-1)]));
		assert.deepEqual([known.checksum, known.digest, known.escape], ["gone", "new", ratios.escape]);
		assert.match(ratios.escape, /^−\d/);
		await openFile(page, "/srv/app/legacy.py");
		assert.match((await page.$$eval(".verdict", (list) => list.map((v) => v.textContent))).join(), /checksum: ▼ gone or no longer called/);
	});
});

test("lines are coloured by a cost of their function only if that cost certainly changed", async () => {
	await withPage(judgedPage(["--heatmap"]), {}, async (page) => {
		await openFile(page, "/srv/app/view.py");
		const hues = () => page.$$eval(".line:not(.titles)", (rows) => rows.map((r) => [r.querySelector(".more, .less") !== null, fizeau.files.data.rows.find((row) => row.element === r)])
			.map(([hue, row]) => ({ hue, func: fizeau.files.functionOf(row), weight: row.weight })).filter((r) => r.weight && r.func >= 0));
		for (const family of ["self", "total"]) {
			await page.evaluate((by) => fizeau.setBy(by), family);
			const seen = await hues();
			const changed = await page.evaluate(([by, list]) => list.map((func) => fizeau.heat.functions.verdict[by][func] === $$colors.CHANGED), [family, seen.map((r) => r.func)]);
			assert.ok(seen.length > 1 && changed.includes(true));
			assert.deepEqual(seen.map((r) => r.hue), changed, family);
		}
		// The caller of what became faster has a certain total, but no certain own cost.
		const render = await page.evaluate(() => ["self", "total"].map((by) => fizeau.heat.isChanged(fizeau.heat.functions.name.indexOf("render"), by)));
		assert.deepEqual(render, [false, true]);
	});
});

test("a heat map of bytes says larger and smaller", async () => {
	const side = (leaf, work) => samples.map((s) => ({ ...s, count: 100000 * (s.stack.at(-1).name === "leaf" ? leaf : work) }));
	const ofBytes = diffPage(side(1, 30), side(20, 10), [source(), "counted=peak,bytes", "judged", "heatmap"]);
	await withPage(ofBytes, {}, async (page) => {
		assert.match(await page.textContent(".cards"), /Change.*larger/);
		await page.click(".hottest a >> nth=0");
		const said = (await page.$$eval(".verdict", (list) => list.map((v) => v.textContent))).join();
		assert.match(said, /leaf: ▲ larger/);
		assert.match(said, /work: ▼ smaller/);
		assert.doesNotMatch(await page.innerText("body"), /slower|faster/);
	});
});

test("words of Python and C are coloured, and a comment of several lines is one", async () => {
	await withPage(profilePage(samples, ["heatmap"]), {}, async (page) => {
		const painted = (called, lines) => page.evaluate(([name, list]) => {
			const painter = new $$heat_code.CodePainter(name);
			return list.map((line) => painter.line(line).map((p) => (typeof p === "string" ? p : `${p.className}:${p.textContent}`)));
		}, [called, lines]);
		assert.deepEqual(await painted("x.c", ["#include <a>", "int f(char *s) { /* a", "b */ return s[0] == '\"'; // c"]), [
			["w-deco:#include", " <a>"], ["w-key:int", " f(", "w-key:char", " *s) { ", "w-note:/* a"],
			["w-note:b */", " ", "w-key:return", " s[", "w-num:0", "] == ", "w-str:'\"'", "; ", "w-note:// c"]]);
		assert.deepEqual(await painted("x.py", ['def f(a): """x', 'y""" # z', "return f'{a}' // 2"]), [
			["w-key:def", " ", "w-name:f", "(a): ", 'w-str:"""x'], ['w-str:y"""', " ", "w-note:# z"], ["w-key:return", " ", "w-str:f'{a}'", " // ", "w-num:2"]]);
		// Words that are keywords of a statement only.
		assert.deepEqual(await painted("x.py", ["match = f(x)", "match x:", "  case [a]: # b", "match: int", "match(x).y"]), [
			["match = f(x)"], ["w-key:match", " x:"], ["  ", "w-key:case", " [a]: ", "w-note:# b"], ["match: int"], ["match(x).y"]]);
	});
});

test("a heat map of random stacks has the costs that the samples have", async () => {
	const many = someProgram(5, { threads: 2 });
	await withPage(profilePage(many, ["heatmap"]), {}, async (page) => {
		for (const name of new Set(many.flatMap((s) => s.stack.map((x) => x.file)))) {
			await openFile(page, name);
			await until(page, (n) => fizeau.files.data.file === fizeau.heat.files.path.indexOf(n), name);
			const got = new Map((await shownLines(page)).filter((l) => l.total).map((l) => [l.line, { self: l.self, total: l.total }]));
			assert.deepEqual([...got].sort((a, b) => a[0] - b[0]), [...lineCosts(many, name)].sort((a, b) => a[0] - b[0]), name);
		}
	});
});

test("the link of a line highlights it every time", async () => {
	await withPage(profilePage(samples, ["heatmap", source()]), { motion: true }, async (page) => {
		const n = await openFile(page, file);
		// An animation may be over before we look.
		await page.evaluate(() => {
			const element = window.Element.prototype, animate = element.animate;
			window.animated = 0;
			element.animate = function(...how) {
				window.animated += this.matches(".line.target");
				return animate.apply(this, how);
			};
		});
		const state = () => page.evaluate(() => ({
			hash: location.hash, n: fizeau.files.highlights ?? 0, target: document.querySelector(".line.target .at")?.textContent,
			animated: window.animated,
		}));
		for (let time = 1; time <= 3; time++) {
			await page.click('.at a:text-is("8")');
			assert.deepEqual(await state(), { hash: `#f${n}L8`, n: time, target: "8", animated: time });
		}
		await page.click('.at a:text-is("4")');
		assert.equal((await state()).target, "4");
		assert.equal(await page.locator(".line.target").count(), 1);
	});
	const page = profilePage(samples, ["heatmap", source()]);
	await withPage(page, { hash: "f0L8" }, async (p) => assert.equal(await p.textContent(".line.target .at"), "8"));
	await withPage(page, { hash: "f99L8" }, async (p) => assert.equal(await p.locator(".files").count(), 1));
});

test("callers and callees are one click away", async () => {
	await withPage(profilePage(samples, ["heatmap", source()]), {}, async (page) => {
		await openFile(page, file);
		const row = (line) => page.locator(".line", { has: page.locator(`.at a:text-is("${line}")`) });
		await row(9).locator('.jump:has-text("▼")').click();
		assert.equal(await page.textContent(".line.target .at"), await page.evaluate(() => String(fizeau.heat.functions.line[fizeau.heat.functions.name.indexOf("leaf")])));
		await row(8).locator('.jump:has-text("▼")').click();
		const items = await page.$$eval("#menu a", (list) => list.map((a) => [a.querySelector("b").textContent, a.querySelector(".num").textContent]));
		assert.deepEqual(items, [["leaf", "43"], ["work", "3"]], "recursion counts a sample once");
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press("Escape");
		assert.equal(await page.isHidden("#menu"), true);
		const callers = page.locator(".jump", { hasText: "▲" });
		assert.ok(await callers.count() >= 2);
	});
});

test("keys walk hot lines, change the cost, hide cold lines and open instructions", async () => {
	const withOpcodes = samples.map((s) => ({ ...s, stack: s.stack.map((x) => ({ ...x, line: x.line + 1000 * (x.name === "leaf" ? 122 : 52) })) }));
	await withPage(profilePage(withOpcodes, ["heatmap", source(), "opcodes=13"]), {}, async (page) => {
		await openFile(page, file);
		await page.keyboard.press("n");
		const first = await page.textContent(".line.target .at");
		await page.keyboard.press("n");
		assert.notEqual(await page.textContent(".line.target .at"), first);
		await page.keyboard.press("p");
		assert.equal(await page.textContent(".line.target .at"), first);
		await page.keyboard.press("t");
		assert.equal(await page.getAttribute('#by [data-value="total"]', "aria-pressed"), "true");
		const all = await page.locator(".line:not(.titles)").count();
		await page.keyboard.press("b");
		const ops = await page.$$eval(".line.op", (rows) => rows.map((r) => [...r.children].map((c) => c.textContent)));
		assert.ok(ops.length >= 4 && await page.locator(".line:not(.titles)").count() === all + ops.length);
		assert.ok(ops.every((cells) => cells.length === 5 && /^[A-Z_]+|<\d+>/.test(cells[4])), JSON.stringify(ops));
		assert.equal(ops.reduce((sum, cells) => sum + (+cells[2] || 0), 0), 60, "self costs of instructions are those of the lines");
		await page.keyboard.press("i");
		await until(page, () => document.querySelector(".files"));
		await page.keyboard.press("/");
		await page.keyboard.type("main");
		await until(page, () => [...document.querySelectorAll(".row.file .label")].map((x) => x.textContent).join() === "main.py");
	});
});

test("who comes back to the files and types at once is not interrupted", async () => {
	await withPage(profilePage(samples, ["heatmap"]), {}, async (page) => {
		await openFile(page, file);
		await page.evaluate(() => {
			addEventListener("popstate", () => fizeau.index.filter.focus());
			return new Promise((resolve) => {
				addEventListener("hashchange", () => setTimeout(resolve));
				location.hash = "";
			});
		});
		assert.equal(await page.evaluate(() => document.activeElement === fizeau.index.filter), true);
	});
});

test("the theme is the system's until one is chosen", async () => {
	await withPage(profilePage(samples, ["heatmap"]), { theme: "dark" }, async (page) => {
		const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
		assert.equal(await theme(), "dark");
		await page.emulateMedia({ colorScheme: "light" });
		await until(page, () => document.documentElement.dataset.theme === "light");
		await page.keyboard.press("d");
		await page.emulateMedia({ colorScheme: "dark" });
		await page.waitForTimeout(50);
		assert.equal(await theme(), "light");
	});
});

test("a diff aligns both versions and says what each line costs more or less", async () => {
	const after = [...text];
	after.splice(3, 1, "    m = n * 2", "    return m");
	const head = [
		{ tid: 1, count: 90, stack: [main, f("work", 9), f("leaf", 4)] },
		{ tid: 1, count: 20, stack: [main, f("work", 9), f("leaf", 5)] },
	];
	const options = ["heatmap", "exact", "time", `base-source=${file}=${writeText(text.join("\n"))}`, `source=${file}=${writeText(after.join("\n"))}`];
	await withPage(diffPage(samples, head, options), {}, async (page) => {
		await openFile(page, file);
		const rows = await page.$$eval(".line:not(.titles)", (list) => list.map((r) => [...r.children].slice(1, 7).map((c) => c.textContent).concat(r.querySelector("code").textContent)));
		const at = (code) => rows.filter((r) => r[6] === code);
		assert.deepEqual(at("    return n * 2"), [["4", "", "−", "50", "", "▼ −50", "    return n * 2"]]);
		assert.deepEqual(at("    m = n * 2"), [["", "4", "+", "", "90", "▲ +90", "    m = n * 2"]]);
		assert.deepEqual(at("def work(items):").map((r) => r.slice(0, 2)), [["6", "7"]]);
		await page.keyboard.press("t");
		const work = await page.$$eval(".line:not(.titles)", (list) => list.map((r) => [...r.children].slice(1, 7).map((c) => c.textContent)).find((c) => c[0] === "8"));
		assert.deepEqual(work, ["8", "9", "", "43", "110", "▲ +67"]);
	});
});

test("an edit that opens a string colours only the version that has it", async () => {
	const [before, after] = ['    """return n * 2', '    """return n * 2"""'].map((line) => text.map((t, i) => (i === 3 ? line : t)));
	const options = ["heatmap", "exact", "time", `base-source=${file}=${writeText(before.join("\n"))}`, `source=${file}=${writeText(after.join("\n"))}`];
	await withPage(diffPage(samples, samples, options), {}, async (page) => {
		await openFile(page, file);
		const words = await page.$$eval(".line:not(.titles) code", (list) => list.map((c) => [c.textContent, [...c.children].map((w) => w.className).join()]));
		assert.deepEqual(words.find(([t]) => t === "def work(items):"), ["def work(items):", "w-key,w-name"]);
	});
});

test("of a judged diff only files with a real change have a hue", async () => {
	const onePage = judgedPage(["--heatmap"]), pages = judgedPage(["--heatmap", "--palette", "fizeau"], { folder: true });
	for (const made of [onePage, path.join(pages, "index.html")]) await withPage(made, {}, async (page) => {
		const hues = await page.$$eval(".row.file", (list) => Object.fromEntries(list.map((r) => [r.querySelector(".label").textContent, r.querySelectorAll(".more, .less").length])));
		assert.ok(hues["decoder.py"] > 0 && hues["plugins.py"] === 0, JSON.stringify(hues));
	});
});

test("a sum of files has a direction only where those that certainly changed make most of it", async () => {
	await withPage(judgedPage(["--heatmap"]), {}, async (page) => {
		const tone = (changes) => page.evaluate((list) => {
			const { heat, index } = fizeau, { files } = heat;
			for (let i = 0; i < files.n; i++) {
				files.changed.self[i] = list[i]?.[1] ?? 0;
				files.origin[i] = 0;
				files.self[0][i] = 1000 / heat.factor;
				files.self[1][i] = 1000 + (list[i]?.[0] ?? 0);
			}
			index.update();
			return document.querySelector(".row.group .more, .row.group .less")?.className ?? "";
		}, changes);
		assert.match(await tone([[90, 1], [10, 0]]), /more/);
		assert.match(await tone([[-90, 1], [10, 0]]), /less/);
		assert.equal(await tone([[10, 1], [90, 0]]), "");
		assert.equal(await tone([[-60, 1], [90, 0]]), "", "the sum goes the other way");
		assert.equal(await tone([[90, 0]]), "");
	});
});

test("on a phone the hottest lines keep the last parts of names and places, and nothing scrolls sideways", async () => {
	const long = [{ tid: 1, count: 40, stack: [f("Some.Long.Outer.Class.method_of_it", 4, "/srv/app/a/rather/deep/folder/of/modules/part.py")] }];
	for (const width of [390, 320]) await withPage(profilePage(long, ["heatmap"]), { width }, async (page) => {
		const [name, place] = await page.$eval(".hot-place", (hot) => [hot.querySelector(".parts > :last-child"), hot.querySelector(".where > bdi")].map((e) => {
			const box = e.getBoundingClientRect(), around = hot.getBoundingClientRect();
			return [e.textContent, box.right <= around.right + 1, box.width];
		}));
		assert.deepEqual(name.slice(0, 2), ["method_of_it", true]);
		assert.ok(place[0].endsWith("part.py:4") && place[1], JSON.stringify(place));
		assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
	});
	// A name's beginning that has no room is left out, not cut to a letter that reads as part of the rest.
	const names = ["Generator.column_parts_of_all", "Generator.sql", "A.very_long_name_of_a_method_that_fills_its_row", "plain_name"];
	const many = names.map((name, k) => ({ tid: 1, count: 40 + k, stack: [f(name, 4 + k, "/srv/app/part.py")] }));
	for (const width of [1200, 390, 360, 330, 320]) await withPage(profilePage(many, ["heatmap"]), { width }, async (page) => {
		const seen = await page.$$eval(".hot-place .parts", (list) => list.map((parts) => {
			const around = parts.getBoundingClientRect(), ch = parseFloat(getComputedStyle(parts).fontSize) / 2;
			return [...parts.children].map((e) => ({ text: e.textContent, isShown: e.getBoundingClientRect().top < around.bottom - 1, isWhole: e.scrollWidth <= e.clientWidth + 1, isWide: e.getBoundingClientRect().width >= 2.5 * ch, left: e.getBoundingClientRect().left - around.left }));
		}));
		assert.equal(seen.length, names.length);
		for (const [head, tail] of seen.filter((parts) => parts.length > 1)) {
			assert.ok(!head.isShown || head.isWhole || head.isWide, `${width} ${JSON.stringify(head)}`);
			assert.ok(tail.isShown && (head.isShown || Math.abs(tail.left) < 1), `${width} ${JSON.stringify([head, tail])}`);
		}
		if (width === 1200) assert.ok(seen.flat().every((part) => part.isShown && part.isWhole), JSON.stringify(seen));
	});
	// The list of files has its cost, or its change.
	for (const made of [profilePage(samples, ["heatmap"]), judgedPage(["--heatmap"])]) await withPage(made, { width: 320 }, async (page) => {
		const [widths, end, last] = await page.evaluate(() => {
			const rows = [...document.querySelectorAll(".row.file")].filter((r) => r.checkVisibility());
			const shown = [...rows[0].children].filter((c) => c.checkVisibility());
			return [Math.min(...rows.map((r) => r.querySelector(".label").getBoundingClientRect().width)), shown.at(-1).getBoundingClientRect().right, shown.at(-1).textContent];
		});
		assert.ok(widths > 20 && end <= 320 && last.length > 1, JSON.stringify([widths, end, last]));
	});
});

test("a folder has an index and a page for each file that link to one another", async () => {
	const folder = profilePage(samples, ["heatmap", source()], "");
	assert.deepEqual(fs.readdirSync(folder).sort(), ["file_0000.html", "file_0001.html", "index.html"]);
	await withPage(path.join(folder, "index.html"), {}, async (page) => {
		await page.click('.row.file:has-text("work.py")');
		await page.waitForSelector("html[data-ready]");
		const lines = await shownLines(page);
		assert.equal(lines.length, text.length - 1);
		const start = await page.evaluate(() => String(fizeau.heat.functions.line[fizeau.heat.functions.name.indexOf("work")]));
		await page.locator(".line", { has: page.locator(`.at a:text-is("${start}")`) }).locator('.jump:has-text("▲")').click();
		if (await page.isVisible("#menu")) await page.click('#menu a:has-text("main.py")');
		await until(page, () => document.title.startsWith("main.py") || document.querySelector(".path")?.textContent.endsWith("main.py"));
		assert.equal(await page.textContent(".line.target .at"), "3");
		await page.click(".back");
		await page.waitForSelector(".files");
	});
});

test("hostile names, files and texts stay text in heat maps", async () => {
	const attacks = ["</script><script>window.pwned = 1</script>", "<!--", "<img src=x onerror=window.pwned=1>", "\"'><svg onload=window.pwned=1>",
		"javascript:window.pwned=1", "<!--fz:data-->", "__proto__", "constructor", "\u202egnp.exe", "x".repeat(3000)];
	const hostile = attacks.map((name, i) => ({
		tid: 1, count: 10 + i, stack: [f("main", 1, "/srv/<b>.py"), f(name.replaceAll(";", ","), 2, `/srv/${name.slice(0, 60).replace(/[;:\n]/g, "")}.py`)],
	}));
	const evil = writeText(`</script><script>window.pwned = 1</script>\n"""<img src=x onerror=window.pwned=1>\n<!-- <script>\n'\\`);
	const look = async (page) => {
		assert.equal(await page.evaluate(() => window.pwned), undefined);
		assert.equal(await page.evaluate(() => document.querySelectorAll("img, svg[onload]").length), 0);
		assert.equal(await page.evaluate(() => document.querySelectorAll("script").length), 3);
		assert.equal(await page.evaluate(() => [...document.links].filter((a) => !/^(file:|#)/.test(a.href)).length), 0);
	};
	const options = ["heatmap", `source=/srv/<b>.py=${evil}`];
	for (const made of [profilePage(hostile, options), diffPage(hostile, hostile.slice(3), [...options, "exact"])])
		await withPage(made, {}, async (page) => {
			await look(page);
			for (let i = 0; i < await page.evaluate(() => fizeau.heat.files.n); i++) {
				await page.evaluate((n) => (location.hash = `#f${n}`), i);
				await until(page, (n) => fizeau.files.data?.file === n, i);
				const button = await page.$(".jump");
				if (button) {
					await button.click();
					await look(page);
					await page.keyboard.press("Escape");
				}
				await look(page);
			}
		});
	await withPage(profilePage(hostile, ["heatmap"]), { javascript: false }, async (page) =>
		assert.equal(await page.$$eval(".fallback img, .fallback svg, .fallback script", (list) => list.length), 0));
});

test("nothing of a heat map is wider than a narrow window but code", async () => {
	for (const [made, hash] of [[profilePage(samples, ["heatmap", source()]), ""], [diffPage(samples, samples, ["heatmap", "exact", source()]), ""], [profilePage(samples, ["heatmap", source()]), "f0"]])
		await withPage(made, { width: 700, hash }, async (page) => {
			assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 700);
			assert.equal(await page.evaluate(() => [...document.querySelectorAll("#top, .file-bar, .cards, .files, .row")].filter((e) => e.getBoundingClientRect().right > 700.5).length), 0);
		});
});

test("an empty profile has an empty heat map", async () => {
	await withPage(profilePage([], ["heatmap"]), {}, async (page) => assert.ok((await page.textContent(".files")).includes("No file")));
});
