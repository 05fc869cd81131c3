// SPDX-License-Identifier: MIT
// The search box: text and expressions, invalid expressions, and the list of results.
"use strict";
const assert = require("node:assert/strict");
const { readTree, until, withPage } = require("./browser.js");
const { diffPage, profilePage, someProgram } = require("./pages.js");
const { test } = require("./tap.js");

const base = someProgram(1, { skip: (_, i) => i % 13 === 0 });
const head = someProgram(2, { skip: (_, i) => i % 17 === 0, scale: 1.4 });
const names = [...new Set(head.flatMap((s) => s.stack).map((f) => f.name))];
const sum = (list) => list.reduce((n, s) => n + s.count, 0);
const shareOf = (hit) => `${((sum(head.filter((s) => s.stack.some((f) => hit(f.name)))) / sum(head)) * 100).toFixed(1)} %`;
const type = async (page, text) => {
	await page.fill("#query", text);
	await until(page, (query) => fizeau.state.query === query, text);
};
const found = (page) => page.textContent("#found");

test("the .* switch searches by expressions; text stays text without it", async () => {
	await withPage(profilePage(head), {}, async (page) => {
		const hit = (name) => /^function_1\d$/.test(name);
		await page.focus("#query");
		await type(page, "^function_1\\d$");
		assert.match(await found(page), /^0 functions/);
		assert.equal(await page.innerText("#hits .offer"), `Search as a regular expression: ${names.filter(hit).length} functions`);
		await page.click("#hits .offer");
		assert.equal(await found(page), `${names.filter(hit).length} functions · ${shareOf(hit)}`);
		assert.equal(await page.getAttribute("#regex", "aria-pressed"), "true");
		assert.ok(await page.isHidden("#hits .offer"));
		const hash = (await page.evaluate(() => location.hash)).slice(1);
		await withPage(profilePage(head), { hash }, async (again) => assert.equal(await found(again), `${names.filter(hit).length} functions · ${shareOf(hit)}`));
		await page.click("#regex");
		assert.match(await found(page), /^0 functions/);
		await type(page, "main.py");
		assert.ok(await page.isHidden("#hits .offer"), "a dot is no expression");
	});
});

test("an invalid expression is shown in red, finds nothing and fades nothing", async () => {
	await withPage(profilePage(head), { hash: "regex=1" }, async (page) => {
		await page.focus("#query");
		await type(page, "function_(1");
		assert.match(await found(page), /^Invalid expression: .*[Uu]nterminated group/);
		const [colour, red] = await page.evaluate(() => [getComputedStyle(document.getElementById("found")).color, getComputedStyle(document.documentElement).getPropertyValue("--more")]);
		assert.equal(`#${colour.match(/\d+/g).map((v) => Number(v).toString(16).padStart(2, "0")).join("")}`, red.trim());
		assert.equal(await page.getAttribute("#query", "aria-invalid"), "true");
		assert.deepEqual(await page.evaluate(() => [fizeau.flame.matched, document.getElementById("hits").childElementCount]), [null, 0]);
		await page.keyboard.press("Enter");
		await type(page, "function_(1)");
		assert.match(await found(page), /^\d+ functions/);
		assert.equal(await page.getAttribute("#query", "aria-invalid"), "false");
	});
});

test("hits are listed, the costliest first, with their shares, and lead to their widest frame", async () => {
	await withPage(diffPage(base, head, ["exact", "time"]), {}, async (page) => {
		await page.keyboard.press("/");
		await page.keyboard.type("function_1");
		await until(page, () => fizeau.state.query === "function_1" && !document.getElementById("hits").hidden);
		const hits = await page.$$eval("#hits li", (list) => list.map((li) => [li.querySelector(".what").textContent, li.querySelector(".pair > :last-child").textContent]));
		const wanted = names.filter((name) => name.startsWith("function_1"));
		for (const [name, share] of hits.filter(([n]) => wanted.includes(n))) assert.equal(share, shareOf((n) => n === name), name);
		const shares = hits.map(([, share]) => parseFloat(share.replace("<", "")));
		assert.deepEqual(shares, [...shares].sort((a, b) => b - a));
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press("Enter");
		assert.ok(await page.isHidden("#hits"));
		const widest = (await readTree(page)).nodes.filter((n) => n.name === hits[1][0]).sort((a, b) => b.w - a.w)[0];
		assert.equal(await page.evaluate(() => fizeau.flame.picture.w[fizeau.flame.selected]), widest.w);
		await page.focus("#query");
		assert.ok(await page.isVisible("#hits"));
		await page.mouse.click(700, 700);
		assert.ok(await page.isHidden("#hits"));
	});
});

test("hits on one side only are marked, and a click shows both sides", async () => {
	const at = (name, count) => ({ tid: 1, count, stack: [{ name: "main", file: "/srv/app/main.py", line: 1 }, { name, file: "/srv/app/main.py", line: 9 }] });
	const file = diffPage([at("step_old", 40), at("step", 60)], [at("step_new", 50), at("step", 60)], ["exact", "time"]);
	for (const [layout, name, word] of [["head", "step_old", "only before"], ["base", "step_new", "only after"]])
		await withPage(file, { hash: `layout=${layout}` }, async (page) => {
			await page.focus("#query");
			await type(page, "step");
			const hits = await page.$$eval("#hits .pair", (list) => list.map((e) => [e.firstChild.textContent, e.lastChild.textContent]));
			assert.deepEqual(hits.find(([hit]) => hit === name), [name, word]);
			await page.click(`#hits button:has-text("${name}")`);
			assert.deepEqual(await page.evaluate(() => [fizeau.state.layout, fizeau.data.functions.names[fizeau.flame.picture.tree.func[fizeau.flame.selected]]]), ["union", name]);
		});
});

test("a search in chosen threads finds their functions", async () => {
	const at = (tid, name) => ({ tid, count: 40, stack: [{ name, file: "/srv/app/main.py", line: 1 }] });
	await withPage(profilePage([at(1, "work_one"), at(2, "work_two")]), {}, async (page) => {
		await type(page, "work");
		assert.match(await found(page), /^2 functions/);
		await page.evaluate(() => fizeau.set({ threads: [1, 0] }));
		assert.match(await found(page), /^1 function · 100/);
	});
});

test("the list of hits is within a small window", async () => {
	await withPage(profilePage(head), { width: 320, height: 700, touch: true }, async (page) => {
		await page.tap("#query");
		await type(page, "function");
		const { left, right } = await page.evaluate(() => document.getElementById("hits").getBoundingClientRect().toJSON());
		assert.ok(left >= 0 && right <= 320 && (await page.evaluate(() => document.documentElement.scrollWidth)) === 320);
	});
});

test("functions of that name are listed before those of a file of that name", async () => {
	const at = (name, file) => ({ name, file: `/srv/app/${file}`, line: 3 });
	const samples = [{ tid: 1, count: 90, stack: [at("main", "render.py"), at("busy", "render.py")] }, { tid: 1, count: 5, stack: [at("main", "render.py"), at("render", "view.py")] }];
	await withPage(profilePage(samples), {}, async (page) => {
		for (const [query, expression] of [["render", false], ["^re.der", true]]) {
			await page.evaluate((on) => fizeau.finder.setExpression(on), expression);
			await page.focus("#query");
			await type(page, query);
			assert.match(await page.locator("#hits button, #hits [role=option]").first().innerText(), /^render/, query);
		}
	});
});
