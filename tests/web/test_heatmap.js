// SPDX-License-Identifier: MIT
// Heat maps, which are the page opened on the Source view: the list of files, every line's cost, links
// that highlight each time, callers and callees, instructions, both versions in a diff; hostile names.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { execFileSync } = require("node:child_process");
const { until, withPage } = require("./browser.js");
const { judgedPage } = require("./judged.js");
const { diffPage, folder, profilePage, someProgram, writeProfile, writeText } = require("./pages.js");
const { test } = require("./tap.js");

const file = "/srv/app/work.py";
const text = ["import json  # \"text\"", "", "def leaf(n):", "    return n * 2", "", "def work(items):", "    for item in items:", "        leaf(item)", "    return leaf(0)", ""];
const f = (name, line, where = file) => ({ name, file: where, line });
const main = f("<module>", 3, "/srv/app/main.py");
const samples = [
	{ tid: 1, count: 40, stack: [main, f("work", 8), f("leaf", 4)] },
	{ tid: 1, count: 10, stack: [main, f("work", 9), f("leaf", 4)] },
	{ tid: 1, count: 7, stack: [main, f("work", 7)] },
	{ tid: 1, count: 3, stack: [main, f("work", 8), f("work", 8), f("work", 8), f("leaf", 3)] },
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

// Texts of a row's cells; of the code's cell only the code.
const cellsOf = (page) => page.$$eval(".lines tr:not(:first-child, .op, .gap)", (rows) => rows.map((row) => [...row.cells].map((cell) =>
	[...cell.childNodes].filter((part) => !/calls|verdict|opcodes/.test(part.className)).map((part) => part.textContent).join(""))));
const number = (words) => +words.replaceAll(",", "") || 0;
const shownLines = async (page) => (await cellsOf(page)).map(([line, code, total, self]) => ({ line: +line, self: number(self), total: number(total), code }));

async function openFile(page, name, more = {}) {
	await page.evaluate(([n, change]) => {
		const { data } = fizeau, of = $$source_files.filesOf(data).list.find((x) => x.name === n || n.endsWith(`/${x.name}`));
		fizeau.source.openFile(of);
		fizeau.set({ tab: "source", ...change });
	}, [name, more]);
}
const rowOf = (page, line) => page.locator(".lines tr", { has: page.locator(`.at a:text-is("${line}")`) });
const files = (page) => page.$$eval(".files .row.file .label", (list) => list.map((e) => e.textContent));

test("a heat map is the page, opened with its files; every door to it writes that", async () => {
	const written = path.join(folder, "heat"), one = path.join(folder, "heat.html"), list = writeProfile(samples);
	const run = (...args) => execFileSync(process.env.FIZEAU, args, { stdio: ["ignore", "ignore", "pipe"] });
	run("replay", list, "--heatmap", "-o", written);
	run("replay", list, "--format", "heatmap", "-o", one);
	assert.deepEqual(fs.readdirSync(written), ["index.html"]);
	for (const where of [path.join(written, "index.html"), one, judgedPage(["--heatmap"])])
		await withPage(where, {}, async (page) => {
			assert.ok(await page.isVisible("#source .file-list"));
			assert.equal(await page.getAttribute('#tabs [data-value="source"]', "aria-pressed"), "true");
			assert.ok((await files(page)).length > 1);
			await page.click('#tabs [data-value="flame"]');
			assert.ok(await page.isVisible("#canvas"), "and it has the other views");
		});
	// The page has the list, too.
	await withPage(profilePage(samples), {}, async (page) => {
		assert.equal(await page.isVisible("#source"), false);
		await page.keyboard.press("L");
		assert.deepEqual((await files(page)).sort(), ["main.py", "work.py"]);
	});
});

test("on a phone a heat map's list of changes begins in sight; how it was measured is folded", async () => {
	await withPage(judgedPage(["--heatmap"]), { width: 390, height: 740 }, async (page) => {
		const seen = await page.evaluate(() => [...document.querySelectorAll("#leading li")].map((li) => li.getBoundingClientRect().bottom));
		assert.ok(seen.length > 1 && seen[1] < 500, JSON.stringify(seen));
		const top = await page.$eval(".files .row.file", (row) => row.getBoundingClientRect().top);
		assert.ok(top < 740, `the first file is at ${top}`);
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

const hotList = (page) => page.$$eval(".hottest .hot", (rows) => rows.map((r) => [r.querySelector("b").textContent, r.querySelector(".where").textContent, r.querySelector("code")?.textContent ?? "", ...[...r.querySelectorAll(".num")].map((n) => n.textContent)]));

test("a heat map opens on the hottest lines, each a click away", async () => {
	const expected = [["leaf", "work.py:4", "return n * 2", "50", "83.3 %"], ["work", "work.py:7", "for item in items:", "7", "11.7 %"], ["leaf", "work.py:3", "def leaf(n):", "3", "5.0 %"]];
	await withPage(profilePage(samples, ["heatmap", source()]), {}, async (page) => {
		assert.deepEqual(await hotList(page), expected);
		await page.click(".hot");
		assert.equal(await page.textContent(".called .at"), "4");
		await page.goBack();
		assert.ok(await page.isVisible(".file-list"));
	});
});

test("the list adds up to the whole, including code without a file", async () => {
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
			const { data, source: { files: list } } = fizeau;
			for (const one of $$source_files.filesOf(data).list) one.origin = one.name === n ? o : 0;
			list.closed.clear();
			list.update();
			return [...document.querySelectorAll(".row.file .label")].some((e) => e.textContent === n);
		}, [name, origin]);
		assert.equal(await shown("decoder.py", 1), true, "parse changed there");
		assert.equal(await shown("io.py", 1), false, "nothing did");
		await openFile(page, "decoder.py");
		assert.match((await page.$$eval(".lines .verdict", (list) => list.map((v) => v.textContent))).join(), /parse: ▲ slower/);
	});
});

test("the page has code that only one side ran's words for it, and no percentage", async () => {
	await withPage(judgedPage(["--heatmap"]), {}, async (page) => {
		const percent = (name) => page.$$eval(".row.file", (rows, n) => rows.find((r) => r.querySelector(".label").textContent === n).querySelectorAll(".num")[3].textContent, name);
		assert.deepEqual([await percent("legacy.py"), await percent("audit.py")], ["to 0", "from 0"]);
		assert.doesNotMatch(await page.innerText("body"), /−100\.0 %/);
		assert.deepEqual(await page.$$eval(".files .mark", (list) => list.map((m) => m.textContent).sort()), ["only after", "only before"]);
		await openFile(page, "legacy.py");
		assert.match((await page.$$eval(".lines .verdict", (list) => list.map((v) => v.textContent))).join(), /checksum: ▼ gone or no longer recorded/);
	});
});

test("lines are coloured by a cost of their function only if that cost certainly changed", async () => {
	await withPage(judgedPage(["--heatmap"]), {}, async (page) => {
		for (const family of ["self", "total"]) {
			await openFile(page, "view.py", { lines: family });
			const seen = await page.evaluate(() => fizeau.source.rows.filter((row) => row.weight && row.fs.length)
				.map((row) => ({ hue: row.element.querySelector(".more, .less") !== null && row.element.classList.contains("hot"), func: row.fs[0] })));
			const changed = await page.evaluate(([by, list]) => list.map((func) => fizeau.data.verdicts[by].word[func] === $$colors.CHANGED), [family, seen.map((r) => r.func)]);
			assert.ok(seen.length > 1 && changed.includes(true));
			assert.deepEqual(seen.map((r) => r.hue), changed, family);
		}
		// The caller of what became faster has a certain total, but no certain own cost.
		const render = await page.evaluate(() => ["self", "total"].map((by) => fizeau.data.verdicts[by].word[fizeau.data.functions.names.indexOf("render")] === $$colors.CHANGED));
		assert.deepEqual(render, [false, true]);
		assert.ok(await page.locator(".lines tr.unsure").count() > 0, "noise is hatched");
	});
});

test("a heat map of bytes uses the words larger and smaller", async () => {
	const side = (leaf, work) => samples.map((s) => ({ ...s, count: 100000 * (s.stack.at(-1).name === "leaf" ? leaf : work) }));
	const ofBytes = diffPage(side(1, 30), side(20, 10), [source(), "counted=peak,bytes", "judged", "heatmap"]);
	await withPage(ofBytes, {}, async (page) => {
		await openFile(page, file);
		const said = (await page.$$eval(".lines .verdict", (list) => list.map((v) => v.textContent))).join();
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
			const got = new Map((await shownLines(page)).filter((l) => l.total).map((l) => [l.line, { self: l.self, total: l.total }]));
			assert.deepEqual([...got].sort((a, b) => a[0] - b[0]), [...lineCosts(many, name)].sort((a, b) => a[0] - b[0]), name);
			const total = await page.evaluate((n) => $$source_files.filesOf(fizeau.data).list.find((x) => x.name === n).total[1], name);
			assert.equal(total, many.filter((s) => s.stack.some((x) => x.file === name)).reduce((sum, s) => sum + s.count, 0), `${name}: a sample counts once`);
		}
	});
});

test("a line that several functions share counts a sample once", async () => {
	const shared = [{ tid: 1, count: 30, stack: [main, f("work", 8), f("<listcomp>", 8), f("leaf", 4)] }, { tid: 1, count: 5, stack: [main, f("work", 8)] },
		{ tid: 1, count: 7, stack: [main, f("<listcomp>", 8)] }];
	await withPage(profilePage(shared, ["heatmap", source()]), {}, async (page) => {
		await openFile(page, file);
		const line = (await shownLines(page)).find((l) => l.line === 8);
		assert.deepEqual([line.self, line.total], [12, 42]);
		assert.equal(await rowOf(page, 8).locator('.call:has-text("leaf")').count(), 1, "and it calls what each of them calls");
	});
});

test("the link of a line highlights it every time", async () => {
	await withPage(profilePage(samples, ["heatmap", source()]), { motion: true }, async (page) => {
		await openFile(page, file);
		// An animation may be over before we look.
		await page.evaluate(() => {
			const element = window.Element.prototype, animate = element.animate;
			window.animated = 0;
			element.animate = function(...how) {
				window.animated += this.matches("tr.called");
				return animate.apply(this, how);
			};
		});
		const state = () => page.evaluate(() => ({
			line: new URLSearchParams(location.hash.slice(1)).get("line"), target: document.querySelector(".called .at")?.textContent, animated: window.animated,
		}));
		for (let time = 1; time <= 3; time++) {
			await page.click('.at a:text-is("8")');
			assert.deepEqual(await state(), { line: "8", target: "8", animated: time });
		}
		await page.click('.at a:text-is("4")');
		assert.equal((await state()).target, "4");
		assert.equal(await page.locator(".called").count(), 1);
		// The link opens as an address, and so does the copied link.
		const { href, hash } = await page.evaluate(() => ({ href: document.querySelector('.at a[data-line="8"]').href, hash: location.hash }));
		await page.goto(href);
		await page.reload();
		await page.waitForSelector("html[data-ready]");
		assert.equal(await page.textContent(".called .at"), "8");
		assert.notEqual(href.split("#")[1], hash.slice(1));
	});
	await withPage(profilePage(samples, ["heatmap", source()]), { hash: "code=file&line=99" }, async (page) => assert.equal(await page.locator(".called").count(), 0));
	// A link from a page with instructions.
	for (const made of [profilePage(samples, ["heatmap", source()]), diffPage(samples, samples, ["heatmap", "exact", source()])])
		await withPage(made, { hash: "code=file&lines=special&ops=1" }, async (page) => assert.ok(await page.locator(".lines tr").count() > 5));
});

test("callers and callees are one click away", async () => {
	await withPage(profilePage(samples, ["heatmap", source()]), {}, async (page) => {
		await openFile(page, file);
		const calls = (line) => rowOf(page, line).locator(".call").evaluateAll((list) => list.map((b) => [b.firstChild.textContent, b.querySelector("small").textContent]));
		assert.deepEqual(await calls(8), [["leaf", "43"], ["work", "3"]], "recursion counts a sample once");
		assert.deepEqual(await calls(9), [["leaf", "10"]]);
		const first = await page.evaluate(() => fizeau.data.functions.line[fizeau.data.functions.names.indexOf("leaf")]);
		assert.deepEqual(await calls(first), [["work", "43"], ["work", "10"]], "who calls leaf");
		await rowOf(page, first).locator(".call >> nth=1").click();
		assert.equal(await page.textContent(".called .at"), "9", "at the line of the call");
	});
	// All that does not fit opens with a click.
	const many = [..."abcdefg"].map((name, k) => ({ tid: 1, count: 10 + k, stack: [f("work", 8), f(name, 4 + k, "/srv/app/other.py")] }));
	await withPage(profilePage(many, ["heatmap", source()]), {}, async (page) => {
		await openFile(page, file);
		assert.equal(await page.locator(".lines .call").count(), 2);
		await page.click('.lines .call-more:has-text("and 5 others")');
		assert.equal(await page.locator(".lines .call").count(), 7);
	});
});

test("keys walk hot lines, change the cost, hide cold lines and open instructions", async () => {
	const withOpcodes = samples.map((s) => ({ ...s, stack: s.stack.map((x) => ({ ...x, line: x.line + 1000 * (x.name === "leaf" ? 122 : 52) })) }));
	await withPage(profilePage(withOpcodes, ["heatmap", source(), "opcodes=13"]), {}, async (page) => {
		await openFile(page, file);
		await page.keyboard.press("n");
		const first = await page.textContent(".called .at");
		await page.keyboard.press("n");
		assert.notEqual(await page.textContent(".called .at"), first);
		await page.keyboard.press("N");
		assert.equal(await page.textContent(".called .at"), first);
		await page.keyboard.press("c");
		assert.equal(await page.getAttribute('#source [data-value="total"]', "aria-pressed"), "true");
		const all = (await shownLines(page)).length;
		await page.keyboard.press("B");
		const ops = await page.$$eval(".lines tr.op", (rows) => rows.map((r) => [r.querySelector("code").textContent, +/self (\d+)/.exec(r.textContent)[1]]));
		assert.ok(ops.length >= 4 && (await shownLines(page)).length === all);
		assert.ok(ops.every(([name]) => /^[A-Z_]+|<\d+>/.test(name)), JSON.stringify(ops));
		assert.equal(ops.reduce((sum, [, self]) => sum + self, 0), 60, "self costs of instructions are those of the lines");
		await page.click('#source [data-value="special"]');
		const [special, share] = await page.evaluate(() => [document.querySelectorAll(".lines tr.special").length, fizeau.source.rows.some((r) => r.share > 0)]);
		assert.equal(special > 0, share);
		await page.keyboard.press("B");
		await page.keyboard.press("h");
		const near = await shownLines(page);
		assert.ok(near.length < all || near.length === all, "lines near hot ones stay");
		await page.keyboard.press("L");
		await page.keyboard.press("/");
		await page.keyboard.type("main");
		await until(page, () => [...document.querySelectorAll(".row.file .label")].map((x) => x.textContent).join() === "main.py");
	});
});

test("hot lines only omits lines far from them, with a gap", async () => {
	const long = Array.from({ length: 60 }, (_, i) => `    line_${i + 1}()`);
	const spread = [10, 40].map((line) => ({ tid: 1, count: 20, stack: [f("work", line)] }));
	await withPage(profilePage(spread, ["heatmap", `source=${file}=${writeText(long.join("\n"))}`]), {}, async (page) => {
		await openFile(page, file);
		assert.equal((await shownLines(page)).length, 60);
		await page.click("#toggle-hot");
		assert.deepEqual((await shownLines(page)).map((l) => l.line), [7, 8, 9, 10, 11, 12, 13, 37, 38, 39, 40, 41, 42, 43]);
		assert.equal(await page.locator(".lines .gap").count(), 1);
		assert.match(await page.textContent(".source-bar"), /2 hot lines/);
	});
	const endless = writeText("    line()\n".repeat(20001));
	await withPage(profilePage(spread, ["heatmap", `source=${file}=${endless}`]), {}, async (page) => {
		await openFile(page, file, { hot: true });
		assert.match(await page.innerText("#source"), /Only the first 20,000 lines are shown/);
	});
});

test("a file opens at its costliest function; the map of the file scrolls to where it is clicked", async () => {
	const long = Array.from({ length: 400 }, (_, i) => `    line_${i + 1}()`);
	await withPage(profilePage([{ tid: 1, count: 20, stack: [f("work", 310)] }], ["heatmap", `source=${file}=${writeText(long.join("\n"))}`]), {}, async (page) => {
		await openFile(page, file);
		const seen = await rowOf(page, 310).evaluate((row) => row.getBoundingClientRect().top);
		assert.ok(seen > 0 && seen < 700, `line 310 is at ${seen}`);
		const box = await page.locator(".minimap").boundingBox();
		await page.mouse.click(box.x + box.width / 2, box.y + box.height * 0.25);
		const at = await page.$eval(".code-box .listing", (e) => (e.scrollTop + e.clientHeight / 2) / e.scrollHeight);
		assert.ok(Math.abs(at - 0.25) < 0.05, `${at}`);
	});
});

test("a diff aligns both versions and shows the change of each line", async () => {
	const after = [...text];
	after.splice(3, 1, "    m = n * 2", "    return m");
	const head = [
		{ tid: 1, count: 90, stack: [main, f("work", 9), f("leaf", 4)] },
		{ tid: 1, count: 20, stack: [main, f("work", 9), f("leaf", 5)] },
	];
	const options = ["heatmap", "exact", "time", `base-source=${file}=${writeText(text.join("\n"))}`, `source=${file}=${writeText(after.join("\n"))}`];
	await withPage(diffPage(samples, head, options), { width: 1000 }, async (page) => {
		await openFile(page, file);
		const rows = await cellsOf(page), at = (code) => rows.filter((r) => r[3] === code).map((r) => [...r.slice(0, 3), ...r.slice(4, 7)]);
		assert.deepEqual(at("    return n * 2"), [["4", "", "−", "50", "", "▼ −50"]]);
		assert.deepEqual(at("    m = n * 2"), [["", "4", "+", "", "90", "▲ +90"]]);
		assert.deepEqual(at("def work(items):").map((r) => r.slice(0, 2)), [["6", "7"]]);
		await page.keyboard.press("c");
		const work = (await cellsOf(page)).find((r) => r[0] === "8");
		assert.deepEqual([...work.slice(0, 3), ...work.slice(4, 7)], ["8", "9", "", "43", "110", "▲ +67"]);
		await page.keyboard.press("x");
		const swapped = (await cellsOf(page)).find((r) => r[1] === "8");
		assert.deepEqual([...swapped.slice(0, 3), ...swapped.slice(4, 7)], ["9", "8", "", "110", "43", "▼ −67"]);
	});
});

test("a file that was moved is compared with itself", async () => {
	const place = "/srv/app/lib/moved.py", move = (s) => ({ ...s, stack: s.stack.map((x) => (x.file === file ? { ...x, file: place } : x)) });
	const gone = { tid: 1, count: 30, stack: [main, f("old", 1)] };
	const text1 = writeText(text.join("\n")), text2 = writeText(["# moved", ...text].join("\n"));
	const down = (s) => ({ ...s, stack: s.stack.map((x) => (x.file === place ? { ...x, line: x.line + 1 } : x)) });
	await withPage(diffPage([...samples, gone], samples.map(move).map(down), ["heatmap", "time", `base-source=${file}=${text1}`, `source=${place}=${text2}`]), { width: 1000 }, async (page) => {
		const listed = await page.evaluate(() => $$source_files.filesOf(fizeau.data).list.map(({ name, total }) => [name, ...total]));
		assert.deepEqual(listed.filter(([name]) => !name.includes("main")).map(([, ...total]) => total), [[90, 60]], JSON.stringify(listed));
		await openFile(page, listed.find(([name]) => name.includes("moved"))[0]);
		const rows = await cellsOf(page);
		assert.deepEqual(rows.find((r) => r[3] === "    return n * 2").slice(0, 3), ["4", "5", ""]);
		assert.deepEqual(rows.find((r) => r[0] === "1").slice(4, 7), ["30", "", "▼ −30"], "what only the old file had is in it, too");
	});
});

test("an edit that opens a string colours only the version that has it", async () => {
	const [before, after] = ['    """return n * 2', '    """return n * 2"""'].map((line) => text.map((t, i) => (i === 3 ? line : t)));
	const options = ["heatmap", "exact", "time", `base-source=${file}=${writeText(before.join("\n"))}`, `source=${file}=${writeText(after.join("\n"))}`];
	await withPage(diffPage(samples, samples, options), { width: 1000 }, async (page) => {
		await openFile(page, file);
		const words = await page.$$eval(".lines td.code", (list) => list.map((c) => [[...c.childNodes].filter((w) => w.className !== "calls").map((w) => w.textContent).join(""), [...c.querySelectorAll("span[class^=w-]")].map((w) => w.classList[0]).join()]));
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
			const { data, source: { files: view } } = fizeau, { list: all } = $$source_files.filesOf(data);
			all.forEach((one, i) => {
				one.functions.length = 1;
				data.verdicts.self.word[one.functions[0]] = list[i]?.[1] ? $$colors.CHANGED : 1;
				one.origin = 0;
				one.self = [1000 / data.factor, 1000 + (list[i]?.[0] ?? 0)];
			});
			view.update();
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
		const seen = await page.$$eval(".hottest .parts", (list) => list.map((parts) => {
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

test("a page has the whole text of costly files, a heat map that of all; the rest is said", async () => {
	const long = Array.from({ length: 300 }, (_, i) => `    line_${i + 1}()`).join("\n"), where = "/srv/app/cold.py";
	const some = [...samples.map((s) => ({ ...s, count: s.count * 10 })), { tid: 1, count: 2, stack: [f("cold", 150, where)] }];
	const both = [source(), `source=${where}=${writeText(long)}`];
	const lines = async (page, name) => {
		await openFile(page, name);
		return (await shownLines(page)).length;
	};
	await withPage(profilePage(some, both), {}, async (page) => {
		assert.deepEqual([await lines(page, file), await lines(page, where)], [9, 15]);
		assert.match(await page.innerText("#source"), /only the lines around samples of this file/);
		await page.keyboard.press("L");
		assert.match(await page.innerText(".file-list"), /Of 1 file with less than 1 % of the run this page has only the lines around samples/);
	});
	await withPage(profilePage(some, [...both, "heatmap"]), {}, async (page) => {
		assert.deepEqual([await lines(page, file), await lines(page, where)], [9, 300]);
		assert.doesNotMatch(await page.innerText("#source"), /around samples/);
	});
	// If a file does not fit, the page has only the lines around samples.
	const vast = `    line()${" ".repeat(200)}\n`.repeat(130000);
	await withPage(profilePage(some, [source(), `source=${where}=${writeText(vast)}`, "heatmap"]), {}, async (page) => {
		assert.match(await page.innerText(".file-list"), /1 file did not fit into the 24 MB of source/);
		assert.deepEqual([await lines(page, file), await lines(page, where)], [9, 15]);
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
		assert.equal(await page.evaluate(() => [...document.links].filter((a) => !/^(file:|#)/.test(a.href)).length), 0);
	};
	const options = ["heatmap", `source=/srv/<b>.py=${evil}`];
	for (const made of [profilePage(hostile, options), diffPage(hostile, hostile.slice(3), [...options, "exact"])])
		await withPage(made, {}, async (page) => {
			await look(page);
			const names = await page.evaluate(() => $$source_files.filesOf(fizeau.data).list.map(({ name }) => name));
			assert.ok(names.length >= attacks.length);
			for (const name of names) {
				await openFile(page, name);
				await look(page);
			}
		});
});

test("nothing of a heat map is wider than a narrow window", async () => {
	for (const [made, hash] of [[profilePage(samples, ["heatmap", source()]), ""], [diffPage(samples, samples, ["heatmap", "exact", source()]), ""], [profilePage(samples, ["heatmap", source()]), "code=file"]])
		for (const width of [1000, 700, 390, 320]) await withPage(made, { width, hash }, async (page) => {
			assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
			assert.deepEqual(await page.evaluate((w) => [...document.querySelectorAll(".source-bar, .source-bar > *, .bar, .files, .files .row")].filter((e) => e.getBoundingClientRect().right > w + 0.5).map((e) => e.className), width), []);
		});
});

test("the change of a line is in sight on a phone, beside a long verdict", async () => {
	await withPage(judgedPage(["--heatmap"]), { width: 390, height: 800 }, async (page) => {
		for (const name of ["view.py", "rows.py", "plugins.py"]) {
			await openFile(page, name);
			const [right, change] = await page.evaluate(() => [document.querySelector(".code-box .listing").getBoundingClientRect().right,
				Math.max(...[...document.querySelectorAll(".lines td")].filter((c) => /^[▲▼]/.test(c.textContent)).map((c) => c.getBoundingClientRect().right))]);
			assert.ok(change <= right, `${name}: ${change} of ${right}`);
		}
	});
});

test("an empty profile has an empty heat map", async () => {
	await withPage(profilePage([], ["heatmap"]), {}, async (page) => assert.ok((await page.textContent(".files")).includes("No file")));
});
