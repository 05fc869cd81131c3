// SPDX-License-Identifier: MIT
// What can be done with a frame: the menu beside it, by mouse, finger and key; and what leads past the bars.
"use strict";
const assert = require("node:assert/strict");
const { centreOf, readTree, until, withPage } = require("./browser.js");
const { judgedPage } = require("./judged.js");
const { diffPage, profilePage, someProgram } = require("./pages.js");
const { test } = require("./tap.js");

const base = someProgram(1, { skip: (_, i) => i % 13 === 0 });
const head = someProgram(2, { skip: (_, i) => i % 17 === 0, scale: 1.4 });
const named = async (page, name) => (await readTree(page)).nodes.filter((n) => n.name === name && n.w > 0).sort((a, b) => b.w - a.w)[0];

async function openMenu(page, name) {
	const at = await centreOf(page, (await named(page, name)).i);
	await page.mouse.click(at.x, at.y, { button: "right" });
	assert.ok(await page.isVisible("#context"));
}

const choose = (page, label) => page.click(`#context button:text-is("${label}")`);
const lastCopied = (page) => page.evaluate(() => navigator.clipboard.readText());

// Keep links from leaving the page, and remember where they led.
const catchLinks = (page) => page.evaluate(() => {
	globalThis.followed = [];
	document.addEventListener("click", (event) => {
		if (event.target.tagName !== "A" || event.target.id === "skip") return;
		globalThis.followed.push(event.target.href);
		event.preventDefault();
	}, true);
});

test("the menu of a frame copies its name and its place", async () => {
	await withPage(judgedPage(), {}, async (page) => {
		await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
		await openMenu(page, "parse");
		assert.ok(await page.isHidden("#tip"), "one thing at a time");
		await choose(page, "Copy name");
		await until(page, () => document.getElementById("spoken").textContent.startsWith("Copied"));
		assert.equal(await lastCopied(page), "parse");
		await openMenu(page, "parse");
		await choose(page, "Copy path:line");
		await until(page, () => document.getElementById("spoken").textContent.includes("decoder"));
		assert.equal(await lastCopied(page), "decoder.py:40");
		assert.equal(await page.evaluate(() => fizeau.flame.focus), 0, "no click came of it");
	});
});

test("the menu works with keys alone, and returns the focus", async () => {
	await withPage(judgedPage(), {}, async (page) => {
		await page.focus("#grid");
		for (let k = 0; k < 3; k++) await page.keyboard.press("ArrowDown");
		const selected = await page.evaluate(() => fizeau.flame.selected);
		await page.keyboard.press("Shift+F10");
		await until(page, () => document.activeElement.closest("#context") !== null);
		const at = () => page.evaluate(() => document.activeElement.textContent);
		const first = await at();
		await page.keyboard.press("ArrowDown");
		assert.notEqual(await at(), first);
		await page.keyboard.press("ArrowUp");
		await page.keyboard.press("ArrowUp");
		const last = await at();
		await page.keyboard.press("Home");
		assert.equal(await at(), first);
		await page.keyboard.press("End");
		assert.equal(await at(), last);
		await page.keyboard.press("Escape");
		assert.ok(await page.isHidden("#context"));
		assert.equal(await page.evaluate(() => document.activeElement.id), "grid");
		assert.equal(await page.evaluate(() => fizeau.flame.selected), selected, "Escape closed the menu alone");
		await page.keyboard.press("Shift+F10");
		await page.keyboard.press("Enter");
		assert.equal(await page.evaluate(() => fizeau.flame.focus), selected, "the first entry zooms");
	});
});

test("Only this and Hide keep and drop samples, add up, are in the link, and a chip undoes them", async () => {
	const file = diffPage(base, head, ["exact", "time"]);
	let hash;
	const passes = (name) => (s) => s.stack.some((f) => f.name === name);
	const sum = (list) => list.reduce((n, s) => n + s.count, 0);
	const count = { all: sum(head), only: sum(head.filter(passes("function_1"))), hidden: sum(head.filter((s) => passes("function_1")(s) && !passes("function_2")(s))) };
	assert.ok(count.hidden > 0 && count.hidden < count.only && count.only < count.all);
	const total = (page) => page.evaluate(() => fizeau.flame.picture.all);
	await withPage(file, {}, async (page) => {
		await openMenu(page, "function_1");
		await choose(page, "Only this");
		assert.equal(await total(page), count.only);
		await openMenu(page, "function_2");
		await choose(page, "Hide");
		assert.equal(await total(page), count.hidden);
		assert.equal(await named(page, "function_2"), undefined);
		hash = (await page.evaluate(() => location.hash)).slice(1);
		assert.deepEqual(await page.$$eval("#chips button", (list) => list.map((b) => b.firstChild.textContent)), ["only function_1", "without function_2"]);
		await page.click("#chips button:first-child");
		assert.equal(await total(page), sum(head.filter((s) => !passes("function_2")(s))));
		await page.click("#chips button:first-child");
		assert.equal(await total(page), count.all);
	});
	await withPage(file, { hash }, async (page) => assert.equal(await total(page), count.hidden));
});

test("a place opens in the editor that was chosen, and hostile schemes and names cannot do more", async () => {
	const odd = { name: "odd", file: "/srv/a b/ü&line=9?\"x#.py", line: 7 };
	const page_file = profilePage([{ tid: 1, stack: [odd], count: 5 }, { tid: 1, stack: [{ name: "relative", file: "src/x.py", line: 3 }], count: 4 }]);
	await withPage(page_file, {}, async (page) => {
		await catchLinks(page);
		await openMenu(page, "odd");
		await choose(page, "Open in editor");
		assert.ok(await page.isVisible("#editor"), "the first time it asks");
		for (const bad of ["javascript:alert(1)//{path}", "JavaScript:{path}", "https://host/{path}", "data:{path}", "x", "editor://open"]) {
			await page.fill("#editor-own", bad);
			await page.click("#editor button:has-text('Use this link')");
			assert.ok((await page.innerText("#editor .error")).length > 0 && await page.isVisible("#editor"), bad);
		}
		assert.deepEqual(await page.evaluate(() => globalThis.followed), []);
		await page.click("#editor [data-editor=vscode]");
		const encoded = "/srv/a%20b/%C3%BC%26line%3D9%3F%22x%23.py";
		assert.deepEqual(await page.evaluate(() => globalThis.followed), [`vscode://file${encoded}:7`]);
		await page.reload();
		await page.waitForSelector("html[data-ready]");
		await catchLinks(page);
		await openMenu(page, "odd");
		await choose(page, "Open in editor");
		assert.deepEqual(await page.evaluate(() => globalThis.followed), [`vscode://file${encoded}:7`], "remembered");
		await openMenu(page, "odd");
		await choose(page, "Choose editor…");
		await page.fill("#editor-own", "nvim://open?f={path}&l={line}");
		await page.keyboard.press("Enter");
		assert.equal(await page.evaluate(() => globalThis.followed[1]), `nvim://open?f=${encoded}&l=7`);
		await openMenu(page, "relative");
		await choose(page, "Open in editor");
		assert.ok(await page.isVisible("#editor"), "a relative path needs a folder");
		await page.click("#editor [data-editor=idea]");
		assert.match(await page.innerText("#editor .error"), /Enter the folder/);
		await page.fill("#editor-folder", "/home/me/x/");
		await page.click("#editor [data-editor=idea]");
		assert.equal(await page.evaluate(() => globalThis.followed[2]), "idea://open?file=/home/me/x/src/x.py&line=3");
	});
});

test("the first Tab offers to skip to the graph", async () => {
	await withPage(judgedPage(), {}, async (page) => {
		await page.keyboard.press("Tab");
		const box = await page.evaluate(() => ({ id: document.activeElement.id, top: document.activeElement.getBoundingClientRect().top }));
		assert.deepEqual(box, { id: "skip", top: 8 });
		await page.keyboard.press("Enter");
		assert.equal(await page.evaluate(() => document.activeElement.id), "grid");
		await page.keyboard.press("ArrowDown");
		assert.equal(await page.evaluate(() => fizeau.flame.selected), 0);
	});
});

test("slow work shows an indicator before it starts, and removes it after", async () => {
	await withPage(judgedPage(), {}, async (page) => {
		assert.ok(await page.isHidden("#busy"));
		const seen = await page.evaluate(async () => {
			const { busy } = fizeau, real = fizeau.refresh.bind(fizeau), box = document.getElementById("busy");
			busy.isLarge = true;
			const frames = await new Promise((done) => {
				fizeau.refresh = () => {
					const animation = box.getAnimations()[0], { delay, fill } = animation.effect.getTiming(), { opacity } = animation.effect.getKeyframes()[0];
					done({ isThere: !box.hidden, hasBegun: animation.startTime !== null || animation.pending, delay, fill, opacity });
					real();
				};
				document.getElementById("toggle-inverted").click();
			});
			await new Promise((done) => setTimeout(done));
			return { ...frames, isAfter: !box.hidden, isInverted: fizeau.state.inverted };
		});
		assert.deepEqual(seen, { isThere: true, hasBegun: true, delay: 300, fill: "both", opacity: "0", isAfter: false, isInverted: true });
	});
});
