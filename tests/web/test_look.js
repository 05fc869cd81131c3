// SPDX-License-Identifier: MIT
// What the page looks like: colours and their meaning, sizes, paper, no script, empty sides.
"use strict";
const assert = require("node:assert/strict");
const { execFileSync, spawnSync } = require("node:child_process");
const { centreOf, pixel, readTree, withPage } = require("./browser.js");
const { judgedPage } = require("./judged.js");
const { diffPage, newFile, profilePage, someProgram, writeText } = require("./pages.js");
const { test } = require("./tap.js");

const base = someProgram(1, { skip: (_, i) => i % 13 === 0 });
const head = someProgram(2, { skip: (_, i) => i % 17 === 0, scale: 1.4 });
const f = (name) => ({ name, file: "/srv/app/steps.py", line: 5 });

// Leaves of one caller, with known changes of self time in percent.
const steps = [
	["grew_14", 100, 114, "same"], ["grew_15", 100, 115, "more1"], ["grew_30", 100, 130, "more1"], ["grew_31", 100, 131, "more2"],
	["grew_50", 100, 150, "more2"], ["grew_51", 100, 151, "more3"], ["grew_99", 100, 199, "more3"], ["grew_100", 100, 200, "more4"],
	["fell_14", 100, 86, "same"], ["fell_15", 100, 85, "less1"], ["fell_31", 100, 69, "less2"], ["fell_51", 100, 49, "less3"],
	["fell_99", 400, 4, "less3"], ["equal", 200, 200, "same"], ["added", 0, 120, "added"],
];
const seed = {
	light: { same: "#bdbdbd", more1: "#ffcdd2", more2: "#ef9a9a", more3: "#e57373", more4: "#d32f2f", less1: "#90caf9", less2: "#64b5f6", less3: "#42a5f5", less4: "#1976d2", added: "#9575cd" },
	dark: { same: "#757575", more1: "#ffcdd2", more2: "#ef9a9a", more3: "#e57373", more4: "#ef5350", less1: "#bbdefb", less2: "#90caf9", less3: "#64b5f6", less4: "#42a5f5", added: "#b39ddb" },
};

function stepProfile(side) {
	return [
		{ tid: 1, stack: [f("main")], count: 50 },
		...steps.filter((s) => s[side]).map((s) => ({ tid: 1, stack: [f("main"), f(s[0])], count: s[side] })),
	];
}

test("a diff is coloured by the seed's steps, on request in exactly its colours", async () => {
	const page_file = diffPage(stepProfile(1), stepProfile(2), ["exact", "time", "tachyon"]);
	for (const theme of ["light", "dark"])
		await withPage(page_file, { theme }, async (page) => {
			const { nodes } = await readTree(page);
			for (const [name, , , colour] of steps) {
				const node = nodes.find((n) => n.name === name);
				const at = await centreOf(page, node.i);
				const box = await page.evaluate((i) => fizeau.flame.boxOf(i), node.i);
				// Beside the text: close to the right edge, when the frame is not too narrow for that.
				const edge = { x: at.x + Math.max(0, (box.right - box.left) / 2 - 3), y: at.y - 5 };
				if (box.right - box.left > 8) assert.equal(await pixel(page, edge), seed[theme][colour], `${name} ${theme}`);
			}
		});
});

test("the legend hatches in the colours of the frames that it explains", async () => {
	for (const theme of ["light", "dark"])
		await withPage(judgedPage(), { theme }, async (page) => {
			const shown = await page.evaluate(() => {
				const { palette } = fizeau.flame, kinds = [$$colors.UNSURE, $$colors.NEW_UNSURE];
				const colours = (e) => [getComputedStyle(e).backgroundColor, getComputedStyle(e).color];
				const probe = document.body.appendChild(document.createElement("i"));
				const swatches = [...document.querySelectorAll("#legend i.unsure")].map(colours);
				const frames = kinds.map((kind) => {
					const drawn = [];
					const ctx = {
						fillRect() {}, beginPath() {}, roundRect() {}, moveTo() {}, lineTo() {}, setLineDash() {}, fillText() {},
						fill() {
							drawn.push(this.fillStyle);
						},
						stroke() {
							drawn.push(this.strokeStyle);
						},
					};
					const { painter } = fizeau.flame, node = [...fizeau.flame.picture.tree.func.keys()].find((i) => i > 0 && $$frame_colour.nodeClass(fizeau.flame.picture.tree, i, fizeau.flame.picture.what) === kind && !painter.isForeign(fizeau.flame.picture, i));
					if (node === undefined) return null;
					painter.box(ctx, { i: node, left: 0, right: 20, y: 0, view: fizeau.flame.views()[0] }, palette);
					[probe.style.backgroundColor, probe.style.color] = drawn;
					return colours(probe);
				});
				return { swatches, frames };
			});
			assert.equal(shown.swatches.length, 2);
			assert.ok(shown.frames.some(Boolean));
			shown.frames.forEach((frame, k) => frame && assert.deepEqual(shown.swatches[k], frame, theme));
		});
});

test("the label of a root that does not fit is in smaller type before it is cut to its name", async () => {
	await withPage(diffPage(base, head, ["exact", "time"]), {}, async (page) => {
		const shown = await page.evaluate(() => {
			const { painter, ctx, views } = fizeau.flame, drawn = [], draw = ctx.fillText.bind(ctx), view = views.call(fizeau.flame)[0];
			ctx.fillText = (text, ...at) => {
				drawn.push([text, parseFloat(ctx.font)]);
				draw(text, ...at);
			};
			ctx.font = `12px ${ctx.font.split(" ").slice(1).join(" ")}`;
			const { width } = ctx.measureText(painter.rootLabel(view.picture));
			for (const room of [width, width - 1, width / 2])
				painter.label(ctx, { i: 0, view: { ...view, offset: 0, width: room + 11 }, left: 0, y: 0 }, 0, room + 11, "#000000", null);
			return [painter.rootLabel(view.picture), drawn];
		});
		const [whole, drawn] = shown;
		assert.deepEqual(drawn, [[whole, 12], [whole, 10], ["All", 12]]);
	});
});

test("a picture that is drawn again measures no name or place again", async () => {
	const of = (names) => ({ tid: 1, stack: names.map((name) => ({ name, file: "/srv/app/with/some/folders/steps.py", line: 5 })), count: 100 });
	const calls = [0, 1].map((k) => of(["main", `step_${k}`]));
	await withPage(profilePage(calls), {}, async (page) => {
		const [first, again] = await page.evaluate(() => {
			const { flame } = fizeau, context = Object.getPrototypeOf(flame.ctx), { measureText } = context;
			const measured = () => {
				const texts = [];
				context.measureText = function (text) {
					texts.push(text);
					return measureText.call(this, text);
				};
				flame.draw();
				context.measureText = measureText;
				return texts.filter((text) => text.startsWith("step_") || text.includes("steps.py"));
			};
			flame.setData(fizeau.data);
			return [measured(), measured()];
		});
		assert.deepEqual(first.filter((text) => text.startsWith("step_")), ["step_0", "step_1"]);
		assert.ok(first.some((text) => text.includes("steps.py")), JSON.stringify(first));
		assert.deepEqual(again, []);
	});
});

test("a narrow frame has a part of its name rather than a glyph alone", async () => {
	const of = (count) => [{ tid: 1, stack: [f("main"), f("<GC>")], count }];
	await withPage(diffPage(of(100), of(300), ["exact", "time"]), {}, async (page) => {
		const shown = await page.evaluate(() => {
			const { flame } = fizeau, { picture } = flame, leaf = picture.tree.n - 1, colour = $$frame_colour.nodeClass(picture.tree, leaf, { ...picture.what, by: "total" });
			return Array.from({ length: 200 }, (_, px) => flame.painter.words(flame.ctx, leaf, picture, colour, px, "").map((w) => w.text));
		});
		shown.forEach((words, px) => assert.notDeepEqual(words, ["▲"], `${px} pixels`));
		assert.ok(shown[199].includes("▲") && shown[40].some((text) => text.startsWith("<G")), JSON.stringify(shown[40]));
	});
});

test("colour by total follows totals", async () => {
	const grow = [{ tid: 1, stack: [f("main"), f("leaf")], count: 300 }, { tid: 1, stack: [f("main")], count: 100 }];
	const before = [{ tid: 1, stack: [f("main"), f("leaf")], count: 100 }, { tid: 1, stack: [f("main")], count: 100 }];
	await withPage(diffPage(before, grow, ["exact", "time", "tachyon"]), {}, async (page) => {
		const main = (await readTree(page)).nodes.find((n) => n.name === "main");
		const at = { ...(await centreOf(page, main.i)) };
		assert.equal(await pixel(page, at), seed.light.same);
		await page.keyboard.press("c");
		assert.equal(await pixel(page, at), seed.light.more4);
	});
});

test("labels can be read on every colour of every palette", async () => {
	await withPage(profilePage(head), {}, async (page) => {
		const low = await page.evaluate(() => {
			const bad = [];
			for (const name of ["fizeau", "tachyon"])
				for (const theme of ["light", "dark"]) {
					const p = $$colors.makePalette(name, theme);
					p.fill.forEach((fill, i) => {
						const c = $$colors.contrast(fill, p.inkOf(i));
						if (c < 4.5) bad.push(`${name} ${theme} ${i}: ${c}`);
					});
					for (const ink of name === "fizeau" ? [p.ink, p.removed] : [p.ink])
						if ($$colors.contrast(p.page, ink) < 4.5) bad.push(`${name} ${theme} ${ink}`);
				}
			return bad;
		});
		assert.deepEqual(low, []);
	});
});

test("nothing sticks out at 1400 and 700 pixels, in either theme", async () => {
	const file = diffPage(base, head, ["exact"]);
	for (const width of [1400, 700])
		for (const theme of ["light", "dark"])
			for (const hash of ["", "tab=table", "elided=1&inverted=1"])
				await withPage(file, { width, theme, hash }, async (page) => {
					const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
					assert.ok(over <= 0, `${width} ${theme} ${hash}: ${over}`);
					const canvas = await page.evaluate(() => document.getElementById(fizeau.state.tab === "table" ? "table" : "canvas").getBoundingClientRect().toJSON());
					assert.ok(canvas.width > width * 0.5 && canvas.height > 300, JSON.stringify(canvas));
				});
});

test("flame puts the roots at the bottom", async () => {
	await withPage(profilePage(head), {}, async (page) => {
		const y = () => page.evaluate(() => [fizeau.flame.boxOf(0).top, fizeau.flame.boxOf(1).top]);
		const icicle = await y();
		assert.ok(icicle[0] < icicle[1]);
		await page.keyboard.press("f");
		const flame = await y();
		assert.ok(flame[0] > flame[1]);
	});
});

test("printing uses the light theme and restores the view", async () => {
	await withPage(profilePage(head), { theme: "dark" }, async (page) => {
		const light = await page.evaluate(() => {
			dispatchEvent(new Event("beforeprint"));
			const during = [document.documentElement.dataset.theme, fizeau.flame.palette.page];
			dispatchEvent(new Event("afterprint"));
			return [...during, document.documentElement.dataset.theme];
		});
		assert.deepEqual(light, ["light", "#ffffff", "dark"]);
		const pdf = await page.pdf();
		assert.ok(pdf.length > 5000);
		await page.emulateMedia({ media: "print" });
		assert.ok(await page.isHidden("#sidebar"));
		assert.ok(await page.isVisible("#canvas"));
	});
});

test("without script there is a table of the top functions", async () => {
	await withPage(diffPage(base, head, ["exact"]), { javascript: false }, async (page) => {
		const rows = await page.$$("noscript table tr, .fallback table tr");
		assert.equal(rows.length, 21);
		assert.ok(await page.isVisible(".fallback"));
	});
});

test("an empty side is reported, and an empty head still shows all removed code", async () => {
	const sum = base.reduce((n, s) => n + s.count, 0);
	await withPage(diffPage(base, []), {}, async (page) => {
		assert.match(await page.innerText("#empty"), /No samples after/);
		const { nodes } = await readTree(page);
		assert.equal(nodes.filter((n) => n.depth === 1).reduce((n, r) => n + r.w, 0), sum);
		await page.keyboard.press("e");
		assert.match(await page.innerText("#empty"), /Turn on Gone/);
	});
	await withPage(diffPage([], base), {}, async (page) => {
		assert.match(await page.innerText("#empty"), /everything below is new/);
		assert.equal(await page.$("#toggle-elided"), null);
		const { nodes } = await readTree(page);
		assert.equal(nodes.filter((n) => n.depth === 1).reduce((n, r) => n + r.w, 0), sum);
	});
	for (const file of [diffPage([], []), profilePage("empty")])
		await withPage(file, {}, async (page) => {
			assert.match(await page.innerText("#empty"), /No samples|Neither/);
			for (const key of ["i", "f", "t", "t", "ArrowDown", "Enter"]) await page.keyboard.press(key);
		});
});

test("the elided switch exists only if something was removed", async () => {
	await withPage(diffPage(base, base), {}, async (page) => assert.equal(await page.$("#toggle-elided"), null));
	await withPage(diffPage(base, head), {}, async (page) => assert.ok(await page.isVisible("#toggle-elided")));
});

const textsOf = (page) => page.evaluate(() => {
	const texts = [];
	const { ctx } = fizeau.flame;
	const real = ctx.fillText.bind(ctx);
	ctx.fillText = (text, ...rest) => {
		texts.push(text);
		real(text, ...rest);
	};
	fizeau.flame.draw();
	ctx.fillText = real;
	return texts;
});

test("the label of narrow removed paths is cut to its name, without an ellipsis", async () => {
	const stack = (name, count) => ({ tid: 1, stack: [f("main"), f(name)], count });
	await withPage(diffPage([stack("kept", 1e9), stack("gone", 1e8)], [stack("kept", 1e9)], ["exact"]), { width: 700 }, async (page) => {
		const labels = (await textsOf(page)).filter((text) => text.startsWith("Gone"));
		assert.deepEqual(labels, ["Gone"]);
	});
});

test("labels contain the share, and new frames are labelled", async () => {
	await withPage(diffPage([{ tid: 1, stack: [f("main")], count: 10 }], [{ tid: 1, stack: [f("main"), f("fresh")], count: 10 }], ["exact"]), {}, async (page) => {
		const drawn = await textsOf(page);
		assert.ok(drawn.includes("fresh") && drawn.includes(" (100.0 %) (new)") && drawn.includes("+"), drawn.join());
	});
});

test("the page of one recording reports a failed program", async () => {
	for (const [code, told] of [["sys.exit(3)", /the run failed: exit.* 3; it may not have finished its work/], ["sys.exit(0)", null]]) {
		const recording = newFile(".fz"), file = newFile(".html");
		const script = `import sys\nfor i in range(3000): sum(range(500))\n${code}`;
		spawnSync(process.env.FIZEAU, ["run", "-o", recording, "--", "python3", "-c", script], { stdio: "ignore" });
		execFileSync(process.env.FIZEAU, ["replay", recording, "-o", file], { stdio: ["ignore", "ignore", "pipe"] });
		await withPage(file, {}, async (page) => {
			const warnings = await page.$$eval("#section-summary .warning", (list) => list.map((p) => p.textContent));
			assert.equal(warnings.length, told ? 1 : 0);
			if (told) assert.match(warnings[0], told);
		});
	}
});

test("the legend of bytes does not mention time", async () => {
	for (const [options, told] of [[["counted=heap,bytes"], /share of self bytes$/], [["counted=wall,ns"], /share of self time$/]])
		await withPage(profilePage(writeText("main;parse 300\nmain 20\n"), options), {}, async (page) =>
			assert.match((await page.innerText("#legend")).trim(), told));
});
