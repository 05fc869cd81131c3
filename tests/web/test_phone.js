// SPDX-License-Identifier: MIT
// The page on phones: small windows, fingers, and text twice as large.
"use strict";
const assert = require("node:assert/strict");
const { centreOf, readTree, resize, until, withPage } = require("./browser.js");
const { drag, tapTwice } = require("./fingers.js");
const { judgedPage } = require("./judged.js");
const { cliPage, diffPage, profilePage, someProgram, writeText } = require("./pages.js");
const { test } = require("./tap.js");

const base = someProgram(1, { skip: (_, i) => i % 13 === 0 });
const head = someProgram(2, { skip: (_, i) => i % 17 === 0, scale: 1.4 });
const phone = { width: 390, height: 740, touch: true };

const tap = async (page, node) => {
	const at = await centreOf(page, node.i);
	await page.touchscreen.tap(at.x, at.y);
};
const named = async (page, name) => (await readTree(page)).nodes.find((n) => n.name === name);

test("nothing scrolls sideways at 320 pixels, in any view", async () => {
	for (const file of [judgedPage(), profilePage(head)])
		await withPage(file, { ...phone, width: 320 }, async (page) => {
			for (const tab of await page.$$eval("#tabs button", (list) => list.map((b) => b.dataset.value))) {
				await page.evaluate((value) => fizeau.set({ tab: value }), tab);
				await page.evaluate(() => scrollTo(500, 0));
				assert.deepEqual(await page.evaluate(() => [document.documentElement.scrollWidth, scrollX]), [320, 0], tab);
			}
		});
});

test("a bar of tabs that is cut is shaded where it goes on", async () => {
	await withPage(judgedPage(), { ...phone, width: 320 }, async (page) => {
		const end = async () => {
			const { x, y, width, height } = await page.locator("#tabs").boundingBox();
			return page.screenshot({ clip: { x: x + width - 3, y: y + 8, width: 2, height: height - 16 } });
		};
		const cut = await page.$eval("#tabs", (tabs) => {
			for (const button of tabs.children) button.style.color = "transparent";
			return tabs.scrollWidth - tabs.clientWidth;
		});
		assert.ok(cut > 10, `${cut}`);
		const before = await end();
		await page.$eval("#tabs", (tabs) => { tabs.scrollLeft = 1000; });
		assert.ok(!before.equals(await end()), "the cut end is not shaded");
	});
});

test("the table's bar wraps where there is little room, beside the sidebar and magnified twice", async () => {
	const runs = [10, 20].map((count) => [{ tid: 1, count, stack: [{ name: "main", file: "/srv/app/main.py", line: 1 }, { name: "dumps", file: "/usr/lib/python3.11/json/encoder.py", line: 9 }] },
		...Array.from({ length: 900 }, (_, i) => ({ tid: 1, count: 5, stack: [{ name: `f${i}`, file: "/srv/app/main.py", line: 9 + i }] }))]);
	const made = cliPage(...runs);
	for (const size of [{ width: 640, height: 400, scale: 2 }, { width: 960, height: 700 }])
		await withPage(made, { ...size, hash: "tab=table" }, async (page) => {
			const [end, right] = await page.evaluate(() => [document.getElementById("table"), document.getElementById("copy-table").parentElement].map((e) => e.getBoundingClientRect().right));
			assert.ok(right <= end + 1, JSON.stringify([size.width, right, end]));
			assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), size.width);
		});
});

test("the verdict stays in a small window however far the page is scrolled, and in one magnified twice", async () => {
	for (const size of [phone, { width: 640, height: 400, scale: 2 }])
		await withPage(judgedPage(), size, async (page) => {
			await page.evaluate(() => scrollTo(0, 1e5));
			assert.ok((await page.evaluate(() => scrollY)) > 0, "there was something to scroll");
			const seen = await page.evaluate(() => {
				const of = (selector) => document.querySelector(selector).getBoundingClientRect().toJSON();
				return { answer: of("#band .answer"), flame: of("#flame"), width: innerWidth, height: innerHeight, over: document.documentElement.scrollWidth - innerWidth };
			});
			assert.ok(seen.answer.top >= 0 && seen.answer.bottom < seen.height / 2, JSON.stringify(seen));
			assert.ok(seen.flame.height >= 150 && seen.flame.bottom <= seen.height && seen.over <= 0, JSON.stringify(seen));
			const at = await page.evaluate(() => {
				const { left, top } = document.querySelector("#band .answer").getBoundingClientRect();
				return document.elementFromPoint(left + 3, top + 3).closest("#band") !== null;
			});
			assert.ok(at, "nothing lies on it");
		});
});

test("a phone has room for the numbers of all four kinds of change", async () => {
	await withPage(judgedPage(), phone, async (page) => {
		assert.equal(await page.locator("#band .chip").count(), 4);
		assert.equal(await page.$eval("#band .chips", (e) => e.scrollWidth - e.clientWidth), 0);
	});
});

test("below the verdict a name is whole, whatever is expected of its function", async () => {
	const run = (half, cost) => [["work_119", cost], ["work_200", 4000000 / half]]
		.map(([name, count]) => ({ tid: 1, count, stack: [{ name: "main", file: "/srv/app/main.py", line: 1 }, { name, file: "/srv/app/main.py", line: 5 }] }));
	await withPage(diffPage(run(1, 9385440), run(2, 1157750), ["exact", "share", "judged"]), phone, async (page) => {
		const lines = await page.$$eval("#leading li", (list) => list.map((e) => [e.innerText, e.querySelector(".what > :last-child")].map((part) => part.scrollWidth ? part.scrollWidth - part.clientWidth : part)));
		assert.ok(lines.length > 0);
		for (const [text, over] of lines) {
			assert.match(text, /expected/);
			assert.equal(over, 0, text);
		}
	});
});

test("if the list does not fit, its first functions are below the verdict", async () => {
	for (const size of [phone, { ...phone, width: 320 }, { width: 700, height: 860 }])
		await withPage(judgedPage(), size, async (page) => {
			const seen = await page.evaluate(() => ({
				shown: [...document.querySelectorAll("#leading button")].map((b) => [b.querySelector(".what").title, b.querySelector(".much").textContent]),
				listed: [...document.querySelectorAll(".spot")].map((b) => [b.querySelector(".what").title, b.querySelector(".much").textContent]),
				bottom: document.querySelector("#leading").getBoundingClientRect().bottom, over: document.documentElement.scrollWidth - innerWidth,
			}));
			assert.equal(seen.shown.length, 3);
			assert.deepEqual(seen.shown, seen.listed.slice(0, 3));
			assert.ok(seen.bottom < size.height / 2 && seen.over === 0, JSON.stringify(seen));
			await page.locator("#leading button").nth(1)[size.touch ? "tap" : "click"]();
			assert.equal(await page.evaluate(() => fizeau.data.functions.names[fizeau.flame.picture.tree.func[fizeau.flame.selected]]), seen.shown[1][0]);
		});
	await withPage(judgedPage(), { width: 1280, height: 800 }, async (page) => {
		assert.ok(await page.isHidden("#leading"), "the sidebar lists them");
		await page.keyboard.press("s");
		assert.ok(await page.isVisible("#leading"));
	});
});

test("the target of a touch on the list is visible above the sheet", async () => {
	for (const size of [phone, { width: 320, height: 640, touch: true }])
		for (const button of ["#leading button", "#band .chip"])
			await withPage(judgedPage(), size, async (page) => {
				await page.tap(button);
				const seen = await page.evaluate(() => {
					const { flame } = fizeau, box = flame.boxOf(flame.selected), { left, top } = flame.canvas.getBoundingClientRect();
					const at = [left + (box.left + box.right) / 2, top + box.top + 9];
					return { at, hit: document.elementFromPoint(...at)?.id, sheet: document.getElementById("sheet").getBoundingClientRect().top };
				});
				assert.ok(seen.at[1] < seen.sheet && ["canvas", "grid", "space"].includes(seen.hit), JSON.stringify(seen));
			});
});

test("a touch shows a frame's figures, verdict and actions in a sheet, and no box beside it", async () => {
	await withPage(judgedPage(), phone, async (page) => {
		const node = await named(page, "parse");
		await tap(page, node);
		assert.ok(await page.isVisible("#sheet") && await page.isHidden("#tip"));
		const text = await page.innerText("#sheet");
		for (const part of ["parse", node.base.self.toLocaleString("en-US"), node.head.self.toLocaleString("en-US"), "self slower", "Copy path:line"])
			assert.ok(text.includes(part), `${part}: ${text}`);
		assert.deepEqual(await page.evaluate(() => [fizeau.flame.focus, fizeau.flame.selected]), [0, node.i], "it zooms nowhere");
		const over = await page.evaluate(() => [document.documentElement.scrollWidth - innerWidth, document.getElementById("sheet").getBoundingClientRect().bottom - innerHeight]);
		assert.deepEqual(over, [0, 0]);
		await page.tap("#sheet button:has-text('Zoom to this')");
		assert.equal(await page.evaluate(() => fizeau.flame.focus), node.i);
		assert.ok(await page.isHidden("#sheet"));
	});
});

test("a second touch on the same place zooms, a touch on nothing, Escape, buttons and a drag close the sheet", async () => {
	await withPage(judgedPage(), phone, async (page) => {
		const node = await named(page, "parse");
		await page.evaluate(() => scrollTo(0, 0));
		const open = async () => {
			await tap(page, node);
			assert.ok(await page.isVisible("#sheet"));
			await until(page, () => !document.getElementById("sheet").classList.contains("fresh"));
		};
		await open();
		await page.tap("#sheet .grip button");
		assert.ok(await page.isHidden("#sheet"));
		await page.waitForTimeout(400);
		await open();
		// The sidebar takes its place.
		await page.tap("#side-toggle");
		assert.ok(await page.isHidden("#sheet"));
		await page.tap("#side-toggle");
		await page.waitForTimeout(400);
		await open();
		await tap(page, { i: 0 });
		assert.ok(await page.isHidden("#sheet"));
		await page.waitForTimeout(400);
		await open();
		await page.keyboard.press("Escape");
		assert.ok(await page.isHidden("#sheet"));
		await page.waitForTimeout(400);
		await open();
		const grip = await page.evaluate(() => document.querySelector(".grip").getBoundingClientRect().toJSON());
		const from = { x: grip.left + 60, y: grip.top + 10 };
		await drag(page, [from, { ...from, y: from.y + 20 }]);
		assert.ok(await page.isVisible("#sheet"), "a short drag leaves it");
		await drag(page, [from, { ...from, y: from.y + 120 }]);
		assert.ok(await page.isHidden("#sheet"));
		await page.waitForTimeout(400);
		await page.evaluate(() => scrollTo(0, 0));
		const at = await centreOf(page, node.i);
		assert.ok(grip.top < at.y, "the sheet would lie on the place");
		await tapTwice(page, at);
		await until(page, (i) => fizeau.flame.focus === i, node.i);
		assert.ok(await page.isHidden("#sheet"));
	});
});

test("a frame that the sheet would cover is scrolled above it", async () => {
	const deep = Array.from({ length: 60 }, (_, i) => ({ name: `level_${i}`, file: "/srv/deep.py", line: i + 1 }));
	for (const hash of ["", "up=1"])
		await withPage(profilePage([{ tid: 1, stack: deep, count: 100 }]), { ...phone, hash }, async (page) => {
			const node = await page.evaluate(() => {
				const { flame } = fizeau, row = flame.up ? 3 : Math.floor((flame.scroller.scrollTop + flame.height) / 21) - 2;
				return row;
			});
			await page.evaluate(() => (fizeau.flame.scroller.scrollTop = fizeau.flame.up ? 1e5 : 0));
			const at = await page.evaluate((i) => {
				const box = fizeau.flame.boxOf(i), canvas = fizeau.flame.canvas.getBoundingClientRect();
				return { x: canvas.left + 60, y: canvas.top + box.top + 9 };
			}, node);
			await page.touchscreen.tap(at.x, at.y);
			const { selected, bottom, sheet } = await page.evaluate(() => ({
				selected: fizeau.flame.selected, bottom: fizeau.flame.canvas.getBoundingClientRect().top + fizeau.flame.boxOf(fizeau.flame.selected).top + 20,
				sheet: document.getElementById("sheet").getBoundingClientRect().top,
			}));
			assert.equal(selected, node);
			assert.ok(at.y + 9 > sheet, "it would be covered");
			assert.ok(bottom <= sheet, `${bottom} ${sheet}`);
		});
});

test("in the sandwich a touch shows figures, too, and the sheet leads to a frame's callers", async () => {
	await withPage(diffPage(base, head, ["exact"]), { ...phone, hash: "tab=sandwich" }, async (page) => {
		const at = await page.evaluate(() => {
			const flame = fizeau.sandwich.halves[1], canvas = flame.canvas.getBoundingClientRect(), box = flame.boxOf(2);
			return { x: canvas.left + (box.left + box.right) / 2, y: canvas.top + box.top + 9, f: flame.picture.tree.func[2] };
		});
		await page.touchscreen.tap(at.x, at.y);
		assert.ok(await page.isVisible("#sheet"));
		assert.equal(await page.isVisible("#sheet button:has-text('Zoom to this')"), false);
		await page.tap("#sheet button:has-text('Callers and callees')");
		await until(page, (f) => fizeau.state.middle === f, at.f);
	});
});

test("at 1280 pixels, next to the sidebar, the table's verdicts are visible", async () => {
	await withPage(judgedPage(), { width: 1280, height: 800, hash: "tab=table" }, async (page) => {
		const seen = await page.evaluate(() => {
			const { right } = document.querySelector("#table .scroller").getBoundingClientRect();
			return [...document.querySelectorAll("#table .head .cell")].filter((c) => c.getBoundingClientRect().right <= right).map((c) => c.textContent);
		});
		assert.ok(seen.includes("Verdict"), seen.join());
	});
});

test("the table keeps its change column at 390 pixels, and copies its columns in their order", async () => {
	await withPage(judgedPage(), { ...phone, hash: "tab=table" }, async (page) => {
		const shown = () => page.evaluate(() => {
			const { left, right } = document.querySelector("#table .scroller").getBoundingClientRect();
			return [...document.querySelectorAll("#table .head .cell")].filter((c) => c.getBoundingClientRect().right <= right + 1 && c.getBoundingClientRect().left >= left).map((c) => c.textContent);
		});
		assert.deepEqual(await shown(), ["Function", "Change", "Change %"]);
		const cells = await page.$$eval("#table .rows .row", (rows) => rows.slice(0, 3).map((r) => [...r.children].slice(0, 2).map((c) => c.textContent)));
		assert.match(cells[0][1], /^[+−]/);
		await page.evaluate(() => (document.querySelector("#table .scroller").scrollLeft = 300));
		const name = await page.evaluate(() => document.querySelector("#table .rows .cell.name").getBoundingClientRect().left - document.querySelector("#table .scroller").getBoundingClientRect().left);
		assert.ok(Math.abs(name - 1) < 1, "names stay");
		assert.match(await page.evaluate(() => fizeau.table.tsv()), /^function\tfile\tline\tbefore\t/);
		await page.setViewportSize({ width: 1400, height: 800 });
		await until(page, () => document.querySelectorAll("#table .head .cell")[1].textContent === "Before");
	});
});

// Dots of a line that are seen, each as whether something stands before and behind it in its row.
const seenDots = (page) => page.$$eval("#band .dotted", (lines) => lines.flatMap((line) => {
	const edge = getComputedStyle(line).overflowX === "clip" ? line.getBoundingClientRect().left : 0;
	const parts = [...line.querySelectorAll(".part")].map((part) => part.getBoundingClientRect());
	return [...line.querySelectorAll(".dot")].map((dot, i) => ({ box: dot.getBoundingClientRect(), before: parts[i], own: parts[i + 1] }))
		.filter(({ box }) => box.right > edge + 1).map(({ box, before, own }) => before.bottom > box.top && own.right > box.right);
}));

test("a line of the verdict that is broken has no dot at an end, one that is not has them all", async () => {
	await withPage(judgedPage(), phone, async (page) => {
		for (const width of [320, 390, 500, 1400]) {
			await resize(page, width, 740);
			const dots = await seenDots(page), all = await page.$$eval("#band .dot", (list) => list.length);
			assert.ok(dots.every((isBetween) => isBetween), `${width}: ${dots}`);
			assert.ok(width < 500 ? dots.length < all : width === 1400 ? dots.length === all : true, `${width}: ${dots.length} of ${all}`);
		}
	});
});

test("header and selectors take a fifth of a phone at most, with every switch in the menu", async () => {
	await withPage(judgedPage(), { width: 390, height: 844, touch: true }, async (page) => {
		const tall = await page.evaluate(() => ["top", "toolbar"].reduce((sum, id) => sum + document.getElementById(id).getBoundingClientRect().height, 0));
		assert.ok(tall <= 844 / 5, `${tall} pixels`);
		await page.click("#menu-view summary");
		for (const id of ["select-layout", "select-by", "toggle-inverted"]) assert.ok(await page.isVisible(`#${id}`), id);
		const right = await page.$eval("#menu-view .panel", (panel) => panel.getBoundingClientRect());
		assert.ok(right.left >= 0 && right.right <= 390);
		await page.locator("#legend").scrollIntoViewIfNeeded();
		assert.ok(await page.isVisible("#legend"));
		await page.setViewportSize({ width: 1000, height: 844 });
		await until(page, () => !document.querySelector("#menu-view #select-by"));
		assert.ok(await page.isVisible("#select-by"));
	});
});

test("keys in the help do not overlap their words, and both columns align", async () => {
	for (const width of [1500, 1280, 700, 390])
		await withPage(judgedPage(), { width }, async (page) => {
			await page.keyboard.press("?");
			const over = await page.$$eval("#help dt", (list) => list.filter((dt) => {
				const keys = [...dt.querySelectorAll("kbd")], words = dt.nextElementSibling.getBoundingClientRect();
				return keys.some((key) => key.getBoundingClientRect().right > words.left);
			}).map((dt) => dt.textContent));
			assert.deepEqual(over, []);
			const sections = await page.$$eval("#help section", (list) => list.map((section) => {
				const [box, title, ...words] = [section, section.querySelector("h3 + *"), ...section.querySelectorAll("dd")].map((e) => e.getBoundingClientRect());
				return { left: box.left, top: box.top, under: title.top, words: [...new Set(words.map((w) => w.left - box.left))].join() };
			}));
			const first = [...new Set(sections.map((s) => s.left))].map((left) => sections.find((s) => s.left === left));
			assert.equal(first.length, width > 700 ? 2 : 1);
			assert.ok(first.every((s) => s.top === first[0].top && s.under === first[0].under), JSON.stringify(first));
			assert.equal(new Set(sections.map((s) => s.words)).size, 1, JSON.stringify(sections));
		});
});

test("all views of a page fit on a phone, and of more the shown one is visible", async () => {
	const hidden = (page) => page.$eval("#tabs", (box) => box.scrollWidth - box.clientWidth);
	for (const html of [judgedPage(), profilePage(base)])
		await withPage(html, { width: 390, height: 844 }, async (page) => assert.equal(await hidden(page), 0));
	const more = diffPage(writeText("test_a;find 300\ntest_b;find 300\n"), writeText("test_a;find 500\ntest_b;find 300\n"), ["benchmarks", "time", "judged"]);
	await withPage(more, { width: 320, height: 600, hash: "tab=matches" }, async (page) => {
		assert.ok(await hidden(page) > 0);
		const [box, tab] = await page.evaluate(() => ["#tabs", "#tabs [aria-pressed=true]"].map((s) => document.querySelector(s).getBoundingClientRect().right));
		assert.ok(tab <= box + 1, `${tab} in ${box}`);
	});
});

test("a few views fill their bar on a phone", async () => {
	const heap = profilePage(writeText("store;dict 4000000\nsys 300000\n"), ["counted=memory,bytes", "heap"]);
	await withPage(heap, { width: 390, height: 844 }, async (page) => {
		const [box, tab] = await page.evaluate(() => ["#tabs", "#tabs :last-child"].map((s) => document.querySelector(s).getBoundingClientRect().right));
		assert.ok(box - tab < 8, `${tab} in ${box}`);
	});
});

test("on a phone a page with one profile has its title, and its source is readable", async () => {
	const file = "/srv/app/code.py", source = writeText(Array.from({ length: 9 }, (_, i) => `    some_value = compute_${i}(argument)`).join("\n"));
	const samples = [{ tid: 1, stack: [{ name: "work", file, line: 4 }], count: 400 }];
	await withPage(profilePage(samples, [`source=${file}=${source}`]), { width: 390, height: 844 }, async (page) => {
		assert.ok((await page.locator("#titles").boundingBox()).width > 100);
		await page.evaluate(() => fizeau.set({ tab: "source" }));
		const widths = await page.$$eval(".lines td.code", (list) => list.map((c) => c.getBoundingClientRect().width));
		assert.ok(widths.length >= 5 && Math.min(...widths) >= 230, `${widths}`);
	});
	await withPage(judgedPage(), { width: 390, height: 844 }, async (page) =>
		assert.ok((await page.locator("#titles").boundingBox()).width < 5, "the switch of the sides has its place"));
});
