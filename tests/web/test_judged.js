// SPDX-License-Identifier: MIT
// Pages with verdicts: colours, descriptions of frames, inferred facts, and swapped sides.
"use strict";
const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { centreOf, pixel, readTree, until, withPage } = require("./browser.js");
const { judgedPage, judgedText } = require("./judged.js");
const { cliPage, diffPage, folder, profilePage, writeProfile, writeText } = require("./pages.js");
const { test } = require("./tap.js");

const json = (options, more) => JSON.parse(judgedText("json", options, more));
const classes = (page) => page.evaluate(() => {
	const { tree, what } = fizeau.flame.picture;
	const out = {};
	for (let i = 1; i < tree.n; i++) {
		const name = fizeau.data.functions.names[tree.func[i]];
		out[name] ??= $$frame_colour.nodeClass(tree, i, what);
	}
	return { out, names: Object.fromEntries(["SAME", "MORE", "LESS", "NEW", "REMOVED", "UNSURE", "NEW_UNSURE", "MOVED", "MOVED_AWAY"].map((k) => [k, $$colors[k]])) };
});
const nodeNamed = async (page, name) => (await readTree(page)).nodes.find((n) => n.name === name);
const tipOf = async (page, name) => {
	const at = await centreOf(page, (await nodeNamed(page, name)).i);
	await page.mouse.move(at.x, at.y);
	return page.innerText("#tip");
};

test("changed frames are coloured, others neutral, new code is always new", async () => {
	await withPage(judgedPage(), { hash: "layout=union&by=self" }, async (page) => {
		const { out, names: c } = await classes(page);
		assert.ok(out.parse > c.SAME && out.parse < c.LESS, "parse costs more");
		assert.ok(out.escape >= c.LESS && out.escape < c.NEW, "escape costs less");
		for (const name of ["scan", "read", "compress", "pack"]) assert.ok([c.SAME, c.UNSURE].includes(out[name]), `${name} ${out[name]}`);
		for (const name of ["audit", "digest", "cached"]) assert.ok(out[name] === c.NEW, `${name} ${out[name]}`);
		assert.equal(out.hint, c.NEW_UNSURE, "a few samples of new code");
		assert.deepEqual([out.legacy, out.checksum], [c.REMOVED, c.REMOVED]);
		assert.deepEqual([out.split_head, out.split_body, out.split], [c.MOVED, c.MOVED, c.MOVED_AWAY]);
		assert.ok([c.SAME, c.UNSURE].includes(out.write_rows), "a renamed function is no news");
		const judgedAs = json();
		for (const f of judgedAs.functions)
			if (f.self_verdict !== "changed" && f.state === "common") assert.ok([c.SAME, c.UNSURE].includes(out[f.name]) || f.name === "join", f.name);
	});
});

test("bytes are never slower: every word of the page fits the metric", async () => {
	const sides = [[300000, 90000], [900000, 20000]].map(([grow, old]) => writeText(`main;parse 300000\nmain;grow ${grow}\nmain;old ${old}\n`));
	const words = {
		"bytes,bytes": ["larger", "smaller", "larger", "smaller"],
		"allocations,count": ["more", "fewer", "with more", "with fewer"], "instructions,count": ["slower", "faster", "slower", "faster"],
	};
	for (const [metric, [more, less, manyMore, manyLess]] of Object.entries(words)) {
		const file = diffPage(...sides, ["judged", `counted=${metric}`]);
		await withPage(file, { hash: "layout=union" }, async (page) => {
			assert.match(await page.innerText("#band"), new RegExp(`^76\\.8 % ${more}, mostly grow`));
			assert.deepEqual(await page.$$eval("#band .chip", (chips) => chips.map((c) => c.innerText)), [`▲ 1 ${manyMore}`, `▼ 1 ${manyLess}`]);
			assert.match(await page.innerText("#legend"), new RegExp(`▲ ${more}\\s+▼ ${less}\\b`));
			assert.deepEqual((await page.$$eval("#section-hotspots .group", (g) => g.map((e) => e.textContent.toLowerCase()))), [manyMore, manyLess]);
			assert.match(await tipOf(page, "grow"), new RegExp(`self ${more} .*total ${more} `));
			assert.match(await page.textContent("#select-verdict"), new RegExp(`Functions: ${manyMore} or ${manyLess}`));
			await page.click(".spot");
			assert.match(await page.textContent(".twin"), new RegExp(more));
			await page.evaluate(() => fizeau.set({ tab: "table" }));
			assert.match(await page.textContent("#table .rows"), new RegExp(`grow.*${more}`, "s"));
			// The other way round it is the opposite.
			await page.evaluate(() => fizeau.set({ tab: "flame" }));
			await page.keyboard.press("x");
			assert.match(await page.innerText("#band"), new RegExp(`^43\\.4 % ${less}, mostly grow`));
			const all = await page.evaluate(() => document.body.innerText);
			if (more !== "slower") assert.doesNotMatch(all, /slower|faster/i);
		});
	}
});

test("a function's own cost is named by the metric, in both kinds of pages and in pictures", async () => {
	const sides = [300000, 90000].map((grow) => writeText(`main;parse 300000\nmain;grow ${grow}\n`));
	for (const [metric, noun] of Object.entries({ "bytes,bytes": "bytes", "instructions,count": "instructions", "wall,ns": "time" })) {
		const counted = `counted=${metric}`;
		await withPage(diffPage(...sides, ["judged", counted]), { hash: "layout=union&by=self" }, async (page) => {
			assert.match(await page.innerText("#legend"), new RegExp(`own ${noun}; stronger = bigger change`));
			assert.match(await page.textContent("#section-verdicts"), /Show only paths through functions that are/);
			assert.doesNotMatch(await page.innerText("#band"), /B bytes/);
			await page.evaluate(() => fizeau.set({ inverted: true }));
			assert.match(await page.innerText("#legend"), new RegExp(`own ${noun} of the leaf; stronger`));
			if (noun !== "time") assert.doesNotMatch(await page.evaluate(() => document.body.innerHTML), /(own|self) time/i);
		});
		await withPage(profilePage(sides[0], [counted]), {}, async (page) =>
			assert.match(await page.innerText("#legend"), new RegExp(`share of (self|total) ${noun}`)));
		const svg = fs.readFileSync(profilePage(sides[0], [counted], ".svg"), "utf8");
		assert.match(svg, new RegExp(`share of self ${noun}, from`));
	}
});

test("a frame of several paths is judged as its function: inverted, and in both halves of a sandwich", async () => {
	await withPage(judgedPage(), { hash: "layout=union&inverted=1&by=self" }, async (page) => {
		const { out, names: c } = await classes(page);
		assert.ok(out.parse > c.SAME && out.parse < c.LESS && out.escape >= c.LESS && out.escape < c.NEW);
		assert.deepEqual([out.split_body, out.split, out.digest, out.checksum], [c.MOVED, c.MOVED_AWAY, c.NEW, c.REMOVED]);
		await page.evaluate(() => fizeau.set({ inverted: false, tab: "sandwich", middle: fizeau.data.functions.names.indexOf("render") }));
		const halves = await page.evaluate(() => fizeau.sandwich.halves.map(({ picture: { tree, what } }) =>
			[1, 2].map((i) => [fizeau.data.functions.names[tree.func[i]], $$frame_colour.nodeClass(tree, i, what)])));
		const render = json().functions.find((f) => f.name === "render");
		assert.deepEqual([render.self_verdict === "changed", render.total_verdict], [false, "changed"]);
		assert.ok(halves[0][0][1] >= c.LESS && halves[0][0][1] < c.NEW, "callers: by the total of the function");
		assert.ok([c.SAME, c.UNSURE].includes(halves[1][0][1]), "callees: by its own time");
	});
});

test("colour goes by share of the change and by significance, too", async () => {
	await withPage(judgedPage(), { hash: "by=share" }, async (page) => {
		const { out, names: c } = await classes(page);
		const { functions } = json();
		const change = functions.reduce((sum, f) => sum + Math.abs(f.diff_self), 0);
		const step = (share) => [0.01, 0.05, 0.15, 0.4].filter((s) => share >= s).length;
		for (const name of ["parse", "escape"]) {
			const f = functions.find((g) => g.name === name);
			assert.equal(out[name], (f.diff_total > 0 ? c.MORE : c.LESS) + step(Math.abs(f.diff_total) / change) - 1, name);
		}
		assert.match(await page.innerText("#legend"), /share of all change/);
		await page.selectOption("#select-by", "surprise");
		const sure = (await classes(page)).out;
		const p = functions.find((g) => g.name === "parse").self_p;
		assert.equal(sure.parse, c.MORE + [1e-3, 1e-6, 1e-10].filter((limit) => p <= limit).length);
		assert.match(await page.evaluate(() => location.hash), /by=surprise/);
	});
});

test("tooltips show inferred matches", async () => {
	await withPage(judgedPage(), { hash: "layout=union" }, async (page) => {
		assert.match(await tipOf(page, "write_rows"), /Matched with write_all in db\.py before: same callers and callees, score [01]\.\d\d/);
		assert.match(await tipOf(page, "cached"), /New wrapper/);
		assert.match(await tipOf(page, "split_body"), /Moved: under rows, 2 new callees cost about what 1 removed one did/);
		assert.match(await tipOf(page, "parse"), /Whole function: self slower \(±[\d.,]+\)/);
	});
});

test("code on one side only is new or gone, never slower or faster, wherever it is described", async () => {
	const isNever = (text, of) => assert.doesNotMatch(text, /slower|faster/, of);
	for (const isSwapped of [false, true]) await withPage(judgedPage(), {}, async (page) => {
		if (isSwapped) await page.keyboard.press("x");
		const [added, gone] = isSwapped ? ["legacy", "audit"] : ["audit", "legacy"];
		const described = (name) => page.evaluate((of) => {
			const { data, flame, tooltip, selection, sandwich } = fizeau, { tree } = flame.picture;
			const node = tree.func.findIndex((f) => data.functions.names[f] === of);
			const box = document.createElement("div");
			box.append(...tooltip.contentOf({ node, isAside: false, flame }));
			selection.select(node, flame);
			fizeau.set({ tab: "sandwich", middle: tree.func[node] });
			box.append(...tooltip.contentOf({ node: 1, isAside: false, flame: sandwich.halves[1] }));
			fizeau.set({ tab: "flame" });
			return [box.textContent, document.getElementById("spoken").textContent];
		}, name);
		for (const [name, word] of [[added, "new"], [gone, "gone"]]) {
			await page.evaluate((layout) => fizeau.set({ layout }), word === "new" ? "head" : "base");
			const [tip, spoken] = await described(name);
			assert.match(tip, new RegExp(`Whole function: self ${word} .*, total ${word} .*; this path: ${word}`));
			isNever(tip, name);
			isNever(spoken, name);
			assert.match(spoken, new RegExp(`, ${word} or `));
			await page.evaluate(([of, cost]) => fizeau.set({ tab: "table", cost, rows: of }), [name, "total"]);
			assert.match(await page.textContent("#table .rows"), new RegExp(`${word} or (newly|no longer) recorded`));
			isNever(await page.textContent("#table .rows"), `${name} in the table`);
			await page.evaluate((of) => fizeau.set({ tab: "source", code: "function", middle: fizeau.data.functions.names.indexOf(of) }), name);
			isNever(await page.textContent("#source"), `source of ${name}`);
			await page.evaluate(() => fizeau.set({ tab: "flame", rows: "" }));
		}
	});
	// A path of a function that both sides run.
	const f = (name) => ({ name, file: "/srv/app/steps.py", line: 5 });
	const profile = (more) => [["main", "a", "work"], ["main", "b"], ...more].map((names) => ({ tid: 1, stack: names.map(f), count: 20000 }));
	await withPage(cliPage(profile([]), profile([["main", "b", "work"]])), {}, async (page) => {
		const { nodes } = await readTree(page), called = nodes.find((n) => n.name === "work" && n.base.total === 0);
		await page.evaluate((i) => fizeau.selection.select(i), called.i);
		assert.match(await page.textContent("#spoken"), /self 0 to 20,000, \+20,000 \(from 0\), newly recorded here$/);
	});
});

test("the option that undoes a match is right for any name", async () => {
	const name = "old=\\=a' b\\c";
	const at = (n) => ({ name: n, file: "/srv/app/m.py", line: 5 });
	const files = [name, "fresh"].map((middle) => writeProfile(["a", "b"].map((leaf, i) =>
		({ tid: 1, stack: [at("main"), at(middle), at(leaf)], count: 300 + 200 * i }))));
	const out = path.join(folder, "odd.html"), diff = ["diff", ...files];
	execFileSync(process.env.FIZEAU, [...diff, "-o", out], { stdio: "ignore" });
	await withPage(out, { hash: "tab=matches" }, async (page) => {
		const option = await page.textContent(".veto");
		const run = (more) => JSON.parse(execFileSync("sh", ["-c", `"$0" "$@" --format json ${more}`, process.env.FIZEAU, ...diff], { encoding: "utf8" }));
		assert.deepEqual(run("").links.map((l) => l.from_name), [name]);
		assert.deepEqual(run(option).links, [], option);
	});
});

test("matches are listed with the option that undoes them", async () => {
	await withPage(judgedPage(), { hash: "tab=matches" }, async (page) => {
		const text = await page.innerText("#matches");
		assert.match(text, /write_all[\s\S]*write_rows/);
		assert.match(text, /--no-rename-detection/);
		const option = await page.textContent(".veto");
		assert.equal(option, "--map db.py:write_all=");
		const vetoed = json(["--map", "db.py:write_all="]);
		assert.deepEqual(vetoed.links, [], "the option does what the page says");
		assert.match(text, /Moved cost[\s\S]*rows[\s\S]*1 callee[\s\S]*2 callees/);
		assert.match(text, /Wrappers[\s\S]*cached/);
		assert.match(text, /root folders/);
		await page.click(".pair-link");
		assert.equal(await page.inputValue("#query"), "write_rows");
	});
});

const listed = (page) => page.$$eval(".spots .what", (list) => list.map((e) => e.textContent));
const shownNow = (page) => page.evaluate(() => {
	const { flame, data, state } = fizeau;
	const { tree, what, w } = flame.picture;
	const f = tree.func[flame.selected];
	return { name: data.functions.names[f], isZoomed: flame.selected === flame.focus, isWide: w[flame.selected] === flame.span,
		colour: $$frame_colour.nodeClass(tree, flame.selected, what), elided: state.elided, query: state.query };
});

test("] and [ visit exactly the listed changes, in order, gone functions too", async () => {
	await withPage(judgedPage(), {}, async (page) => {
		const names = await listed(page);
		const c = (await classes(page)).names;
		const gone = new Set(json().functions.filter((f) => f.state === "removed").map((f) => f.name));
		const seen = [];
		for (let i = 0; i < names.length; i++) {
			await page.keyboard.press("]");
			const now = await shownNow(page);
			seen.push(now.name);
			assert.ok(now.isZoomed && now.isWide, now.name);
			assert.equal(now.elided, gone.has(now.name), now.name);
			assert.ok(![c.SAME, c.UNSURE].includes(now.colour), `${now.name} ${now.colour}`);
			assert.equal(await page.textContent("#hint"), `Change ${i + 1} of ${names.length}, in list order`);
		}
		assert.deepEqual(seen, names);
		assert.ok(["parse", "escape", "digest", "checksum"].every((name) => seen.includes(name)), seen.join());
		await page.keyboard.press("]");
		assert.equal((await shownNow(page)).name, names[0]);
		await page.keyboard.press("[");
		assert.equal((await shownNow(page)).name, names.at(-1));
	});
});

test("a press on a change leads to its frame, in its colour, and ] continues from there", async () => {
	for (const width of [1400, 390])
		await withPage(judgedPage(), { width, hash: "inverted=1&show=base&q=scan" }, async (page) => {
			await page.evaluate(() => fizeau.set({ show: "diff" }));
			if (width < 900) await page.click("#side-toggle");
			const names = await listed(page);
			await page.locator(".spots .spot", { hasText: "escape" }).first().click();
			const now = await shownNow(page);
			assert.deepEqual([now.name, now.isZoomed, now.query], ["escape", true, ""]);
			assert.equal(await page.evaluate(() => fizeau.flame.picture.tree.inverted), false);
			if (width < 900) assert.ok(await page.isHidden("#sidebar"), "the picture is not covered");
			await page.keyboard.press("]");
			assert.equal((await shownNow(page)).name, names[(names.indexOf("escape") + 1) % names.length]);
			await page.click("#back");
			await until(page, () => fizeau.data.functions.names[fizeau.flame.picture.tree.func[fizeau.flame.focus]] === "escape");
		});
});

test("the table has verdicts and intervals of the command line, and copies as TSV", async () => {
	const { functions } = json();
	await withPage(judgedPage(), { hash: "tab=table" }, async (page) => {
		for (const cost of ["self", "total"]) {
			await page.evaluate((c) => fizeau.set({ cost: c }), cost);
			const [head, ...rows] = (await page.evaluate(() => fizeau.table.tsv())).trimEnd().split("\n").map((row) => row.split("\t"));
			assert.deepEqual(head, ["function", "file", "line", "before", "after", "change", "change ratio", "low", "high", "verdict", "share of change", "share of base run"]);
			assert.equal(rows.length, functions.length);
			// Functions of one side: which side, and whether the cost is known.
			const only = { new: "new or newly recorded", removed: "gone or no longer recorded" };
			const wordOf = (f) => {
				const word = { changed: f[`diff_${cost}`] > 0 ? "slower" : "faster", unchanged: "same", unknown: "unsure" }[f[`${cost}_verdict`]];
				return only[f.state] ? `${only[f.state]}${word === "unsure" ? ", unsure" : ""}` : word;
			};
			for (const f of functions) {
				const row = rows.find((r) => r[0] === f.name && r[1] === f.file);
				assert.ok(row, f.name);
				assert.deepEqual(row.slice(3, 6).map(Number), [f[`base_${cost}`], f[`head_${cost}`], f[`diff_${cost}`]], f.name);
				if (f.state !== "moved") assert.equal(row[9], wordOf(f), f.name);
				if (f[`${cost}_low`] === null) continue;
				assert.ok(Math.abs(Number(row[7]) - f[`${cost}_low`]) <= 1.01 && Math.abs(Number(row[8]) - f[`${cost}_high`]) <= 1.01, `${f.name} ${row.join()}`);
			}
		}
		const shares = (await page.evaluate(() => { fizeau.set({ cost: "self" }); return fizeau.table.tsv(); })).trimEnd().split("\n").slice(1).map((row) => Number(row.split("\t")[10]));
		assert.ok(Math.abs(shares.reduce((sum, v) => sum + Math.abs(v), 0) - 1) < 1e-9, "shares of the change make up all of it");
		await page.evaluate(() => { navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }; });
		await page.fill("#table input", "parse");
		await page.click("#copy-table");
		assert.match(await page.evaluate(() => copied), /^function\t.*\nparse\tdecoder\.py\t40\t/);
		await page.click("[data-id='verdict']");
		assert.match(await page.evaluate(() => location.hash), /sort=-verdict.*rows=parse|rows=parse.*sort=-verdict/);
	});
});

test("x mirrors verdicts, intervals and links, as the command line does with the sides swapped", async () => {
	const other = json([], { swapped: true });
	await withPage(judgedPage(), { hash: "tab=table" }, async (page) => {
		const before = await page.innerText(".verdict");
		await page.keyboard.press("x");
		const v = await page.evaluate(() => fizeau.data.header.verdict);
		assert.equal(v.word, other.verdict.word);
		for (const key of ["change_pct", "low", "high"]) assert.ok(Math.abs(v[key] - other.verdict[key]) < 0.2, `${key} ${v[key]} ${other.verdict[key]}`);
		const rows = (await page.evaluate(() => fizeau.table.tsv())).trimEnd().split("\n").slice(1).map((row) => row.split("\t"));
		for (const f of other.functions.filter((g) => g.state === "common" && !["write_all", "write_rows"].includes(g.name))) {
			const row = rows.find((r) => r[0] === f.name && r[1] === f.file);
			assert.deepEqual(row.slice(3, 6).map(Number), [f.base_self, f.head_self, f.diff_self], f.name);
			if (f.self_low !== null && Math.abs(f.diff_self) > 20)
				assert.ok(Math.abs(Number(row[7]) - f.self_low) <= 0.1 * (f.self_high - f.self_low), `${f.name}: ${row[7]} ${f.self_low}`);
		}
		await page.evaluate(() => fizeau.set({ tab: "flame", layout: "union" }));
		const { out, names: c } = await classes(page);
		assert.ok(out.parse >= c.LESS && out.parse < c.NEW && out.escape > c.SAME && out.escape < c.LESS);
		assert.deepEqual([out.audit, out.legacy, out.cached], [c.REMOVED, c.NEW, c.REMOVED]);
		assert.match(await tipOf(page, "write_rows"), /Matched with write_rows in db\.py before/);
		await page.keyboard.press("x");
		assert.equal(await page.innerText(".verdict"), before);
	});
});

test("one side against itself has neither colours nor changes", async () => {
	const { runs } = require("./judged.js");
	const file = `${runs[0][0]}.html`;
	execFileSync(process.env.FIZEAU, ["diff", runs[0][0], runs[0][0], "-o", file], { stdio: "ignore" });
	await withPage(file, {}, async (page) => {
		const { out, names: c } = await classes(page);
		assert.deepEqual([...new Set(Object.values(out))], [c.SAME]);
		await page.keyboard.press("]");
		assert.equal(await page.textContent("#spoken"), "Nothing changed.");
		const node = await nodeNamed(page, "parse");
		const at = await centreOf(page, node.i);
		assert.equal(await pixel(page, { x: at.x, y: at.y - 6 }), await page.evaluate(() => fizeau.flame.palette.fill[0]));
	});
});

test("the band agrees with the text report, and its numbers lead to the functions", async () => {
	const { verdict } = json();
	for (const width of [1400, 390]) {
		await withPage(judgedPage(), { width }, async (page) => {
			const answer = (await page.innerText("#band")).replace(/\s+/g, " ");
			const way = { slower: "slower", faster: "faster" }[verdict.word];
			const unsure = verdict.reason?.endsWith(" only") ? verdict.text : "Unsure whether the run changed";
			assert.ok(answer.includes(way ? `${Math.abs(verdict.change_pct).toFixed(1)} % ${way}` : unsure), answer);
			const groups = await page.evaluate(() => {
				const out = {};
				for (const item of document.querySelectorAll(".spots > li")) {
					if (item.matches(".group")) out.last = out[item.textContent.split(" ")[0].toLowerCase()] = [];
					else out.last.push(item.querySelector(".what").textContent);
				}
				delete out.last;
				return out;
			});
			const chips = await page.$$eval("#band .chip", (list) => list.map((c) => [c.classList[1], +c.textContent.split(" ")[1]]));
			assert.deepEqual(Object.fromEntries(chips), Object.fromEntries(Object.entries(groups).map(([g, names]) => [g, names.length])));
			assert.ok(chips.length >= 2, answer);
			for (const [group] of chips) {
				for (const name of groups[group].slice(0, 2)) {
					await page.click(`#band .${group}`);
					assert.equal((await shownNow(page)).name, name);
				}
			}
			assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
		});
	}
	const same = [{ tid: 1, stack: [{ name: "main", file: "/srv/main.py", line: 3 }], count: 9 }];
	await withPage(profilePage(same), {}, async (page) => assert.ok(await page.isHidden("#band")));
});

test("a link restores every choice, and history undoes rules", async () => {
	const chosen = {
		tab: "table", by: "surprise", cost: "total", sort: "-share", rows: "r", verdict: "changed", modules: ["decoder", "view"], layout: "union",
	};
	await withPage(judgedPage(), {}, async (page) => {
		await page.keyboard.press("x");
		await page.evaluate((s) => fizeau.set(s, true), chosen);
		await page.evaluate(() => fizeau.setRules([["^parse$", "decode"], ["plugin_(\\d)", "p$1;&=\t%"]]));
		const read = () => page.evaluate(() => ({ ...fizeau.state, shown: fizeau.table.tsv(), isSwapped: fizeau.data.isSwapped, link: location.hash }));
		const before = await read();
		assert.ok(before.shown.includes("decode") && before.shown.split("\n").length > 2, before.shown);
		const changes = await page.innerText(".spots");
		await page.reload();
		await page.waitForSelector("html[data-ready]");
		assert.deepEqual(await read(), before);
		assert.equal(await page.innerText(".spots"), changes);
		assert.equal(await page.innerText("#chips"), "2 modules ×\nslower or faster ×\n2 rules ×");
		await page.click("#back");
		await until(page, () => fizeau.state.rules.length === 0);
		assert.ok((await read()).shown.includes("parse\tdecoder.py"));
		await page.click("#back");
		await until(page, () => fizeau.state.verdict === "");
		assert.deepEqual(await page.evaluate(() => [fizeau.state.modules, fizeau.state.tab, fizeau.data.isSwapped]), [null, "flame", true]);
	});
});

test("a link of a judged page opens where nothing was judged, and in a profile", async () => {
	const hash = "by=surprise&verdict=changed&tab=matches&rule=(%09x&module=nowhere&sort=-verdict";
	const one = [{ tid: 1, stack: [{ name: "main", file: "/srv/main.py", line: 3 }], count: 9 }];
	for (const file of [diffPage(one, one), profilePage(one)])
		await withPage(file, { hash }, async (page) => {
			assert.equal(await page.evaluate(() => fizeau.state.verdict), "");
			await page.evaluate(() => fizeau.set({ tab: "flame" }));
			assert.equal(await page.innerText("#empty"), "No samples match these filters.");
			await page.keyboard.press("t");
			await page.keyboard.press("c");
			await page.keyboard.press("Y");
		});
});

test("the verdict of a slower run names the function with most of the change, and leads to it", async () => {
	const at = (name) => ({ name, file: "/srv/app/work.py", line: 7 });
	const run = (slow, quick) => [{ tid: 1, stack: [at("main"), at("slow")], count: slow }, { tid: 1, stack: [at("main"), at("quick")], count: quick }];
	for (const [before, after, word] of [[run(4000, 4000), run(9000, 3000), "slower"], [run(9000, 3000), run(4000, 4000), "faster"]])
		for (const width of [1400, 390])
			await withPage(diffPage(before, after, ["exact", "time", "judged", "counted=instructions,count"]), { width }, async (page) => {
				assert.match((await page.innerText("#band .answer")).replace(/\s+/g, " "), new RegExp(`^\\d+\\.\\d % ${word}, mostly slow \\S*work\\.py:7$`));
				await page.click("#band .culprit");
				assert.equal((await shownNow(page)).name, "slow");
			});
});

test("a verdict does not name the function that is the whole run, but the one with most of its change", async () => {
	const at = (name, file = "/srv/app/work.py") => ({ name, file, line: 7 }), library = "/usr/lib/python3/dist-packages/lib/core.py";
	const run = (hot, ...counts) => ["a", "b", "c"].map((name, k) => ({ tid: 1, stack: [at("<module>"), at(name, library), at("inner", library)], count: counts[k] + hot }))
		.concat({ tid: 1, stack: [at("<module>"), at("other", library)], count: 900 });
	await withPage(diffPage(run(0, 1000, 1000, 1000), run(700, 1000, 1000, 1000), ["exact", "time", "judged", "counted=instructions,count"]), {}, async (page) => {
		assert.match((await page.innerText("#band .answer")).replace(/\s+/g, " "), /slower, mostly inner \S*core\.py:7$/);
		await page.click("#band .culprit");
		assert.equal((await shownNow(page)).name, "inner");
	});
});

test("the box of a selected frame does not cover the labels of its path", async () => {
	const deep = Array.from({ length: 14 }, (_, i) => ({ name: `level_${i}`, file: "/srv/app/deep.py", line: 10 + i }));
	await withPage(diffPage([{ tid: 1, stack: deep, count: 400 }], [{ tid: 1, stack: deep, count: 900 }], ["exact", "time", "judged"]), { width: 1400, height: 900 }, async (page) => {
		await page.evaluate(() => fizeau.selection.select(3));
		const covered = await page.evaluate(() => {
			const tip = document.getElementById("tip").getBoundingClientRect(), canvas = document.getElementById("canvas").getBoundingClientRect();
			return Array.from({ length: 14 }, (_, i) => fizeau.flame.boxOf(i + 1)).filter(({ left, top }) => {
				const x = canvas.left + left, y = canvas.top + top;
				return x < tip.right && x + 200 > tip.left && y < tip.bottom && y + 18 > tip.top;
			}).length;
		});
		assert.equal(covered, 0);
	});
});

test("a verdict names code rather than garbage collection that is not most of the change", async () => {
	const at = (name, file = "/srv/app/work.py") => ({ name, file, line: 7 });
	const run = (x, y, gc) => [["x", x], ["y", y]].map(([name, count]) => ({ tid: 1, stack: [at(name)], count })).concat({ tid: 1, stack: [{ name: "<GC>", file: "~", line: 0 }], count: gc });
	const band = async (before, after) => {
		let text = "";
		await withPage(diffPage(before, after, ["exact", "time", "judged", "counted=instructions,count"]), {}, async (page) => (text = (await page.innerText("#band .answer")).replace(/\s+/g, " ")));
		return text;
	};
	assert.match(await band(run(1000, 1000, 1000), run(1600, 1500, 2000)), /slower, most in x /);
	assert.match(await band(run(1000, 1000, 1000), run(1100, 1000, 2000)), /slower, mostly <GC>/);
});

test("a verdict does not name a new function that only replaced another", async () => {
	const at = (name, file = "/srv/app/work.py") => ({ name, file, line: 7 });
	const run = (replaced, hot) => [{ tid: 1, stack: [at("main"), at("parse"), at(replaced)], count: 4000 }, { tid: 1, stack: [at("main"), at("simplify")], count: hot }];
	await withPage(diffPage(run("assignment", 2000), run("disjunction_of_all", 3000), ["exact", "time", "judged", "counted=instructions,count"]), {}, async (page) => {
		assert.match((await page.innerText("#band .answer")).replace(/\s+/g, " "), /slower, mostly simplify \S*work\.py:7$/);
		assert.equal(await page.evaluate(() => fizeau.data.functions.names.some((name) => name === "disjunction_of_all")), true);
	});
	// What remains of a replacement that costs more is its change.
	const part = (hot) => run("disjunction_of_all", hot).map((s, k) => (k ? s : { ...s, count: 9000 }));
	await withPage(diffPage(run("assignment", 2000), part(2300), ["exact", "time", "judged", "counted=instructions,count"]), {}, async (page) =>
		assert.match((await page.innerText("#band .answer")).replace(/\s+/g, " "), /slower, mostly \S*(disjunction_of_all|parse) /));
});
