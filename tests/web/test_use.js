// SPDX-License-Identifier: MIT
// Using the page as a reader does: pointer, keys, search, history, links, themes.
"use strict";
const assert = require("node:assert/strict");
const { centreOf, pixel, readTree, until, withPage } = require("./browser.js");
const { diffPage, nameOf, pathCosts, profilePage, someProgram, writeText } = require("./pages.js");
const { test } = require("./tap.js");

const base = someProgram(1, { skip: (_, i) => i % 13 === 0 });
const head = someProgram(2, { skip: (_, i) => i % 17 === 0, scale: 1.4 });

const focus = (page) => page.evaluate(() => fizeau.flame.focus);
const selected = (page) => page.evaluate(() => fizeau.flame.selected);
const state = (page, key) => page.evaluate((k) => fizeau.state[k], key);
const checked = (page, id) => page.getAttribute(`#${id}`, "aria-checked");

// A node that can be clicked and has callees, below the top.
async function someNode(page, depth = 3) {
	const { nodes } = await readTree(page);
	return nodes.filter((n) => n.depth === depth).sort((a, b) => b.w - a.w)[0];
}

test("a click zooms, and history goes back and forward", async () => {
	await withPage(profilePage(head), {}, async (page) => {
		const outer = await someNode(page, 2), inner = (await readTree(page)).nodes.filter((n) => n.parent === outer.i).sort((a, b) => b.w - a.w)[0];
		for (const node of [outer, inner]) {
			const at = await centreOf(page, node.i);
			await page.mouse.click(at.x, at.y);
			assert.equal(await focus(page), node.i);
			const box = await page.evaluate((i) => fizeau.flame.boxOf(i), node.i);
			assert.ok(box.right - box.left > 900, "fills the width");
		}
		await page.click("#back");
		await until(page, (i) => fizeau.flame.focus === i, outer.i);
		await page.keyboard.press("Backspace");
		await until(page, () => fizeau.flame.focus === 0);
		assert.ok(await page.isDisabled("#back"));
		await page.click("#forward");
		await until(page, (i) => fizeau.flame.focus === i, outer.i);
		await page.goForward();
		await until(page, (i) => fizeau.flame.focus === i, inner.i);
		await page.keyboard.press("0");
		assert.equal(await focus(page), 0);
	});
});

test("the zoom glides unless the reader prefers no motion", async () => {
	await withPage(profilePage(head), { motion: true }, async (page) => {
		const node = await someNode(page);
		const at = await centreOf(page, node.i);
		await page.mouse.click(at.x, at.y);
		await until(page, (w) => fizeau.flame.span === w, node.w);
	});
});

test("search counts functions and the share of samples that pass through them", async () => {
	await withPage(diffPage(base, head, ["exact"]), {}, async (page) => {
		await page.keyboard.press("/");
		await page.keyboard.type("FUNCTION_1");
		const hit = (s) => s.stack.some((f) => /function_1/.test(f.name));
		const sum = (list) => list.reduce((n, s) => n + s.count, 0);
		const names = new Set([...base, ...head].flatMap((s) => s.stack).map(nameOf).filter((n) => /^function_1/.test(n)));
		const share = ((sum(head.filter(hit)) / sum(head)) * 100).toFixed(1);
		await until(page, () => fizeau.state.query === "FUNCTION_1");
		assert.equal(await page.textContent("#found"), `${names.size} functions · ${share} %`);
		await page.keyboard.press("Enter");
		const first = await selected(page);
		const { nodes } = await readTree(page);
		const hits = nodes.filter((n) => /^function_1/.test(n.name) && n.w > 0).sort((a, b) => b.w - a.w);
		assert.equal(nodes.find((n) => n.i === first).w, hits[0].w);
		await page.keyboard.press("Escape");
		assert.equal(await page.textContent("#found"), "");
	});
});

test("Enter goes to a match of all that was typed before it, be it in one moment", async () => {
	await withPage(profilePage(head), { hash: "q=function_3" }, async (page) => {
		const name = await page.evaluate(() => {
			const query = document.getElementById("query");
			query.focus();
			query.value = "function_5";
			query.dispatchEvent(new Event("input", { bubbles: true }));
			query.dispatchEvent(Object.assign(new Event("keydown", { bubbles: true }), { key: "Enter" }));
			return fizeau.data.functions.names[fizeau.flame.picture.tree.func[fizeau.flame.selected]];
		});
		assert.equal(name, "function_5");
	});
});

test("n and N walk through matches and zoom to narrow ones", async () => {
	await withPage(profilePage(head), { hash: "q=function_3" }, async (page) => {
		const seen = [];
		for (let i = 0; i < 4; i++) {
			await page.keyboard.press("n");
			seen.push(await selected(page));
		}
		assert.equal(new Set(seen).size, 4);
		await page.keyboard.press("N");
		assert.equal(await selected(page), seen[2]);
		const names = await page.evaluate((list) => list.map((i) => fizeau.data.functions.names[fizeau.flame.picture.tree.func[i]]), seen);
		assert.ok(names.every((n) => n.includes("function_3")));
	});
});

test("search finds files, modules and path:line", async () => {
	await withPage(profilePage(head), {}, async (page) => {
		const count = (q) => page.evaluate((query) => fizeau.finder.searcher.find(query)?.count ?? 0, q);
		const functions = new Map(head.flatMap((s) => s.stack).map((f) => [nameOf(f), f]));
		const of = (wanted) => [...functions.values()].filter(wanted).length;
		assert.equal(await count("part_2/"), of((f) => f.file.includes("part_2/")));
		assert.equal(await count("module_3.py:13"), of((f) => f.file.endsWith("module_3.py") && f.line === 13));
		assert.equal(await count("module_3.py:9999"), 0);
		assert.equal(await count("main"), 1);
	});
});

test("matches keep their colour and the rest fades", async () => {
	await withPage(profilePage(head), {}, async (page) => {
		const node = await someNode(page, 2);
		const at = { x: (await centreOf(page, node.i)).x + 60, y: (await centreOf(page, node.i)).y - 7 };
		await page.mouse.move(2, 400);
		const before = await pixel(page, at);
		await page.fill("#query", node.name);
		await until(page, () => fizeau.flame.matched);
		assert.equal(await pixel(page, at), before);
		await page.fill("#query", "no such function");
		await until(page, () => document.getElementById("found").textContent.startsWith("0"));
		assert.notEqual(await pixel(page, at), before);
	});
});

test("the tooltip shows self, total and shares", async () => {
	await withPage(profilePage(head), {}, async (page) => {
		const node = await someNode(page, 2);
		const at = await centreOf(page, node.i);
		await page.mouse.move(at.x, at.y);
		const text = await page.innerText("#tip");
		const all = head.reduce((n, s) => n + s.count, 0);
		assert.ok(text.includes(node.name) && text.includes(`${node.file}:`));
		assert.ok(text.includes(`${((node.w / all) * 100).toFixed(1)} %`), text);
		assert.ok(text.includes(node.head.total.toLocaleString("en-US")), text);
		await page.mouse.click(at.x, at.y);
		const inner = (await readTree(page)).nodes.filter((n) => n.parent === node.i).sort((a, b) => b.w - a.w)[0];
		const inside = await centreOf(page, inner.i);
		await page.mouse.move(inside.x + 5, inside.y);
		assert.ok((await page.innerText("#tip")).includes(`${((inner.w / node.w) * 100).toFixed(1)} %`), "of the zoomed frame");
	});
});

test("the tooltip of a diff shows before, after, difference and percent, for self and total", async () => {
	await withPage(diffPage(base, head, ["exact", "time"]), {}, async (page) => {
		const { nodes } = await readTree(page);
		const node = nodes.filter((n) => n.base.self > 0 && n.head.self > 0).sort((a, b) => b.w - a.w)[0];
		const at = await centreOf(page, node.i);
		await page.mouse.move(at.x, at.y);
		const cells = await page.$$eval("#tip table tr", (rows) => rows.map((r) => [...r.cells].map((c) => c.innerText)));
		const expect = (name, c) => {
			const delta = c.head - c.base, percent = Math.abs((delta / c.base) * 100);
			const sign = delta > 0 ? "+" : "−";
			const figures = percent < 0.05 ? "±0 %" : `${sign}${percent.toFixed(1)} %`;
			return [name, c.base, c.head].map((v) => v.toLocaleString("en-US")).concat(delta ? `${sign}${Math.abs(delta).toLocaleString("en-US")}` : "±0", figures);
		};
		const self = { base: node.base.self, head: node.head.self }, total = { base: node.base.total, head: node.head.total };
		assert.deepEqual(cells.slice(1), [expect("Self", self), expect("Total", total)]);
	});
});

test("turning the tree round begins at its roots, and typing in a list is not a command", async () => {
	await withPage(diffPage(base, head, ["exact"]), {}, async (page) => {
		const node = await someNode(page);
		const at = await centreOf(page, node.i);
		await page.mouse.click(at.x, at.y);
		await page.click("#menu-view summary");
		await page.click("#toggle-inverted");
		await page.mouse.click(700, 500);
		assert.ok(await page.isHidden("#toggle-inverted"), "a click elsewhere closes the menu");
		assert.equal(await focus(page), 0);
		await page.focus("#select-by");
		await page.keyboard.press("s");
		await page.keyboard.press("i");
		assert.ok(await page.isVisible("#sidebar"));
		assert.equal(await state(page, "inverted"), true);
	});
});

test("a press on the graph does not steal focus from a control chosen since", async () => {
	await withPage(diffPage(base, head, ["exact"]), {}, async (page) => {
		const focused = (then) => page.evaluate((id) => new Promise((resolve) => {
			fizeau.flame.canvas.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
			if (id) document.getElementById(id).focus();
			setTimeout(() => setTimeout(() => resolve(document.activeElement.id)));
		}), then);
		assert.equal(await focused(""), "grid");
		assert.equal(await focused("select-by"), "select-by");
	});
});

test("keys work as the help describes", async () => {
	await withPage(diffPage(base, head, ["exact"]), {}, async (page) => {
		const press = (key) => page.keyboard.press(key);
		await press("ArrowDown");
		assert.equal(await selected(page), 0);
		await press("ArrowDown");
		await press("ArrowDown");
		const node = await selected(page);
		assert.ok(node > 0);
		assert.ok(!(await page.isHidden("#tip")));
		assert.match(await page.textContent("#spoken"), /self .* to /);
		await press("ArrowRight");
		const right = await selected(page);
		await press("ArrowLeft");
		assert.equal(await selected(page), node);
		assert.notEqual(right, node);
		await press("Enter");
		assert.equal(await focus(page), node);
		await press("Backspace");
		await until(page, () => fizeau.flame.focus === 0);
		await press("Shift+Backspace");
		await until(page, (i) => fizeau.flame.focus === i, node);
		await press("0");
		await press("i");
		assert.equal(await checked(page, "toggle-inverted"), "true");
		assert.match(await page.textContent("#title"), /^Inverted differential/);
		await press("i");
		await press("f");
		assert.equal(await state(page, "up"), true);
		await press("f");
		await press("c");
		assert.equal(await state(page, "by"), "share");
		await press("m");
		assert.equal(await state(page, "names"), "module");
		await press("e");
		assert.equal(await checked(page, "toggle-elided"), "true");
		await press("e");
		await press("w");
		assert.equal(await state(page, "layout"), "base");
		for (const [key, show, title] of [["1", "base", "Base flame graph"], ["2", "head", "Head flame graph"], ["3", "diff", "Differential flame graph"]]) {
			await press(key);
			assert.equal(await state(page, "show"), show);
			assert.equal(await page.textContent("#title"), title);
		}
		await press("t");
		assert.ok(await page.isVisible("#table"));
		await press("t");
		await press("T");
		assert.equal((await state(page, "threads"))[0], 1);
		await press("s");
		assert.ok(await page.isHidden("#sidebar"));
		await press("s");
		assert.ok(await page.isVisible("#sidebar"));
		await press("?");
		assert.ok(await page.isVisible("#help"));
		assert.ok((await page.innerText("#help")).includes("caller"));
		await press("Escape");
		assert.ok(await page.isHidden("#help"));
		await press("Escape");
		assert.equal(await selected(page), -1);
	});
});

test("a link restores the view, in a new page too", async () => {
	const file = diffPage(base, head, ["exact"]);
	let hash, zoomed;
	await withPage(file, {}, async (page) => {
		const node = (await readTree(page)).nodes.filter((n) => n.depth === 3 && n.head.total > 0 && n.base.total > 0).sort((a, b) => b.w - a.w)[0];
		for (const key of ["f", "c", "m", "w"]) await page.keyboard.press(key);
		await page.fill("#query", "function_2");
		await until(page, () => fizeau.state.query);
		const at = await centreOf(page, node.i);
		await page.mouse.click(at.x, at.y);
		zoomed = node.key;
		hash = (await page.evaluate(() => location.hash)).slice(1);
	});
	const again = diffPage(base, head, ["exact"]);
	for (const target of [file, again])
		await withPage(target, { hash }, async (page) => {
			const { nodes } = await readTree(page);
			assert.equal(nodes.find((n) => n.key === zoomed).i, await focus(page));
			assert.deepEqual(await page.evaluate(() => { const { up, by, names, layout, query } = fizeau.state; return { up, by, names, layout, query }; }),
				{ up: true, by: "share", names: "module", layout: "base", query: "function_2" });
			assert.equal(await page.inputValue("#query"), "function_2");
		});
});

test("a link with nonsense opens the plain view", async () => {
	await withPage(profilePage(head), { hash: "show=diff&tab=%3Cscript%3E&f=zzzz&elided=1&thread=nobody&layout=7" }, async (page) => {
		assert.equal(await focus(page), 0);
		assert.equal(await state(page, "tab"), "flame");
		assert.equal(await state(page, "show"), "head");
	});
});

test("a theme changes colours and keeps the view", async () => {
	await withPage(profilePage(head), { theme: "light" }, async (page) => {
		const node = await someNode(page, 2);
		const at = await centreOf(page, node.i);
		await page.mouse.click(at.x, at.y);
		await page.mouse.move(2, 400);
		const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
		assert.equal(await background(), "rgb(255, 255, 255)");
		await page.emulateMedia({ colorScheme: "dark" });
		await until(page, () => document.documentElement.dataset.theme === "dark");
		assert.equal(await background(), "rgb(22, 24, 29)");
		assert.equal(await pixel(page, { x: 900, y: 780 }), "#16181d");
		assert.equal(await focus(page), node.i);
		await page.keyboard.press("d");
		assert.equal(await background(), "rgb(255, 255, 255)", "light although the system is dark");
		assert.equal(await focus(page), node.i);
		await page.keyboard.press("d");
		assert.equal(await background(), "rgb(22, 24, 29)");
	});
});

test("the sidebar filters threads by name, and hotspots follow", async () => {
	await withPage(profilePage(head), {}, async (page) => {
		const spots = () => page.$$eval(".spot .what", (list) => list.map((e) => e.textContent));
		const before = await spots();
		await page.uncheck(".threads li:has-text('tid 100') input");
		await page.uncheck(".threads li:has-text('tid 101') input");
		const rest = head.filter((s) => s.tid === 102);
		assert.equal(await page.evaluate(() => fizeau.flame.picture.all), rest.reduce((n, s) => n + s.count, 0));
		const self = new Map();
		for (const s of rest) self.set(s.stack.at(-1).name, (self.get(s.stack.at(-1).name) ?? 0) + s.count);
		const top = [...self].sort((a, b) => b[1] - a[1]);
		const after = await spots();
		assert.equal(self.get(after[0]), top[0][1]);
		assert.notDeepEqual(before, after);
		assert.match(await page.evaluate(() => location.hash), /thread=tid\+102/);
		await page.click("text=All 3 threads");
		assert.deepEqual(await spots(), before);
	});
});

test("the table sorts, filters and leads to the flame graph", async () => {
	await withPage(diffPage(base, head, ["exact", "time"]), { hash: "tab=table" }, async (page) => {
		const column = (k) => page.$$eval(".rows .row", (rows, index) => rows.map((r) => r.children[index].textContent), k);
		const number = (t) => Number(t.replace(/[,+]/g, "").replace("−", "-").replace("±", ""));
		await page.click("[data-id='after']");
		let shown = (await column(2)).map(number);
		assert.deepEqual(shown, [...shown].sort((a, b) => b - a));
		await page.click("[data-id='after']");
		shown = (await column(2)).map(number);
		assert.deepEqual(shown, [...shown].sort((a, b) => a - b));
		await page.click("[data-id='name']");
		const names = await page.$$eval(".rows .link", (list) => list.map((e) => e.textContent));
		assert.deepEqual(names, [...names].sort((a, b) => a.localeCompare(b)));
		await page.fill("#table input", "function_12");
		assert.equal(await page.textContent("#table output"), "1 function");
		await page.click(".rows .link");
		assert.ok(await page.isVisible("#flame"));
		assert.equal(await page.inputValue("#query"), "function_12");
		assert.ok((await selected(page)) > 0);
	});
});

test("the sidebar can be made wider, by pointer and by key", async () => {
	await withPage(profilePage(head), {}, async (page) => {
		const width = () => page.evaluate(() => document.getElementById("sidebar").offsetWidth);
		const before = await width();
		await page.mouse.move(before, 500);
		await page.mouse.down();
		await page.mouse.move(before + 80, 500);
		await page.mouse.up();
		assert.ok(Math.abs((await width()) - before - 80) < 6);
		await page.focus("#resizer");
		await page.keyboard.press("ArrowLeft");
		assert.ok((await width()) < before + 70);
		// The picture follows in the next frame.
		await until(page, () => document.getElementById("canvas").clientWidth ===
			document.getElementById("flame").clientWidth);
	});
});

test("source lines around a frame are shown, the removed ones from the base", async () => {
	const lines = (what) => Array.from({ length: 40 }, (_, i) => `line_${i + 1} = "${what}"`).join("\n");
	const now = writeText(lines("new text")), then = writeText(lines("old text"));
	const f = (name, line) => ({ name, file: "/srv/app/code.py", line });
	const before = [{ tid: 1, stack: [f("main", 2), f("gone", 30)], count: 5 }, { tid: 1, stack: [f("main", 2)], count: 9 }];
	const after = [{ tid: 1, stack: [f("main", 2), f("stays", 12)], count: 7 }, { tid: 1, stack: [f("main", 2)], count: 9 }];
	const sources = [`source=/srv/app/code.py=${now}`, `base-source=/srv/app/code.py=${then}`];
	const sourceOf = async (page, name) => {
		const node = (await readTree(page)).nodes.find((n) => n.name === name);
		const at = await centreOf(page, node.i);
		await page.mouse.move(at.x, at.y);
		return page.$$eval("#tip .line", (list) => list.map((e) => ({ text: e.textContent, hot: e.classList.contains("hot") })));
	};
	await withPage(diffPage(before, after, ["exact", ...sources]), {}, async (page) => {
		const shown = await sourceOf(page, "stays");
		assert.equal(shown.length, 7);
		assert.equal(shown.find((l) => l.hot).text, `12line_12 = "new text"77`);
		await page.keyboard.press("e");
		assert.equal((await sourceOf(page, "gone")).find((l) => l.hot).text, `30line_30 = "old text"55`);
	});
	await withPage(diffPage(before, after, ["exact", sources[0]]), { hash: "elided=1" }, async (page) => {
		assert.deepEqual(await sourceOf(page, "gone"), [], "the head's text says nothing about removed code");
	});
	await withPage(diffPage(before, after, ["exact", "no-source", ...sources]), {}, async (page) => {
		assert.equal((await sourceOf(page, "stays")).length, 0);
		assert.equal(await page.evaluate(() => fizeau.data.chunks.length), 0);
	});
});

test("buttons show the base, the head and the changes", async () => {
	await withPage(diffPage(base, head, ["exact"]), {}, async (page) => {
		const width = async () => (await readTree(page)).all;
		for (const [button, side, costs] of [["Before", "base", pathCosts(base)], ["After", "head", pathCosts(head)]]) {
			await page.click(`#sides button:has-text("${button}")`);
			const { nodes } = await readTree(page);
			assert.equal(nodes.filter((n) => n.w > 0).length, costs.size);
			for (const n of nodes.filter((m) => m.w > 0)) assert.equal(n.w, costs.get(n.key).total);
			assert.match(await page.innerText("#legend"), /share of self/);
			assert.ok((await width())[side === "base" ? 0 : 1] > 0);
			assert.ok(await page.isHidden("#toggle-elided"));
		}
		await page.click('#sides button:has-text("Change")');
		for (const word of ["slower", "faster", "new", "gone"]) assert.ok((await page.innerText("#legend")).includes(word));
	});
});

test("removed code is outside the head's 100 %, to its scale, and opens by a click", async () => {
	await withPage(diffPage(base, head, ["exact", "time"]), {}, async (page) => {
		const views = () => page.evaluate(() => fizeau.flame.views().map(({ picture, offset, width }) => ({ all: picture.all, offset, width, elided: Boolean(picture.tree.elided) })));
		const [main, aside] = await views();
		const before = pathCosts(base), after = pathCosts(head);
		const removed = [...before].filter(([key]) => !after.has(key)).reduce((n, [, c]) => n + c.self, 0);
		assert.equal(main.all, head.reduce((n, s) => n + s.count, 0));
		assert.equal(aside.all, removed);
		assert.ok(aside.elided && aside.offset > main.width);
		assert.ok(Math.abs(aside.width / main.width - removed / main.all) < 1e-9);
		// A removed leaf in the aside: tooltip, then a click.
		const target = await page.evaluate(() => {
			const { flame } = fizeau;
			const { tree, w, all } = flame.aside;
			let best = -1;
			for (let i = 1; i < tree.n; i++) if (tree.self[0][i] > 0 && (best < 0 || w[i] > w[best])) best = i;
			const view = flame.views()[1];
			flame.reveal(best);
			const frame = document.getElementById("canvas").getBoundingClientRect();
			return { i: best, x: frame.left + view.offset + ((flame.aside.placeOf(best) + w[best] / 2) / all) * view.width, y: frame.top + flame.rowTop(tree.depth[best]) - flame.scroller.scrollTop + 9 };
		});
		await page.mouse.move(target.x, target.y);
		assert.match(await page.innerText("#tip"), /(removed|no longer recorded here)[\s\S]*of the removed paths/);
		await page.mouse.click(target.x, target.y);
		assert.equal(await state(page, "elided"), true);
		assert.equal(await focus(page), target.i);
		assert.equal((await views()).length, 1);
		await page.keyboard.press("Backspace");
		await until(page, () => !fizeau.state.elided && fizeau.flame.focus === 0);
		assert.equal((await views()).length, 2);
		for (const key of ["i", "w", "1", "2"]) {
			await page.keyboard.press(key);
			assert.equal((await views()).length, 1, key);
			await page.keyboard.press({ 1: "3", 2: "3" }[key] ?? key);
		}
		const node = await someNode(page);
		const at = await centreOf(page, node.i);
		await page.mouse.click(at.x, at.y);
		assert.equal((await views()).length, 1);
	});
});

test("Escape in the search field leads back to the view, where keys go on", async () => {
	await withPage(diffPage(base, head, ["exact"]), {}, async (page) => {
		const focused = () => page.evaluate(() => document.activeElement.closest("main > section")?.id ?? document.activeElement.id);
		for (const view of await page.$$eval("#tabs button", (list) => list.map((b) => b.dataset.value))) {
			await page.click(`#tabs button[data-value=${view}]`);
			await page.keyboard.press("/");
			assert.equal(await focused(), "query");
			await page.keyboard.type("function_1");
			await page.keyboard.press("Escape");
			assert.equal(await page.inputValue("#query"), "");
			if (view !== "matches") assert.equal(await focused(), view);
		}
		await page.click("#tabs button[data-value=source]");
		await page.keyboard.press("L");
		await page.keyboard.press("r");
		await page.focus("#query");
		await page.keyboard.press("Escape");
		assert.ok(await page.evaluate(() => document.activeElement.matches(".file-list")));
		await page.click("#tabs button[data-value=flame]");
		await page.focus("#query");
		await page.keyboard.press("Escape");
		await page.keyboard.press("ArrowUp");
		assert.notEqual(await page.evaluate(() => fizeau.flame.selected), -1);
	});
});

test("the help lists the keys of this page's parts, and no others act", async () => {
	const keysOf = async (file) => {
		const found = {};
		await withPage(file, {}, async (page) => {
			found.keys = new Set(await page.$$eval("#help kbd", (list) => list.map((e) => e.textContent)));
			found.tabs = await page.$$eval("#tabs button", (list) => list.map((b) => b.dataset.value));
			for (const key of "okW123ewbx") if (!found.keys.has(key)) await page.keyboard.press(key);
			assert.equal(await page.evaluate(() => fizeau.state.tab), "flame");
		});
		return found;
	};
	const single = [{ tid: 1, stack: [{ name: "main", file: "/srv/app/main.py", line: 3 }], count: 9 }];
	for (const [file, wanted] of [[profilePage(single), ""], [profilePage(base), "T"], [diffPage(single, single, ["exact"]), "k123wbx"], [diffPage(base, head, ["exact"]), "k123ewbxT"]]) {
		const { keys, tabs } = await keysOf(file);
		assert.deepEqual([..."okW123ewbxTB"].filter((key) => keys.has(key)), [..."okW123ewbxTB"].filter((key) => wanted.includes(key)), tabs.join());
		for (const [key, tab] of Object.entries({ o: "chart", W: "waits", k: "matches" })) assert.equal(keys.has(key), tabs.includes(tab), key);
	}
});
