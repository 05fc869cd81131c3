// SPDX-License-Identifier: MIT
// The window on the flame graph, moved by wheel, mouse and fingers.
"use strict";
const assert = require("node:assert/strict");
const browser = require("./browser.js");
const { drag } = require("./fingers.js");
const { diffPage, profilePage, someProgram } = require("./pages.js");
const { test } = require("./tap.js");

const base = someProgram(1, { skip: (_, i) => i % 13 === 0 });
const head = someProgram(2, { skip: (_, i) => i % 17 === 0, scale: 1.4 });

const { readTree, until, withPage } = browser;

// The window once it rests, with the value below a point.
async function windowAt(page, { x } = { x: 0 }) {
	await until(page, () => !fizeau.flame.isMoving);
	return page.evaluate((px) => {
		const { flame } = fizeau, { left } = flame.canvas.getBoundingClientRect();
		return { left: flame.left, span: flame.span, below: flame.left + ((px - left) / flame.width) * flame.span, all: flame.picture.all, focus: flame.focus };
	}, x);
}

// Wheels turn at whole pixels.
async function centreOf(page, i) {
	const { x, y } = await browser.centreOf(page, i);
	return { x: Math.round(x), y: Math.round(y) };
}

const near = (a, b, tolerance, what) => assert.ok(Math.abs(a - b) <= tolerance, `${what}: ${a} ${b}`);

// Until the page has had the event: on a busy machine it comes later than the call returns.
async function ctrlWheel(page, dy) {
	await page.evaluate(() => {
		window.wheelCame = new Promise((done) => addEventListener("wheel", done, { once: true }));
	});
	await page.keyboard.down("Control");
	await page.mouse.wheel(0, dy);
	await page.evaluate(() => window.wheelCame);
	await page.keyboard.up("Control");
}

// Until the window rests where it was moved, so that the state and the crumbs follow it. It may have
// rested between two moves, too.
const rested = (page) => until(page, () => fizeau.state.part !== "" && fizeau.state.part === fizeau.flame.part);

test("Ctrl and wheel zoom around the pointer, and back; the link and the crumbs follow", async () => {
	await withPage(diffPage(base, head, ["exact"]), {}, async (page) => {
		const node = (await readTree(page)).nodes.filter((n) => n.depth === 2).sort((a, b) => b.w - a.w)[0];
		const at = await centreOf(page, node.i);
		await page.mouse.move(at.x, at.y);
		const before = await windowAt(page, at);
		for (let k = 0; k < 8; k++) await ctrlWheel(page, -120);
		await rested(page);
		const close = await windowAt(page, at);
		assert.ok(close.span < before.span / 20);
		near(close.below, before.below, close.span / 100, "below the pointer");
		const { focus } = close;
		assert.ok(focus >= node.i, "the frame below the pointer is the zoomed one, or one below it");
		assert.equal(await page.textContent("#crumbs .link:last-child"), await page.evaluate((i) => fizeau.data.functions.names[fizeau.flame.picture.tree.func[i]], focus));
		const hash = (await page.evaluate(() => location.hash)).slice(1);
		await withPage(diffPage(base, head, ["exact"]), { hash }, async (again) => {
			const found = await windowAt(again, at);
			near(found.left, close.left, close.span / 1000, "left");
			near(found.span, close.span, close.span / 1000, "span");
		});
		for (let k = 0; k < 12; k++) await ctrlWheel(page, 120);
		await until(page, () => fizeau.state.zoom.length === 0 && fizeau.state.part === "");
		const whole = await windowAt(page);
		assert.deepEqual([whole.left, whole.span, whole.focus], [0, whole.all, 0]);
		assert.equal(await page.evaluate(() => fizeau.flame.views().length), 2, "what is gone stands beside it again");
	});
});

test("a plain wheel scrolls a tall graph, sidewards and with Shift it pans", async () => {
	const deep = Array.from({ length: 80 }, (_, i) => ({ name: `level_${i}`, file: "/srv/deep.py", line: i + 1 }));
	const wide = { tid: 1, stack: [...deep.slice(0, 3), { name: "other", file: "/srv/deep.py", line: 99 }], count: 60 };
	await withPage(profilePage([{ tid: 1, stack: deep, count: 100 }, wide]), {}, async (page) => {
		await page.mouse.move(700, 400);
		await page.mouse.wheel(0, 300);
		await until(page, () => fizeau.flame.scroller.scrollTop >= 250);
		assert.equal((await windowAt(page)).span, 160, "it zooms nowhere");
		await page.keyboard.down("Shift");
		await page.mouse.wheel(0, 100);
		await page.keyboard.up("Shift");
		assert.equal((await windowAt(page)).left, 0, "there is nothing beside the whole");
		for (let k = 0; k < 3; k++) await ctrlWheel(page, -120);
		const start = await windowAt(page);
		await page.mouse.wheel(70, 0);
		await until(page, (left) => fizeau.flame.left > left, start.left);
		const width = await page.evaluate(() => fizeau.flame.width);
		near((await windowAt(page)).left, start.left + (70 / width) * start.span, start.span / 1000, "panned");
		await page.keyboard.down("Shift");
		await page.mouse.wheel(0, -70);
		await page.keyboard.up("Shift");
		await until(page, (left) => Math.abs(fizeau.flame.left - left) < 1e-6, start.left);
	});
});

test("a drag pans, is no click, and a click, 0 or a crumb resets the window", async () => {
	await withPage(profilePage(head), {}, async (page) => {
		const node = (await readTree(page)).nodes.filter((n) => n.depth === 2).sort((a, b) => b.w - a.w)[0];
		const at = await centreOf(page, node.i);
		await page.mouse.move(at.x, at.y);
		for (let k = 0; k < 3; k++) await ctrlWheel(page, -120);
		const start = await windowAt(page, at);
		await page.mouse.down();
		await page.mouse.move(at.x - 60, at.y, { steps: 6 });
		await page.mouse.up();
		const after = await windowAt(page, { x: at.x - 60 });
		near(after.below, start.below, start.span / 100, "what was taken is where it was put");
		assert.equal(after.span, start.span, "no click came of it");
		await until(page, () => fizeau.state.part !== "");
		await page.keyboard.press("0");
		assert.equal((await windowAt(page)).span, after.all);
		assert.equal(await page.evaluate(() => fizeau.state.part), "");
		const spot = await centreOf(page, node.i);
		await page.mouse.dblclick(spot.x, spot.y);
		assert.deepEqual(await page.evaluate(() => [fizeau.flame.focus, fizeau.flame.span]), [node.i, node.w], "a double click zooms to the frame");
	});
});

test("keys move the window, too", async () => {
	await withPage(profilePage(head), {}, async (page) => {
		const { all } = await windowAt(page);
		for (let k = 0; k < 3; k++) await page.keyboard.press("+");
		const close = await windowAt(page);
		assert.ok(close.span < all / 2 && close.left > 0);
		await page.keyboard.press("Shift+ArrowRight");
		const right = await windowAt(page);
		assert.ok(right.left > close.left && right.span === close.span);
		await page.keyboard.press("Shift+ArrowLeft");
		near((await windowAt(page)).left, close.left, 1e-6, "back");
		for (let k = 0; k < 6; k++) await page.keyboard.press("-");
		assert.equal((await windowAt(page)).span, all);
	});
});

test("two fingers zoom around their middle, one pans, and the page is not magnified", async () => {
	await withPage(profilePage(head), { width: 390, height: 740, touch: true }, async (page) => {
		const node = (await readTree(page)).nodes.filter((n) => n.depth === 2).sort((a, b) => b.w - a.w)[0];
		const at = await centreOf(page, node.i);
		const start = await windowAt(page, at);
		const side = (dx) => ({ x: at.x + dx, y: at.y });
		await drag(page, [side(-20), side(-80)], [side(20), side(80)]);
		const close = await windowAt(page, at);
		near(close.span, start.span / 4, start.span / 40, "as far as the fingers went apart");
		near(close.below, start.below, close.span / 20, "between the fingers");
		assert.equal(await page.evaluate(() => visualViewport.scale), 1);
		assert.ok(await page.isHidden("#sheet"), "it is no touch of a frame");
		await drag(page, [side(60), side(-40)]);
		const panned = await windowAt(page, side(-40));
		const expected = close.left + ((at.x + 60 - (await page.evaluate(() => fizeau.flame.canvas.getBoundingClientRect().left))) / (await page.evaluate(() => fizeau.flame.width))) * close.span;
		near(panned.below, Math.min(expected, panned.left + panned.span), close.span / 20, "panned");
		assert.equal(panned.span, close.span);
	});
});

test("hovering outlines a frame and draws nothing else", async () => {
	await withPage(diffPage(base, head, ["exact"]), {}, async (page) => {
		await page.evaluate(() => {
			globalThis.drawn = 0;
			const { ctx } = fizeau.flame;
			for (const name of ["fillRect", "fill", "stroke", "fillText", "strokeRect"]) {
				const real = ctx[name].bind(ctx);
				ctx[name] = (...rest) => {
					globalThis.drawn++;
					real(...rest);
				};
			}
		});
		const { nodes } = await readTree(page);
		for (const node of nodes.filter((n) => n.depth === 2 && n.w > 100).slice(0, 3)) {
			const spot = await page.evaluate((i) => {
				const box = fizeau.flame.boxOf(i), canvas = fizeau.flame.canvas.getBoundingClientRect();
				return { x: canvas.left + (box.left + box.right) / 2, y: canvas.top + box.top + 9, box: [canvas.left + box.left, canvas.top + box.top] };
			}, node.i);
			await page.mouse.move(spot.x, spot.y);
			const outline = await page.evaluate(() => document.querySelector("#space .outline").getBoundingClientRect().toJSON());
			near(outline.left, spot.box[0], 1, "left");
			near(outline.top, spot.box[1], 1, "top");
			assert.ok(spot.x < outline.right && (await page.innerText("#tip")).includes(node.name));
		}
		assert.equal(await page.evaluate(() => globalThis.drawn), 0);
		await page.mouse.move(2, 500);
		assert.ok(await page.isHidden("#space .outline"));
	});
});
