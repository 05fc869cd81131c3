// SPDX-License-Identifier: MIT
// Accessibility of pages: screen readers, and use without a pointer.
"use strict";
const assert = require("node:assert/strict");
const path = require("node:path");
const { complaints } = require("./axe.js");
const { centreOf, until, withPage, readTree } = require("./browser.js");
const { judgedPage } = require("./judged.js");
const { cliPage, diffPage, profilePage, someProgram, writeText } = require("./pages.js");
const { test } = require("./tap.js");

const base = someProgram(1, { skip: (_, i) => i % 13 === 0 });
const head = someProgram(2, { skip: (_, i) => i % 17 === 0, scale: 1.4 });

const viewsOf = (page) => page.$$eval("#tabs button", (list) => list.map((b) => b.dataset.value));

test("axe finds nothing in any view of a diff and of a profile, light and dark", async () => {
	const timed = path.join(__dirname, "../data/tachyon/threads.bin");
	const pages = [diffPage(base, head, ["exact"]), profilePage(head), profilePage(timed), profilePage("waits")];
	for (const file of pages)
		for (const theme of ["light", "dark"])
			await withPage(file, { theme }, async (page) => {
				for (const view of await viewsOf(page)) {
					await page.click(`#tabs button[data-value=${view}]`);
					assert.deepEqual(await complaints(page), [], `${theme} ${view}`);
				}
			});
});

test("no two buttons of the sidebar have the same name for a screen reader", async () => {
	await withPage(profilePage(path.join(__dirname, "../data/tachyon/threads.bin")), {}, async (page) => {
		await page.evaluate(() => document.querySelectorAll("#sidebar details").forEach((d) => (d.open = true)));
		const names = await page.$$eval("#sidebar li button", (list) => list.map((b) => b.getAttribute("aria-label") ?? b.textContent));
		assert.ok(names.filter((name) => name.startsWith("only ")).length > 3, names.join(", "));
		assert.deepEqual(names.filter((name, i) => names.indexOf(name) !== i), []);
	});
});

test("axe finds nothing in the dialogs, in a narrow window and with a frame selected", async () => {
	await withPage(diffPage(base, head, ["exact"]), {}, async (page) => {
		for (const key of ["?", "S"]) {
			await page.keyboard.press(key);
			assert.deepEqual(await complaints(page), [], key);
			await page.keyboard.press("Escape");
		}
		for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
		assert.deepEqual(await complaints(page), [], "selected");
	});
	await withPage(diffPage(base, head, ["exact"]), { width: 700, theme: "dark" }, async (page) =>
		assert.deepEqual(await complaints(page), [], "narrow"));
	await withPage(judgedPage(), { width: 390 }, async (page) => {
		assert.ok(await page.isVisible("#leading li"));
		assert.deepEqual(await complaints(page), [], "a phone");
	});
});

test("axe finds nothing in a frame's menu, the sheet, the list of hits and the editor dialog", async () => {
	await withPage(diffPage(base, head, ["exact"]), { width: 390, height: 740, theme: "dark", touch: true }, async (page) => {
		const look = async (name, selector) => {
			assert.ok(await page.isVisible(selector), name);
			assert.deepEqual(await complaints(page), [], name);
		};
		const at = await centreOf(page, 1);
		await page.touchscreen.tap(at.x, at.y);
		await look("sheet", "#sheet");
		await page.keyboard.press("Escape");
		await page.evaluate(() => fizeau.selection.select(1));
		await page.evaluate(() => fizeau.selection.menu());
		await look("menu", "#context");
		await page.keyboard.press("Escape");
		await page.fill("#query", "function.*1");
		await page.waitForSelector("#hits .offer");
		await look("hits", "#hits");
		await page.evaluate(() => fizeau.editor.open("a.py", 1));
		await look("editor", "#editor");
	});
});

// Rows of a tree grid as [{level, selected, expanded, cells}] without the head.
const rowsOf = (page, grid = "#grid") => page.$$eval(`${grid} [role=row]`, (rows) => rows.slice(1).map((r) => ({
	level: Number(r.getAttribute("aria-level")), selected: r.getAttribute("aria-selected") === "true",
	expanded: r.getAttribute("aria-expanded"), at: Number(r.getAttribute("aria-posinset")), of: Number(r.getAttribute("aria-setsize")),
	cells: [...r.children].map((c) => c.textContent), id: r.id,
})));

test("the tree grid mirrors the selected frame's surroundings, and the frame is announced", async () => {
	await withPage(diffPage(base, head, ["exact", "time"]), {}, async (page) => {
		const { nodes } = await readTree(page);
		const node = nodes.filter((n) => n.depth === 3 && n.base.self > 0 && n.head.self > 0).sort((a, b) => b.w - a.w)[0];
		await page.evaluate((i) => fizeau.selection.select(i), node.i);
		const rows = await rowsOf(page);
		const current = rows.find((r) => r.selected);
		assert.equal(rows.filter((r) => r.selected).length, 1);
		assert.equal(await page.getAttribute("#grid", "aria-activedescendant"), current.id);
		assert.deepEqual([current.level, current.cells[0], current.expanded], [4, node.name, "true"]);
		const siblings = nodes.filter((n) => n.parent === node.parent && n.w > 0);
		assert.equal(current.of, siblings.length);
		assert.equal(siblings[current.at - 1].i, node.i);
		assert.deepEqual(rows.filter((r) => r.level < 4).map((r) => r.level), [1, 2, 3]);
		const callees = nodes.filter((n) => n.parent === node.i && n.w > 0).map((n) => n.name);
		assert.deepEqual(rows.filter((r) => r.level === 5).map((r) => r.cells[0]), callees.slice(0, 8));
		const delta = node.head.self - node.base.self;
		const spoken = await page.textContent("#spoken");
		for (const part of [node.name, `self ${node.base.self} to ${node.head.self}`, delta ? `${delta > 0 ? "+" : "−"}${Math.abs(delta)}` : "no change"])
			assert.ok(spoken.includes(part), spoken);
		assert.deepEqual(current.cells.slice(2, 4), [node.base.self, node.head.self].map(String));
	});
});

test("verdicts are announced", async () => {
	const f = (name) => ({ name, file: "/srv/app/steps.py", line: 5 });
	const profile = (n) => [{ tid: 1, stack: [f("main"), f("grows")], count: n }, { tid: 1, stack: [f("main"), f("stays")], count: 20000 }];
	await withPage(cliPage(profile(20000), profile(40000)), {}, async (page) => {
		const { nodes } = await readTree(page);
		await page.evaluate((i) => fizeau.selection.select(i), nodes.find((n) => n.name === "grows").i);
		assert.match(await page.textContent("#spoken"), /^grows, .*self 20,000 to 40,000, \+20,000 \(\+100.0 %\), slower$/);
	});
});

test("totals of callers of a change and of the root are announced, too", async () => {
	const f = (name) => ({ name, file: "/srv/app/steps.py", line: 5 });
	const profile = (n) => [{ tid: 1, stack: [f("main"), f("grows")], count: n }, { tid: 1, stack: [f("main"), f("stays")], count: 20000 }];
	await withPage(cliPage(profile(20000), profile(40000)), {}, async (page) => {
		const { nodes } = await readTree(page);
		const saidOf = async (i) => {
			await page.evaluate((node) => fizeau.selection.select(node), i);
			return page.textContent("#spoken");
		};
		assert.match(await saidOf(nodes.find((n) => n.name === "main").i), /total 40,000 to 60,000, \+20,000 \(\+50.0 %\), unsure, self 0 to 0, no change/);
		assert.match(await saidOf(0), /total 40,000 to 60,000, \+20,000 \(\+50.0 %\)/);
	});
});

test("the tree grid stays small with a million siblings, and follows a click", async () => {
	const wide = Array.from({ length: 3000 }, (_, i) => ({ tid: 1, stack: [{ name: "main", file: "/m.py", line: 1 }, { name: `f${i}`, file: "/m.py", line: i + 2 }], count: 1 + (i % 5) }));
	await withPage(profilePage(wide), {}, async (page) => {
		await page.evaluate(() => fizeau.selection.select(1500));
		const rows = await rowsOf(page);
		assert.ok(rows.length <= 40, String(rows.length));
		const current = rows.find((r) => r.selected);
		assert.deepEqual([current.at, current.of], [1499, 3000]);
		const canvas = await page.locator("#canvas").boundingBox();
		await page.mouse.click(canvas.x + 300, canvas.y + 40);
		await until(page, () => document.activeElement.id === "grid");
	});
});

// Elements that can be operated and be seen.
const operable = 'button:not(:disabled), input, select, summary, a[href], [tabindex="0"]';

test("Tab reaches every control of every view, and shows where it is", async () => {
	await withPage(diffPage(base, head, ["exact"]), {}, async (page) => {
		for (const view of await viewsOf(page)) {
			await page.evaluate((tab) => {
				fizeau.set({ tab });
				document.activeElement.blur();
			}, view);
			const wanted = await page.evaluate((selector) => {
				const list = [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility() && e.tabIndex >= 0 && !e.closest(".rows"));
				list.forEach((e, i) => (e.dataset.wanted = i));
				return list.length;
			}, operable);
			const reached = new Set();
			for (let k = 0; k < wanted + 120 && reached.size < wanted; k++) {
				await page.keyboard.press("Tab");
				const at = await page.evaluate(() => {
					const e = document.activeElement;
					const isMarked = (x) => x && parseFloat(getComputedStyle(x).outlineWidth) > 0 && getComputedStyle(x).outlineStyle !== "none";
					return { wanted: e.dataset.wanted, name: e.id || e.textContent.slice(0, 20), isSeen: [e, e.nextElementSibling, e.parentElement].some(isMarked) };
				});
				if (at.wanted === undefined) continue;
				reached.add(at.wanted);
				assert.ok(at.isSeen, `${view}: ${at.name} has no visible focus`);
			}
			assert.equal(reached.size, wanted, view);
			await page.evaluate(() => document.querySelectorAll("[data-wanted]").forEach((e) => delete e.dataset.wanted));
		}
	});
});

test("Tab continues through the rows of a long table", async () => {
	await withPage(diffPage(base, head, ["exact"]), { hash: "tab=table", height: 420 }, async (page) => {
		await page.focus("#table .scroller");
		const seen = new Set();
		for (let k = 0; k < 36; k++) {
			await page.keyboard.press("Tab");
			// The rows are other elements after the table was scrolled.
			await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
			seen.add(await page.evaluate(() => document.activeElement.closest(".rows .row")?.getAttribute("aria-rowindex")));
		}
		seen.delete(null);
		seen.delete(undefined);
		assert.ok(seen.size >= 20, [...seen].join());
	});
});

test("the sandwich works with keys", async () => {
	await withPage(diffPage(base, head, ["exact"]), { hash: "tab=sandwich" }, async (page) => {
		await page.focus("#grid-callees");
		for (let k = 0; k < 3; k++) await page.keyboard.press("ArrowDown");
		assert.equal(await page.evaluate(() => fizeau.flame.selected), -1);
		const { selected, func } = await page.evaluate(() => {
			const flame = fizeau.sandwich.halves[1];
			return { selected: flame.selected, func: flame.picture.tree.func[flame.selected] };
		});
		assert.ok(selected > 1);
		assert.ok(await page.isVisible("#tip"));
		await page.keyboard.press("Enter");
		assert.equal(await page.evaluate(() => fizeau.state.middle), func);
		assert.equal(await page.evaluate(() => document.activeElement.id), "grid-callees");
		await page.focus("#grid-callers");
		await page.keyboard.press("ArrowUp");
		await page.keyboard.press("ArrowUp");
		assert.ok((await page.evaluate(() => fizeau.sandwich.halves[0].selected)) >= 1);
		await page.keyboard.press("Backspace");
		await until(page, () => fizeau.state.middle === -1);
	});
});

test("forced colours reach the canvas", async () => {
	await withPage(diffPage(base, head, ["exact"]), {}, async (page) => {
		const before = await page.evaluate(() => fizeau.flame.palette.page);
		await page.emulateMedia({ forcedColors: "active" });
		await until(page, () => fizeau.flame.palette.isOutlined === true);
		const colours = await page.evaluate(() => {
			const probe = document.createElement("p");
			probe.setAttribute("hidden", "");
			document.body.append(probe);
			probe.style.color = "Canvas";
			return { canvas: getComputedStyle(probe).color, page: fizeau.flame.palette.page, fills: new Set(fizeau.flame.palette.fill).size, sums: [$$colors.MORE, $$colors.LESS, $$colors.NEW].map((c) => [c, $$colors.togetherOf(c)].map((k) => fizeau.flame.palette.fill[k])), lines: [$$colors.MORE, $$colors.LESS].map((c) => [fizeau.flame.palette.fill[c], fizeau.flame.palette.linesOf($$colors.togetherOf(c))]) };
		});
		assert.equal(colours.page, colours.canvas);
		assert.equal(colours.fills, 2);
		for (const [solid, together] of colours.sums) assert.equal(together, solid, "certain only in sum: the colour of its change");
		for (const [fill, lines] of colours.lines) assert.notEqual(lines, fill, "hatched");
		await page.emulateMedia({ forcedColors: "none" });
		await until(page, (was) => fizeau.flame.palette.page === was, before);
	});
});

test("reduced motion is respected", async () => {
	await withPage(diffPage(base, head, ["exact"]), {}, async (page) => {
		const { nodes } = await readTree(page);
		const node = nodes.filter((n) => n.depth === 3).sort((a, b) => b.w - a.w)[0];
		assert.equal(await page.evaluate((i) => {
			fizeau.selection.select(i);
			fizeau.selection.zoom();
			return fizeau.flame.isMoving;
		}, node.i), false);
		const moving = await page.evaluate(() => [...document.querySelectorAll("*")].filter((e) => parseFloat(getComputedStyle(e).transitionDuration) > 0).length);
		assert.equal(moving, 0);
	});
});

test("axe finds nothing in the Source view: lines of every heat, both versions", async () => {
	const at = (line, count) => ({ tid: 1, count, stack: [{ name: "work", file: "/srv/app/code.py", line }] });
	const code = writeText(Array.from({ length: 12 }, (_, i) => `    return "text" + ${i} if call(x) else None  # note`).join("\n"));
	const lines = (of) => Array.from({ length: 10 }, (_, i) => at(2 + i, of(i)));
	const sources = [`base-source=/srv/app/code.py=${code}`, `source=/srv/app/code.py=${code}`];
	const made = [profilePage(lines((i) => 2 ** (10 - i)), sources.slice(1)),
		diffPage(lines(() => 2000), lines((i) => 2000 + (i % 2 ? 1 : -1) * 15 * i * i), ["exact", "time", ...sources])];
	for (const [k, file] of made.entries())
		for (const theme of ["light", "dark"])
			for (const width of [1400, 700])
				await withPage(file, { theme, width, hash: "tab=source" }, async (page) => {
					await page.evaluate(() => fizeau.set({ tab: "source", middle: fizeau.data.functions.names.indexOf("work") }));
					const steps = new Set(await page.$$eval(".lines .hot", (list) => list.map((r) => r.classList[1])));
					assert.ok(steps.size >= 5, `${[...steps]}`);
					assert.deepEqual(await complaints(page), [], `${theme} ${k} ${width}`);
				});
});

test("axe finds nothing in heat maps: files, lines, both versions", async () => {
	const where = head[0].stack.at(-1).file;
	const made = [profilePage(head, ["heatmap", `source=${where}=${__filename}`]), diffPage(base, head, ["heatmap", "exact", `source=${where}=${__filename}`])];
	for (const file of made)
		for (const theme of ["light", "dark"])
			await withPage(file, { theme, width: 1000 }, async (page) => {
				assert.deepEqual(await complaints(page), [], `${theme} files`);
				await page.evaluate(() => fizeau.source.openFile($$source_files.filesOf(fizeau.data).list[0]));
				assert.deepEqual(await complaints(page), [], `${theme} lines`);
				await page.keyboard.press("?");
				assert.deepEqual(await complaints(page), [], `${theme} keys`);
			});
});
