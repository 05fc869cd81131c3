// SPDX-License-Identifier: MIT
// The source of one function: lines of both versions aligned, and their costs.
"use strict";
const assert = require("node:assert/strict");
const { centreOf, readTree, resize, until, withPage } = require("./browser.js");
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
// Texts of the cells, without what a line calls.
const rowsOf = (page) => page.$$eval(".lines tr", (rows) => rows.slice(1).map((r) => [...r.cells].map((c) => [...c.childNodes].filter((part) => part.className !== "calls").map((part) => part.textContent).join("").trim())));
const show = (page, name) => page.evaluate((n) => fizeau.set({ tab: "source", middle: fizeau.data.functions.names.indexOf(n) }), name);

test("words of the source are coloured, those of a hot line stay readable", async () => {
	const code = writeText(["def work(n):", '    """a text', '    of two lines"""', "    return n  # why", "    pass"].join("\n"));
	await withPage(profilePage([work(4, 30)], [`source=/srv/app/code.py=${code}`]), {}, async (page) => {
		await show(page, "work");
		const words = await page.$$eval(".lines td.code span", (list) => list.map((s) => [s.className, s.textContent]));
		assert.deepEqual(words, [["w-key", "def"], ["w-name", "work"], ["w-str", '"""a text'], ["w-str", '    of two lines"""'], ["w-key", "return"], ["w-note", "# why"], ["w-key", "pass"]]);
		const colours = await page.$$eval(".lines tr:has(.w-key)", (rows) => rows.map((r) => [r.className, getComputedStyle(r.querySelector(".w-key")).color !== getComputedStyle(r.querySelector("td.code")).color]));
		assert.deepEqual(colours, [["", true], ["hot h8 marked", false], ["", true]]);
		const grounds = await page.$$eval(".lines tr:has(.w-key)", (rows) => rows.map((r) => /^rgba\(0, 0, 0, 0\)$/.test(getComputedStyle(r).backgroundColor)));
		assert.deepEqual(grounds, [true, false, true], "a hot line has a colour");
	});
});

test("a docstring far above a function does not invert its colours", async () => {
	const lines = ['"""A module', ...Array.from({ length: 8 }, () => "of words"), '"""', ...Array.from({ length: 34 }, (_, i) => `call_${i}()`), "def work(n):", '    """a text"""', "    return n"];
	const above = (line) => ({ tid: 1, count: 1, stack: [{ name: "<module>", file: "/srv/app/code.py", line }] });
	await withPage(profilePage([work(47, 30), ...[2, 12, 22, 32, 42].map(above)], [`source=/srv/app/code.py=${writeText(lines.join("\n"))}`]), {}, async (page) => {
		await show(page, "work");
		assert.deepEqual(await page.$$eval(".lines tr:not(.hot) td.code span", (list) => list.map((s) => [s.className, s.textContent])),
			[["w-key", "def"], ["w-name", "work"], ["w-str", '"""a text"""']]);
	});
});

test("lines of both versions are aligned, with the change of each", async () => {
	await withPage(diff(), { width: 1000 }, async (page) => {
		await show(page, "work");
		const rows = await rowsOf(page);
		const find = (code) => rows.find((r) => r[3] === code);
		assert.deepEqual(find("slow(x)"), ["10", "", "−", "slow(x)", "30", "", "▼ −30", "30 → 0"]);
		assert.deepEqual(find("fast(x)"), ["", "11", "+", "fast(x)", "", "6", "▲ +6", "0 → 6"]);
		assert.deepEqual(find("line_12()"), ["12", "13", "", "line_12()", "10", "10", "", "10 → 10"]);
		assert.deepEqual(find("line_9()"), ["9", "10", "", "line_9()", "", "", "", ""]);
		const heat = await page.$$eval(".lines tr", (list) => list.map((r) => r.className).filter((c) => c));
		assert.deepEqual(heat, ["hot l4 marked", "hot m2"]);
		await page.keyboard.press("x");
		assert.deepEqual((await rowsOf(page)).find((r) => r[3] === "slow(x)"), ["", "10", "+", "slow(x)", "", "30", "▲ +30", "0 → 30"]);
	});
	// Side by side where there is room: what was replaced beside what replaced it.
	await withPage(diff(), { width: 1400 }, async (page) => {
		await show(page, "work");
		const rows = await rowsOf(page);
		assert.deepEqual(rows.find((r) => r[1] === "slow(x)"), ["10", "slow(x)", "30", "11", "fast(x)", "6", "▼ −24", "30 → 6"]);
		assert.deepEqual(rows.find((r) => r[4] === "prepare(x)"), ["", "", "", "9", "prepare(x)", "", "", ""]);
		const shaded = (kind) => page.$$eval(`.lines td.${kind}`, (list) => list.map((c) => c.textContent.trim()));
		assert.deepEqual([await shaded("gone"), await shaded("added")], [["slow(x)"], ["prepare(x)", "fast(x)"]], "what was replaced is shaded, too");
		await page.setViewportSize({ width: 700, height: 800 });
		await until(page, () => !document.querySelector(".lines.both"));
		assert.ok((await rowsOf(page)).some((r) => r[3] === "fast(x)"));
	});
});

test("side by side, a removed line and an unrelated new one have a row each", async () => {
	const other = writeText(text.map((line, i) => (i === 9 ? "    return None" : line)).join("\n"));
	await withPage(diffPage([work(10, 30)], [work(10, 6)], ["exact", "time", `base-source=/srv/app/code.py=${then}`, `source=/srv/app/code.py=${other}`]), { width: 1400 }, async (page) => {
		await show(page, "work");
		const sides = (await rowsOf(page)).map((r) => [r[1], r[4]]);
		assert.deepEqual(sides.filter(([a, b]) => a !== b), [["slow(x)", ""], ["", "return None"]]);
	});
});

test("lines that are not in the page are a gap, and the change is in sight from 390 pixels on", async () => {
	const far = Array.from({ length: 90 }, (_, i) => `    line_${i + 1}()`);
	const file = writeText(far.join("\n"));
	// A page has files with so little of the run only in part.
	const lines = (slow) => [work(10, 30), work(70, slow), { tid: 1, count: 30000, stack: work(1, 0).stack.slice(0, 1) }];
	const page2 = diffPage(lines(40), lines(90), ["exact", "time", `base-source=/srv/app/code.py=${file}`, `source=/srv/app/code.py=${file}`]);
	for (const width of [1400, 700, 390])
		await withPage(page2, { width }, async (page) => {
			await show(page, "work");
			assert.equal(await page.$$eval(".lines .gap", (list) => list.length), 1, `${width}`);
			const right = await page.$$eval(".lines .marked td", (list) => Math.max(...list.filter((c) => c.textContent.includes("+50")).map((c) => c.getBoundingClientRect().right)));
			assert.ok(right > 0 && right <= width, `${width}: ${right}`);
			const code = await page.$$eval(".lines .marked td.code", (list) => Math.min(...list.map((c) => c.getBoundingClientRect().width)));
			assert.ok(code >= 180, `${width}: code is ${code} wide`);
			const shown = await page.$$eval(".lines .marked td", (list) => list.filter((c) => c.offsetWidth).map((c) => c.textContent));
			assert.equal(shown.includes("40") && shown.includes("90"), width >= 700, `${width}: costs before and after: ${shown}`);
			const tops = await page.$$eval(".lines .marked td", (list) => [...new Set(list.filter((c) => c.offsetWidth).map((c) => c.getBoundingClientRect().top))]);
			assert.equal(tops.length, 1, `${width}: cells of a line are on one line`);
			const [top, bottom, box] = await page.$eval(".lines .marked", (row) => [row.getBoundingClientRect().top, row.getBoundingClientRect().bottom, row.closest(".listing").getBoundingClientRect()].map((v) => (typeof v === "number" ? v : [v.top, v.bottom])));
			assert.ok(top >= box[0] && bottom <= box[1], `${width}: the marked line is in sight`);
		});
});

test("a profile's source has its own cost, l opens it, and missing source is reported", async () => {
	await withPage(profilePage([work(10, 30), work(12, 10)], [`source=/srv/app/code.py=${then}`]), {}, async (page) => {
		for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowDown");
		await page.keyboard.press("l");
		assert.ok(await page.isVisible("#source"));
		assert.deepEqual((await rowsOf(page)).find((r) => r[1] === "slow(x)"), ["10", "slow(x)", "30", "30", "75.0 %"]);
		await show(page, "main");
		assert.match(await page.innerText("#source"), /Source not recorded/);
	});
	for (const width of [1400, 700])
		for (const theme of ["light", "dark"])
			await withPage(diff(), { width, theme, hash: "tab=source" }, async (page) =>
				assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)));
});

test("lines are aligned when the file moved, and when the function has another name", async () => {
	const sample = (file, name, line, count) => ({ tid: 1, count, stack: [
		{ name: "main", file: "/srv/app/main.py", line: 1 }, { name: "step", file: "/srv/app/main.py", line: 9 }, { name, file, line }, ...(line === 12 || line === 13 ? [{ name: "leaf", file: "/srv/app/main.py", line: 20 }] : [])] });
	for (const [file, name] of [["/srv/app/lib/fresh.py", "work"], ["/srv/app/code.py", "work_v2"]]) {
		const changed = diffPage([sample("/srv/app/code.py", "work", 10, 300), sample("/srv/app/code.py", "work", 12, 100)],
			[sample(file, name, 11, 160), sample(file, name, 13, 100)], ["time", `base-source=/srv/app/code.py=${then}`, `source=${file}=${now}`]);
		await withPage(changed, { width: 1000 }, async (page) => {
			const link = await page.evaluate(() => fizeau.data.header.links[0]);
			assert.deepEqual([link.from_name, link.name], ["work", name]);
			await show(page, name);
			const rows = await rowsOf(page);
			const find = (code) => rows.find((r) => r[3] === code);
			assert.deepEqual(find("slow(x)"), ["10", "", "−", "slow(x)", "300", "", "▼ −300", "300 → 0"], file);
			assert.deepEqual(find("fast(x)"), ["", "11", "+", "fast(x)", "", "160", "▲ +160", "0 → 160"], file);
			assert.deepEqual(find("line_11()").slice(0, 3), ["11", "12", ""], file);
			assert.match(await page.innerText("#source"), /Before: work in code\.py\./);
		});
	}
});

test("a function that moved within its file is aligned with itself, also with the sides swapped", async () => {
	const part = (name, edit) => [`def ${name}():`, ...Array.from({ length: 70 }, (_, i) => (i === 30 ? `    ${name}_${edit}()` : `    ${name}_line_${i}()`)), ""];
	const one = part("one", "old"), two = part("two", "same"), edited = part("one", "new");
	const at = (name, line, count) => ({ tid: 1, count, stack: [{ name, file: "/srv/app/code.py", line }] });
	const moved = diffPage([at("one", 32, 300), at("one", 40, 50), at("two", 80, 90)], [at("one", 104, 600), at("one", 112, 50), at("two", 8, 90)],
		["exact", "time", `base-source=/srv/app/code.py=${writeText([...one, ...two].join("\n"))}`, `source=/srv/app/code.py=${writeText([...two, ...edited].join("\n"))}`]);
	await withPage(moved, { width: 1000 }, async (page) => {
		await show(page, "one");
		const find = async (code) => (await rowsOf(page)).find((r) => r[3] === code);
		assert.deepEqual((await find("one_old()")).slice(0, 3), ["32", "", "−"]);
		assert.deepEqual((await find("one_new()")).slice(0, 3), ["", "104", "+"]);
		assert.deepEqual(await find("one_line_38()"), ["40", "112", "", "one_line_38()", "50", "50", "", "50 → 50"]);
		await page.keyboard.press("x");
		assert.deepEqual((await find("one_new()")).slice(0, 3), ["104", "", "−"]);
		assert.deepEqual(await find("one_line_38()"), ["112", "40", "", "one_line_38()", "50", "50", "", "50 → 50"]);
		const signs = (await rowsOf(page)).map((r) => r[2]).filter(Boolean);
		assert.deepEqual(signs, ["−", "+"], "removed lines come first");
	});
});

// A function whose own time is in one line and whose callees' change is in another.
const calls = (line, callee, count) => ({ tid: 1, count, stack: [
	{ name: "main", file: "/srv/app/main.py", line: 1 }, { name: "body", file: "/srv/app/code.py", line }, ...(callee ? [{ name: callee, file: "/srv/app/leaf.py", line: 5 }] : [])] });
const twoLines = (slow, factor = 1) => [calls(6, "parse", slow * factor), calls(8, null, 60 * factor), calls(7, "count", 50 * factor)];
const bodySource = () => writeText(Array.from({ length: 12 }, (_, i) => `    statement_${i + 1}()`).join("\n"));
const bodyDiff = (factor) => {
	const file = bodySource();
	return diffPage(twoLines(100, factor), twoLines(400, factor), ["exact", "time", `base-source=/srv/app/code.py=${file}`, `source=/srv/app/code.py=${file}`]);
};
const pointAt = async (page, name) => {
	const node = (await readTree(page)).nodes.find((n) => n.name === name);
	const at = await centreOf(page, node.i);
	await page.mouse.move(at.x, at.y);
};
const boxOf = (page, box) => page.$$eval(`${box} .line`, (list) => list.map((e) => ({
	cells: [...e.children].map((c) => c.textContent.trim()), hot: e.classList.contains("hot") })));

test("the box and the source of a frame mark the line that its change came from", async () => {
	await withPage(bodyDiff(), {}, async (page) => {
		await pointAt(page, "body");
		const lines = await boxOf(page, "#tip");
		assert.deepEqual(lines.find((l) => l.hot).cells, ["6", "statement_6()", "+300", "78 %", ""]);
		assert.deepEqual(lines.find((l) => l.cells[0] === "8").cells, ["8", "statement_8()", "", "12 %", "12 %"]);
		await show(page, "body");
		const find = (rows, code) => rows.find((r) => r.includes(code));
		const rows = await rowsOf(page);
		assert.deepEqual(find(rows, "statement_6()"), ["6", "statement_6()", "100", "6", "statement_6()", "400", "▲ +300", ""]);
		assert.deepEqual(find(rows, "statement_8()"), ["8", "statement_8()", "60", "8", "statement_8()", "60", "", "60 → 60"]);
		assert.deepEqual(await page.$$eval(".lines .marked", (list) => list.map((r) => r.cells[0].textContent)), ["6"]);
	});
	await withPage(bodyDiff(), { width: 390, height: 800, touch: true }, async (page) => {
		const node = (await readTree(page)).nodes.find((n) => n.name === "body");
		const at = await centreOf(page, node.i);
		await page.touchscreen.tap(at.x, at.y);
		assert.deepEqual((await boxOf(page, "#sheet")).find((l) => l.hot).cells, ["6", "statement_6()", "+300", "78 %", ""]);
	});
	// Coloured by own time, the line of that.
	await withPage(bodyDiff(), { hash: "by=self&show=head" }, async (page) => {
		await pointAt(page, "body");
		assert.equal((await boxOf(page, "#tip")).find((l) => l.hot).cells[0], "6", "one side is marked by its total");
	});
});

test("a line shows its callees and a function its callers, and each opens its source", async () => {
	const title = (page) => page.textContent("#source h2");
	const callsOf = (page, code) => page.$$eval(".lines tr", (rows, c) => [...(rows.find((r) => r.textContent.includes(c))?.querySelectorAll(".call") ?? [])].map((b) => [b.firstChild.textContent, b.querySelector("small").textContent]), code);
	await withPage(bodyDiff(), {}, async (page) => {
		await show(page, "body");
		assert.deepEqual(await callsOf(page, "statement_6()"), [["parse", "+300"]]);
		assert.deepEqual(await callsOf(page, "statement_7()"), [["count", "±0"]]);
		assert.deepEqual(await callsOf(page, "statement_8()"), []);
		await page.click('.call:has-text("parse")');
		assert.equal(await title(page), "parse: source");
		assert.match(await page.textContent("#source p.calls"), /^Called bybody\+300$/);
		await page.click('#source p.calls .call:has-text("body")');
		assert.equal(await title(page), "body: source");
		assert.deepEqual(await page.$$eval(".lines .called", (rows) => rows.map((r) => r.cells[0].textContent)), ["6"], "at the line of the call");
		await page.keyboard.press("x");
		assert.deepEqual(await callsOf(page, "statement_6()"), [["parse", "−300"]]);
	});
	// A recursive call counts each sample once; of many callees the costliest are shown.
	const deep = (callee, count) => ({ tid: 1, count, stack: [["walk", 4], ["walk", 4], ["walk", 6], [callee, 9]].map(([name, line]) => ({ name, file: "/srv/app/code.py", line })) });
	await withPage(profilePage([deep("a", 50), deep("b", 30), deep("c", 20)], [`source=/srv/app/code.py=${bodySource()}`]), {}, async (page) => {
		await show(page, "walk");
		assert.deepEqual(await callsOf(page, "statement_4()"), [["walk", "100"]]);
		assert.deepEqual(await callsOf(page, "statement_6()"), [["a", "50"], ["b", "30"]]);
		assert.match(await page.textContent('.lines tr:has-text("statement_6()") .calls'), /and 1 other$/);
		assert.match(await page.textContent("#source p.calls"), /^Called bywalk100$/);
		for (const width of [700, 390]) {
			await resize(page, width, 800);
			await until(page, () => [...document.querySelectorAll(".lines .calls")].every((e) => e.offsetWidth > 0));
			const boxes = await page.$$eval(".lines .calls", (list) => list.map((e) => [e.offsetWidth, e.getBoundingClientRect().right]));
			assert.ok(boxes.length === 2 && boxes.every(([w, right]) => w > 0 && right <= width), `${width}: ${boxes}`);
			assert.ok(await page.$eval(".listing", (e) => e.scrollWidth <= e.clientWidth), `${width}: nothing scrolls sideways`);
		}
	});
	// An edited line calls what it called before, and now.
	const edited = (line, callee, count) => ({ tid: 1, count, stack: [{ name: "work", file: "/srv/app/code.py", line }, { name: callee, file: "/srv/app/leaf.py", line: 5 }] });
	const both = diffPage([edited(10, "slow", 60), edited(12, "same", 40)], [edited(11, "fast", 20), edited(13, "same", 40)], ["exact", "time", `base-source=/srv/app/code.py=${then}`, `source=/srv/app/code.py=${now}`]);
	for (const width of [1400, 1000])
		await withPage(both, { width }, async (page) => {
			await show(page, "work");
			const shown = [...await callsOf(page, "slow(x)"), ...width === 1000 ? await callsOf(page, "fast(x)") : []];
			assert.deepEqual(shown, [["slow", "−60"], ["fast", "+20"]], `${width}`);
			assert.deepEqual(await callsOf(page, "line_12()"), [["same", "±0"]]);
		});
});

test("lines of a function whose change is not certain have no colour and no mark", async () => {
	const file = bodySource(), sources = [`base-source=/srv/app/code.py=${file}`, `source=/srv/app/code.py=${file}`];
	for (const [slow, isCertain] of [[108, false], [900, true]])
		await withPage(diffPage(twoLines(100), twoLines(slow), ["exact", "time", "judged", ...sources]), {}, async (page) => {
			await show(page, "body");
			const words = await page.evaluate(() => $$colors.CHANGED === fizeau.data.verdicts.total.word[fizeau.data.functions.names.indexOf("body")]);
			assert.equal(words, isCertain);
			assert.equal(await page.$$eval(".lines :is(.hot, .marked, .more)", (list) => list.length > 0), isCertain);
			assert.equal(/Lines have no colour/.test(await page.innerText("#source")), !isCertain);
		});
});

test("a line counts a sample once in a recursion, and few samples have no percentages", async () => {
	const code = bodySource();
	const deep = [{ tid: 1, count: 50, stack: [1, 4, 4, 6].map((line) => ({ name: "walk", file: "/srv/app/code.py", line })) }];
	await withPage(profilePage(deep, [`source=/srv/app/code.py=${code}`]), {}, async (page) => {
		await show(page, "walk");
		const rows = await rowsOf(page);
		assert.deepEqual(rows.filter((r) => r[2]), [["1", "statement_1()", "50", "", "100.0 %"], ["4", "statement_4()", "50", "", "100.0 %"], ["6", "statement_6()", "50", "50", "100.0 %"]]);
	});
	await withPage(profilePage([{ ...deep[0], count: 20 }], [`source=/srv/app/code.py=${code}`]), {}, async (page) => {
		await pointAt(page, "walk");
		assert.ok(!(await page.innerText("#tip .source")).includes("%"));
		await show(page, "walk");
		assert.ok(!(await page.innerText("#source .lines")).includes("%"));
	});
});

test("a counted function shows all of its changed lines, with its cost on the first", async () => {
	const body = Array.from({ length: 60 }, (_, i) => `    line_${i + 1}()`);
	const texts = ["    slow()", "    fast()"].map((line) => writeText(["import os", "", "", "def work(a,", "        b,", "):", ...body, line, "", "", "def other():", line.replace("()", "(1)")].join("\n")));
	await withPage(diffPage([work(4, 3000)], [work(4, 5000)], ["exact", "counted=instructions,count", `base-source=/srv/app/code.py=${texts[0]}`, `source=/srv/app/code.py=${texts[1]}`]), { width: 1000 }, async (page) => {
		await show(page, "work");
		const rows = await rowsOf(page);
		assert.deepEqual(rows.find((r) => r[3] === "def work(a,"), ["4", "4", "", "def work(a,", "3,000", "5,000", "▲ +2,000", "3,000 → 5,000"]);
		assert.deepEqual(rows.filter((r) => r[2]).map((r) => r.slice(0, 4)), [["67", "", "−", "slow()"], ["", "67", "+", "fast()"]]);
		assert.match(await page.innerText("#source"), /Counts are of the whole function and shown on its first line/);
	});
});
