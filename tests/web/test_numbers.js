// SPDX-License-Identifier: MIT
// One arithmetic: a diff's numbers are the same as text, as markdown, as JSON and in its page, and
// what the page turns round or filters by itself is what the command line makes of the same.
"use strict";
const assert = require("node:assert/strict");
const { centreOf, readTree, withPage } = require("./browser.js");
const { judgedPage, judgedText } = require("./judged.js");
const { cliJson, diffPage, someProgram, writeProfile } = require("./pages.js");
const { test } = require("./tap.js");

const base = someProgram(1, { skip: (_, i) => i % 13 === 0 });
const head = someProgram(2, { skip: (_, i) => i % 17 === 0, scale: 1.4 });
const number = (text) => Number(text.replace(/[,+±]/g, "").replace("−", "-"));

// [family, before, after, change, margin, percent, place] of each row of a report.
function rowsOfText(text) {
	const rows = [];
	let family = "";
	for (const line of text.split("\n")) {
		family = /^Self:/.test(line) ? "self" : /^Total, /.test(line) ? "total" : /^\S.*:/.test(line) ? "" : family;
		const m = /^ *([\d.,]+) +([\d.,]+) +([-+±][\d.,]+) +±([\d.,]+) +(new|gone|from 0|to 0|[-+±][\d.,]+ %|–|-) +\??\s*(\S.*)$/.exec(line);
		if (m && family) rows.push([family, ...m.slice(1)]);
	}
	return rows;
}

// A cell as it is read, with lines for its lines.
const seenOf = (cell) => cell.replace(/<(?!br>)[^>]*>/g, "").replace(/&nbsp;/g, " ").replace(/&#(\d+);/g, (_, n) => String.fromCharCode(n)).replace(/<br>/g, "\n").trim();

function rowsOfMarkdown(text) {
	const rows = [];
	let family = "";
	for (const line of text.split("\n")) {
		family = /^\*\*Self\*\*/.test(line) ? "self" : /^\*\*Total/.test(line) ? "total" : family;
		if (/by self/.test(line)) family = "self";
		if (!line.startsWith("| ") || line.startsWith("| function")) continue;
		const [name, figures, sides, place] = line.split("|").slice(1, 5).map(seenOf);
		const [change, margin, percent] = figures.split("\n"), [before, after] = sides.split(" → ");
		if (margin?.startsWith("±")) rows.push([family, before, after, change, margin.slice(1), percent, `${name.slice(2)} (${place})`]);
	}
	return rows;
}

test("text, markdown, JSON and page give the same numbers of every function they show", async () => {
	const reports = [rowsOfText(judgedText("text", ["--table", "-l", "200"])), rowsOfMarkdown(judgedText("markdown"))];
	const json = JSON.parse(judgedText("json"));
	const seen = { self: new Map(), total: new Map() };
	await withPage(judgedPage(), { hash: "tab=table" }, async (page) => {
		for (const cost of ["self", "total"])
			seen[cost] = new Map(await page.evaluate((c) => {
				fizeau.set({ cost: c });
				const { table } = fizeau;
				const interval = table.columns.find((column) => column.id === "interval");
				const margin = (r) => {
					const [low, high] = interval.raw(r).split("\t").map(Number);
					return Math.max(r.c.delta - low, high - r.c.delta);
				};
				return table.shown.map((r) => [`${fizeau.data.functions.names[r.f]} (${fizeau.model.placeOf(r.f)})`,
					[...table.columns.map((column) => column.text(r, table)), r.c.base, r.c.head, r.c.delta, margin(r)]]);
			}, cost));
		for (const rows of reports) {
			assert.ok(rows.length >= 15, `${rows.length} rows`);
			for (const [cost, before, after, change, margin, percent, place] of rows) {
				const row = seen[cost].get(place);
				assert.ok(row, place);
				assert.deepEqual([number(row[0]), number(row[1]), number(row[2])], [number(before), number(after), number(change)], place);
				assert.equal(row[3].replace("−", "-"), percent, place);
				assert.ok(Math.abs(row.at(-1) - number(margin)) <= 1, `${place} ±${margin} ${row.at(-1)}`);
				assert.ok(row[5] !== undefined);
			}
		}
		for (const f of json.functions)
			for (const cost of ["self", "total"]) {
				const row = seen[cost].get(`${f.name} (${f.file}:${f.line})`);
				assert.deepEqual(row.slice(-4, -1), [f[`base_${cost}`], f[`head_${cost}`], f[`diff_${cost}`]], f.name);
			}
		const summary = await page.evaluate(() => {
			document.getElementById("section-summary").open = true;
			return document.getElementById("section-summary").innerText;
		});
		const headline = judgedText("text").replace(/\s+/g, " ");
		const [, from, to, change, percent, low, high] = /([\d,]+) samples -> ([\d,]+) samples, ([-+][\d,]+) \(([-+][\d.]+ %) \[([-+][\d.]+ %), ([-+][\d.]+ %)\]\)/.exec(headline);
		for (const text of [`${from} → ${to}`, `${change} (${percent})`, low, high])
			assert.ok(summary.replaceAll("−", "-").includes(text), `${text} in ${summary}`);
		assert.ok(summary.includes(json.verdict.text) && summary.includes(json.verdict.power));
	});
});

// Whatever the base is multiplied by, "before" is what was measured, and what it was made into is
// called expected, beside it.
test("before is as measured in every tab, and expected is next to it", async () => {
	const [baseFile, headFile] = [base, head].map(writeProfile);
	const json = cliJson("diff", baseFile, headFile, "--match", "exact", "--scale", "share");
	assert.ok(Math.abs(json.scale.factor - 1) > 0.1, `factor ${json.scale.factor}`);
	const f = json.functions.filter((x) => x.base_self && x.head_self).sort((a, b) => b.base_self - a.base_self)[0];
	const wanted = { before: f.base_self, expected: f.expected_self, after: f.head_self };
	assert.equal(f.expected_self, f.base_self * json.scale.factor);
	assert.equal(f.diff_self, f.head_self - f.expected_self);
	await withPage(diffPage(baseFile, headFile, ["exact", "share"]), {}, async (page) => {
		const seen = await page.evaluate((name) => {
			const { data, flame, table, tooltip } = fizeau;
			fizeau.set({ tab: "table", cost: "self" });
			const row = table.shown.find((r) => data.functions.names[r.f] === name);
			const titles = table.columns.map((c) => c.title);
			const cells = Object.fromEntries(table.columns.map((c) => [c.title.toLowerCase(), c.key(row, table)]));
			const node = flame.picture.tree.func.findIndex((g, i) => g === row.f && flame.picture.tree.self[0][i] > 0 && flame.picture.tree.self[1][i] > 0);
			tooltip.show(node, { x: 0, y: 0 });
			const own = [0, 1].map((side) => flame.picture.tree.self[side][node]);
			return { titles, cells, own, tip: [...document.querySelectorAll("#tip tr")].slice(0, 2).map((tr) => tr.innerText.split(/\t/)), summary: document.querySelector("#section-summary").innerText };
		}, f.name);
		assert.deepEqual(seen.titles.slice(0, 4), ["Before", "Expected", "After", "Change by share"]);
		assert.deepEqual({ before: seen.cells.before, expected: seen.cells.expected, after: seen.cells.after }, wanted);
		const count = (v) => (Number.isInteger(v) || v >= 100 ? String(Math.round(v)) : v.toFixed(1)).replace(/\B(?=(\d{3})+(\.|$))/g, ",");
		assert.deepEqual(seen.tip[0].map((t) => t.trim()).filter(Boolean), ["Before", "Expected", "After", "By share"]);
		assert.deepEqual(seen.tip[1].slice(0, 4).map((t) => t.trim()), ["Self", count(seen.own[0]), count(seen.own[0] * json.scale.factor), count(seen.own[1])]);
		assert.ok(seen.summary.includes(`${count(json.base.total)} → ${count(json.head.total)}`), seen.summary);
		assert.match(seen.summary, /expected = before ×/i);
	});
});

// Paths with their costs, as sorted lines.
function paths(nodes) {
	const keys = [];
	return nodes.map((n, i) => {
		keys[i] = `${n.parent < 0 ? "" : keys[n.parent]}|${n.name} ${n.file}`;
		return { line: [keys[i], n.base_self, n.base_total, n.head_self, n.head_total].join("  "), n };
	}).filter(({ n }) => n.base_total || n.head_total).map(({ line }) => line).sort();
}

async function shownPaths(page) {
	const { nodes } = await readTree(page);
	return paths(nodes.map((n) => ({ ...n, parent: n.parent - 1,
		base_self: n.base.self, base_total: n.base.total, head_self: n.head.self, head_total: n.head.total })));
}

test("inverted and filtered, the page has the sums of the command line", async () => {
	const [baseFile, headFile] = [base, head].map(writeProfile);
	const engine = (options) => paths(cliJson("diff", baseFile, headFile, "--match", "exact", "--scale", "time", ...options).nodes);
	await withPage(diffPage(baseFile, headFile, ["exact", "time"]), {}, async (page) => {
		const thread = await page.evaluate(() => Uint8Array.from(fizeau.data.header.threads, (t) => (t.label === "tid 101" ? 1 : 0)));
		for (const inverted of [false, true])
			for (const [threads, modules, options] of [
				[null, null, []], [Object.values(thread), null, ["--thread", "101"]], [null, ["module_3"], ["--filter", "/module_3\\.py$"]],
				[Object.values(thread), ["module_3"], ["--thread", "101", "--filter", "/module_3\\.py$"]],
			]) {
				await page.evaluate((s) => fizeau.set({ ...s, threads: s.threads && Uint8Array.from(s.threads) }), { inverted, threads, modules });
				assert.deepEqual(await shownPaths(page), engine([...options, ...(inverted ? ["--invert"] : [])]), `${options} ${inverted}`);
			}
	});
});

test("a cost that begins at 0 has the same words in every list, and none has none", async () => {
	const at = (name, file) => ({ name, file: `/srv/app/${file}`, line: 3 });
	const side = (own) => [{ tid: 1, count: 900, stack: [at("main", "main.py"), at("work", "work.py"), at("leaf", "leaf.py")] }, ...own ? [{ tid: 1, count: own, stack: [at("main", "main.py"), at("work", "work.py")] }] : []];
	await withPage(diffPage(side(0), side(400), ["exact", "time"]), { hash: "tab=table&cost=self" }, async (page) => {
		const row = (name) => page.$$eval("#table .rows .row", (rows, n) => [...rows.find((r) => r.textContent.includes(n)).children].slice(1, 5).map((c) => c.textContent), name);
		assert.deepEqual(await row("work"), ["0", "400", "+400", "from 0"]);
		assert.deepEqual(await row("main"), ["0", "0", "±0", "–"]);
		assert.match(await page.innerText("#section-hotspots"), /0 → 400 · from\s0/);
		await page.evaluate(() => fizeau.set({ tab: "source", code: "files" }));
		const file = (name) => page.$$eval(".row.file", (rows, n) => [...rows.find((r) => r.querySelector(".label").textContent === n).querySelectorAll(".num")].slice(2, 4).map((c) => c.textContent), name);
		assert.deepEqual([await file("work.py"), await file("main.py")], [["▲ +400", "from 0"], ["", ""]]);
		await page.evaluate(() => fizeau.set({ tab: "flame" }));
		const { nodes } = await readTree(page), work = nodes.find((n) => n.name === "work");
		const centre = await centreOf(page, work.i);
		await page.mouse.move(centre.x, centre.y);
		const cells = await page.$$eval("#tip table tr", (rows) => [...rows[1].cells].map((c) => c.innerText));
		assert.deepEqual(cells, ["Self", "0", "400", "+400", "from 0"]);
		await page.evaluate((i) => fizeau.selection.select(i), work.i);
		assert.match(await page.textContent("#spoken"), /self 0 to 400, \+400 \(from 0\)/);
	});
});
