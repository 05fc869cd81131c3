// SPDX-License-Identifier: MIT
// What a judged diff shows before any input: where it changed, in visible colours and legible
// names.
"use strict";
const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { centreOf, pixel, readTree, resize, until, withPage } = require("./browser.js");
const { judgedPage, judgedRuns, sumCallers, sumFile } = require("./judged.js");
const { cliPage, diffPage, folder, profilePage, writeText } = require("./pages.js");
const { test } = require("./tap.js");

const code = (name, file) => ({ name, file, line: 1 });
const nodeNamed = async (page, name) => (await readTree(page)).nodes.find((n) => n.name === name);

// Two points of a frame: at its lower left corner, and at its upper one.
async function corners(page, node) {
	const at = await centreOf(page, node.i);
	const { left, top } = await page.evaluate((i) => fizeau.flame.boxOf(i), node.i);
	const box = await page.evaluate(() => document.getElementById("canvas").getBoundingClientRect().toJSON());
	return { lower: { x: box.left + left + 5, y: box.top + top + 18 }, upper: { x: box.left + left + 5, y: box.top + top + 2 }, at };
}

test("a judged diff is coloured by totals, and own change is marked to scale", async () => {
	await withPage(judgedPage(), {}, async (page) => {
		assert.equal(await page.inputValue("#select-by"), "total");
		const palette = await page.evaluate(() => fizeau.flame.palette.fill);
		const c = await page.evaluate(() => ({ ...$$colors }));
		const of = (name) => page.evaluate((n) => {
			const { tree, what } = fizeau.flame.picture;
			const i = tree.func.findIndex((f) => f >= 0 && fizeau.data.functions.names[f] === n);
			return { class: $$frame_colour.nodeClass(tree, i, what), own: $$frame_colour.ownChange(tree, i, what), word: what.verdicts.total.word[tree.func[i]] };
		}, name);
		// parse costs more by itself; render only because escape costs less below it.
		const parse = await of("parse"), render = await of("render");
		assert.ok(parse.class >= c.MORE && parse.class < c.LESS && parse.own.delta > 0);
		assert.ok(render.class >= c.LESS && render.class < c.NEW && render.own === null, JSON.stringify(render));
		const { lower, upper } = await corners(page, await nodeNamed(page, "parse"));
		assert.equal(await pixel(page, lower), palette[c.MORE + 3]);
		assert.equal(await pixel(page, upper), palette[parse.class]);
		const inRender = await corners(page, await nodeNamed(page, "render"));
		assert.equal(await pixel(page, inRender.lower), palette[render.class]);
		// The mark is as wide as the difference.
		const node = await nodeNamed(page, "parse");
		const wide = await page.evaluate(([i, delta]) => fizeau.flame.boxOf(i).left + (delta / fizeau.flame.span) * fizeau.flame.width, [node.i, parse.own.delta]);
		const canvas = await page.evaluate(() => document.getElementById("canvas").getBoundingClientRect().left);
		assert.equal(await pixel(page, { ...lower, x: canvas + wide - 2 }), palette[c.MORE + 3]);
		assert.equal(await pixel(page, { ...lower, x: canvas + wide + 3 }), palette[parse.class]);
		await page.keyboard.press("c");
		assert.equal(await page.inputValue("#select-by"), "share");
		await page.selectOption("#select-by", "self");
		assert.equal(await pixel(page, lower), palette[(await of("parse")).class], "by own time no mark is needed");
	});
	await withPage(judgedPage(["--palette", "tachyon"]), {}, async (page) => {
		assert.equal(await page.inputValue("#select-by"), "self");
		assert.deepEqual(await page.evaluate(() => fizeau.flame.palette.pale), await page.evaluate(() => fizeau.flame.palette.fill));
	});
});

test("a written picture has the same colours, marks and names", async () => {
	const draw = (name, options) => {
		const file = path.join(folder, name);
		execFileSync(process.env.FIZEAU, [...judgedRuns(), ...options, "-o", file], { stdio: "ignore" });
		return fs.readFileSync(file, "utf8");
	};
	const groupOf = (svg, name) => svg.split("<g>").find((g) => g.startsWith(`<title>${name}\n`));
	const svg = draw("first.svg", []);
	assert.match(groupOf(svg, "parse"), /class="c[1-4]"[^>]*\/><path class="c4 m" d="M/);
	assert.match(groupOf(svg, "render"), /class="c[5-8]"/);
	assert.doesNotMatch(groupOf(svg, "render"), /<path class="c[48] m"/);
	const unsure = svg.split("<g>").find((g) => /class="c20[ "]/.test(g) && g.includes("<text"));
	assert.match(unsure, /<path class="c0" d="M[^"]*"\/><text/, "a plate below the text");
	const seed = draw("seed.svg", ["--palette", "tachyon"]);
	assert.doesNotMatch(seed, /<path class="c|class="c\d+ p"/);
});

test("no hatching is under text", async () => {
	for (const [file, isSum] of [[judgedPage(), false], [sumFile("hatched.html"), true]]) for (const theme of ["light", "dark"])
		await withPage(file, { theme, hash: "layout=union" }, async (page) => {
			if (isSum) await page.click(".spot");
			const found = await page.evaluate(() => {
				const { flame } = fizeau;
				const { ctx, palette } = flame;
				// Text as it stands, in no colour: what is left is what lies under it.
				const texts = [], real = ctx.fillText.bind(ctx);
				ctx.fillText = (text, x, y) => texts.push({ text, x, y, width: ctx.measureText(text).width });
				flame.draw();
				ctx.fillText = real;
				const out = [];
				const { tree, what } = flame.picture;
				let lines = palette.quiet;
				for (const { i, view, left, right, y } of flame.layout().boxes) {
					const colour = $$frame_colour.nodeClass(tree, i, what);
					if (i === 0 || view.picture !== flame.picture || !($$colors.isTogether(colour) || [$$colors.UNSURE, $$colors.NEW_UNSURE].includes(colour))) continue;
					if ($$colors.isTogether(colour)) lines = palette.linesOf(colour);
					for (const t of texts) {
						if (t.x < left || t.x >= right || t.y <= y || t.y >= y + 21) continue;
						const { data } = ctx.getImageData(Math.ceil(t.x), Math.round(t.y) - 6, Math.max(1, Math.floor(t.width)), 11);
						const colours = new Set();
						for (let k = 0; k < data.length; k += 4) colours.add(`${data[k]},${data[k + 1]},${data[k + 2]}`);
						out.push([t.text, [...colours].length]);
					}
				}
				const box = ctx.getImageData(0, 0, ctx.canvas.width, ctx.canvas.height).data;
				let hatched = 0;
				const v = parseInt(lines.slice(1), 16);
				for (let k = 0; k < box.length; k += 4) if (box[k] === v >> 16 && box[k + 1] === ((v >> 8) & 255)) hatched++;
				return { out, hatched };
			});
			assert.ok(found.out.length > (isSum ? 0 : 3), "hatched frames with text");
			assert.deepEqual(found.out.filter(([, n]) => n !== 1), []);
			assert.ok(found.hatched > 50, "what has no text on it is hatched");
		});
});

test("changes certain only in sum are hatched where the list leads, and labelled so", async () => {
	const file = sumFile("sum.html");
	const said = /slower, certain only together with its other paths/;
	await withPage(file, {}, async (page) => {
		assert.match(await page.innerText("#legend"), /certain only together with its other paths/);
		await page.click(".spot:has-text('helper')");
		const frame = await page.evaluate(() => {
			const { flame, data } = fizeau, { tree, what } = flame.picture, i = flame.selected, colour = $$frame_colour.nodeClass(tree, i, what);
			return { name: data.functions.names[tree.func[i]], isTogether: $$colors.isTogether(colour), solid: $$colors.solidOf(colour), words: [what.verdicts.total.word[tree.func[i]], $$frame_colour.frameVerdict(tree, i, what.verdicts.total)] };
		});
		const c = await page.evaluate(() => ({ ...$$colors }));
		assert.deepEqual([frame.name, frame.isTogether, frame.words], ["helper", true, [c.CHANGED, c.UNKNOWN]]);
		assert.ok(frame.solid >= c.MORE && frame.solid < c.LESS);
		assert.match(await page.innerText("#tip"), new RegExp(`this path: ${said.source}`));
		assert.match(await page.textContent("#spoken"), said);
		assert.match(await page.locator(".twin [aria-selected=true]").first().textContent(), said);
		// Saved: the frame's colour, its lines, the legend's key with the same lines.
		const { svg, fill, lines } = await page.evaluate((colour) => ({ svg: $$save.svgText(fizeau), fill: fizeau.flame.palette.fill[colour], lines: fizeau.flame.palette.linesOf(colour) }), frame.solid);
		const group = svg.split("<g>").find((g) => g.includes("<title>helper"));
		assert.ok(group.includes(`fill="${fill}"`) && group.includes(`stroke="${lines}"`), group);
		const key = svg.slice(svg.lastIndexOf("moved") < 0 ? 0 : svg.lastIndexOf("moved"), svg.indexOf("certain only together"));
		assert.match(key, /<path [^>]*stroke="rgb\([^"]*"[^>]*>/, "hatched in the legend");
	});
	await withPage(judgedPage(), {}, async (page) => assert.doesNotMatch(await page.innerText("#legend"), /certain only together/, "of nothing here"));
	const svg = fs.readFileSync(sumFile("sum.svg"), "utf8");
	const helper = svg.split("<g>").map((g) => g.split("</g>")[0]).filter((g) => g.startsWith("<title>helper\n"));
	assert.equal(helper.length, sumCallers);
	for (const g of helper) assert.match(g, /<rect class="c[1-4]"[^>]*\/><path class="h[dl]"[^>]*\/>/);
	assert.match(svg, /<pattern id="d"/);
	assert.match(svg, />significant only combined with its other paths</);
	// The tree in a terminal has the way to the largest of these paths.
	const tree = fs.readFileSync(sumFile("tree.txt", ["--tree", "--color", "never", "--min-share", "0"]), "utf8");
	assert.match(tree, /[▲^] in sum +\S* *\S* *helper/u);
	assert.equal(tree.match(/[▲^] in sum/gu).length, 1, "no other path of it");
	assert.match(tree, /In sum: significant only\s+combined\s+with\s+the\s+function's\s+other\s+paths/);
});

test("a picture's hatching is as dense and as dark as the page's", async () => {
	// Mean brightness of a strip without text in a frame.
	const meanOf = (page, png, { x, y, width, height }) => page.evaluate(async ([data, box]) => {
		const image = new Image();
		image.src = `data:image/png;base64,${data}`;
		await image.decode();
		const ctx = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height }).getContext("2d");
		ctx.drawImage(image, 0, 0);
		const pixels = ctx.getImageData(...box).data.filter((_, k) => k % 4 !== 3);
		return pixels.reduce((sum, v) => sum + v, 0) / pixels.length;
	}, [png.toString("base64"), [x, y, width, height].map(Math.round)]);
	const endOf = ({ right, top }, rows) => ({ x: right - 90, y: top + 4, width: 54, height: rows - 8 });
	const name = "<module>", svg = path.join(folder, "hatched.svg"), picture = {};
	execFileSync(process.env.FIZEAU, [...judgedRuns(), "-o", svg], { stdio: ["ignore", "ignore", "pipe"] });
	await withPage(svg, { width: 1300, height: 1200, unready: true }, async (page) => {
		picture.png = await page.screenshot();
		picture.box = await page.evaluate((of) => {
			const title = [...document.querySelectorAll("title")].find((t) => t.textContent.startsWith(`${of}\n`));
			const { right, top } = title.parentNode.querySelector("rect").getBoundingClientRect();
			return { right, top };
		}, name);
	});
	await withPage(judgedPage(), { hash: "layout=head" }, async (page) => {
		const box = await page.evaluate((of) => {
			const { flame, data } = fizeau, { tree, what } = flame.picture;
			const node = tree.func.findIndex((f) => data.functions.names[f] === of), at = flame.boxOf(node), on = flame.canvas.getBoundingClientRect();
			return { right: on.left + at.right, top: on.top + at.top, isUnsure: $$frame_colour.nodeClass(tree, node, what) === $$colors.UNSURE };
		}, name);
		assert.ok(box.isUnsure);
		// The page's policy permits no images.
		const png = await page.screenshot(), blank = await page.context().newPage();
		const means = [await meanOf(blank, png, endOf(box, 20)), await meanOf(blank, picture.png, endOf(picture.box, 17))];
		assert.ok(Math.abs(means[0] - means[1]) < 1, means.join(" and "));
		const [lines, ink] = await page.evaluate(() => [fizeau.flame.palette.linesOf($$colors.MORE), fizeau.flame.palette.inkOf($$colors.MORE)]);
		assert.deepEqual([lines, ink], ["#726362", "#14161a"], "six tenths of #14161a on #ffd7cf");
	});
	const sums = fs.readFileSync(sumFile("sum.svg"), "utf8");
	assert.match(sums, /<pattern id="d"[^>]*><path fill="none"[^>]*><path stroke="#14161a99"/, "0x99 is six tenths");
});

const boot = (name) => ({ name, file: "/usr/lib/python3.11/importlib/_bootstrap.py", line: 10 });
const importing = [boot("_find_and_load"), boot("_find_and_load_unlocked"), boot("_load_unlocked"), boot("_call_with_frames_removed")];
const app = code("<module>", "/srv/app/main.py"), json = code("<module>", "/usr/lib/python3.11/json/__init__.py");
const program = (more) => [
	{ tid: 1, stack: [app, code("work", "/srv/app/main.py")], count: 300 + more }, { tid: 1, stack: [app, ...importing.slice(0, 2)], count: 20 },
	{ tid: 1, stack: [app, ...importing, json], count: 40 }, { tid: 1, stack: [app, ...importing, json, code("loads", json.file)], count: 10 },
	{ tid: 1, stack: [...importing, code("<module>", "/usr/lib/python3.11/encodings/__init__.py")], count: 15 },
];
const shown = async (page) => Object.fromEntries((await page.evaluate(() => {
	const { tree } = fizeau.flame.picture;
	return Array.from({ length: tree.n - 1 }, (_, k) => [$$folds.frameName(fizeau.data, tree, k + 1, fizeau.data.functions.names[tree.func[k + 1]]), tree.total[1][k + 1]]);
})));

test("imports are folded in a profile and a diff; the switch, the link and a search unfold them", async () => {
	for (const file of [profilePage(program(0)), diffPage(program(0), program(40), ["exact"])])
		await withPage(file, {}, async (page) => {
			const all = await page.evaluate(() => fizeau.flame.picture.all);
			const folded = await shown(page);
			assert.deepEqual([folded["import json"], folded["finding modules"], folded["interpreter start-up"], folded.loads], [50, 20, 15, 10]);
			assert.ok(!("_find_and_load" in folded));
			await page.click("#menu-view summary");
			await page.click("#toggle-imports");
			assert.equal((await shown(page))._find_and_load_unlocked > 0, true);
			assert.equal(await page.evaluate(() => fizeau.flame.picture.all), all);
			assert.match(await page.evaluate(() => location.hash), /imports=0/);
			await page.reload();
			await page.waitForSelector("html[data-ready]");
			assert.equal(await page.getAttribute("#toggle-imports", "aria-checked"), "false");
			await page.click("#menu-view summary");
			await page.click("#toggle-imports");
			await page.keyboard.press("Escape");
			assert.ok("import json" in await shown(page));
			// A link to a frame inside an import, as it was before it was folded.
			await page.click("#menu-view summary");
			await page.click("#toggle-imports");
			await page.evaluate(() => fizeau.zoomTo($$tree.pathOf(fizeau.flame.picture.tree, Array.from(fizeau.flame.picture.tree.func).findIndex((f) => fizeau.data.functions.names[f] === "_call_with_frames_removed"))));
			const link = (await page.evaluate(() => location.hash)).replace("imports=0", "");
			await page.evaluate((hash) => fizeau.set({ imports: true, zoom: [] }) ?? (location.hash = hash), link);
			await until(page, () => fizeau.flame.focus > 0);
			assert.equal(await page.evaluate(() => fizeau.data.functions.names[fizeau.flame.picture.tree.func[fizeau.flame.focus]]), "_call_with_frames_removed");
			await page.evaluate(() => fizeau.set({ imports: true, zoom: [] }));
			await page.keyboard.press("/");
			await page.keyboard.type("_call_with_frames");
			await until(page, () => document.getElementById("found").textContent !== "");
			await page.keyboard.press("Enter");
			assert.equal(await page.evaluate(() => fizeau.data.functions.names[fizeau.flame.picture.tree.func[fizeau.flame.selected]]), "_call_with_frames_removed");
		});
});

test("noise is one labelled frame per caller, and a switch unfolds it", async () => {
	// Plugins that were sampled by chance on one side alone.
	const once = (side) => Array.from({ length: 30 }, (_, k) => (k % 2 === side ?
		[{ tid: 1, stack: [app, code("plugins", app.file), code(`plugin_${k}`, app.file)], count: 1 }] : [])).flat();
	const [base, head] = [0, 1].map((side) => [{ tid: 1, stack: [app, code("work", app.file)], count: 900 + 300 * side }, { tid: 1, stack: [app, code("plugins", app.file)], count: 50 }, ...once(side)]);
	await withPage(cliPage(base, head), { hash: "layout=union" }, async (page) => {
		const read = () => page.evaluate(() => {
			const { tree } = fizeau.flame.picture, { functions } = fizeau.data;
			const at = Array.from(tree.func).findIndex((f) => f >= functions.n);
			return { at, n: tree.func.filter((f) => f >= 0).length, total: [0, 1].map((s) => tree.total[s][0]), class: at > 0 && $$frame_colour.nodeClass(tree, at, fizeau.flame.picture.what) };
		});
		const folded = await read();
		assert.ok(folded.at > 0);
		assert.equal(folded.class, await page.evaluate(() => $$colors.UNSURE));
		await page.evaluate((i) => fizeau.selection.select(i), folded.at);
		assert.match(await page.textContent("#spoken"), /^not sampled (again|before) \(\d+ paths\)/);
		assert.match(await page.innerText("#tip"), /none of them is certainly/);
		assert.doesNotMatch(await page.innerText("#tip"), /Function in the whole run/);
		await page.click("#menu-view summary");
		await page.click("#toggle-noise");
		const whole = await read();
		assert.ok(whole.at < 0 && whole.n > folded.n);
		assert.deepEqual(whole.total, folded.total);
		assert.match(await page.evaluate(() => location.hash), /noise=0/);
	});
	await withPage(judgedPage(["--palette", "tachyon"]), {}, async (page) => assert.equal(await page.$("#toggle-noise"), null));
});

test("saved pictures, written pictures and prints have the verdict, the legend and the changes", async () => {
	await withPage(judgedPage(), { hash: "layout=union" }, async (page) => {
		const answer = await page.textContent("#band .answer"), names = await page.$$eval(".spots .what", (list) => list.map((e) => e.textContent));
		const svg = await page.evaluate(() => $$save.svgText(fizeau));
		const texts = await page.evaluate((text) => [...new DOMParser().parseFromString(text, "image/svg+xml").querySelectorAll("text")].map((t) => t.textContent), svg);
		assert.ok(texts.includes(answer), answer);
		assert.ok(texts.some((t) => t.includes("▲ slower")) && texts.some((t) => t.includes("unsure")), "the legend");
		const list = texts.filter((t) => /^[▲▼+−] (slower|faster|new|gone): /.test(t)).join(" ");
		for (const name of names.slice(0, 5)) assert.ok(list.includes(name), name);
		assert.ok(await page.isHidden("#changes"));
		await page.emulateMedia({ media: "print" });
		assert.ok(await page.isVisible("#band") && await page.isVisible("#legend") && await page.isVisible("#changes"));
		assert.ok((await page.innerText("#changes")).includes(names[0]));
	});
	const file = path.join(folder, "whole.svg");
	execFileSync(process.env.FIZEAU, [...judgedRuns(), "-o", file], { stdio: "ignore" });
	const svg = fs.readFileSync(file, "utf8");
	assert.match(svg, />(Slower|Faster) by|>Unsure whether/);
	assert.match(svg, /Significant changes by own time<\/text>\n<text [^>]*>[▲▼] [+-][\d.,]+ \([^<]*\) [a-z_]+</);
});

test("a name that does not fit keeps its last component, in smaller type if that helps", async () => {
	const { fitName, lastComponent, shortName } = { ...(await require("./modules.js").load("labels.js")) };
	const ctx = { measureText: (text) => ({ width: text.length }) };
	assert.equal(fitName(ctx, "Parser.parse_statement", 20), "…parse_statement");
	assert.equal(fitName(ctx, "Parser.parse_statement", 9), "parse_st…");
	assert.equal(fitName(ctx, "std::map<int, a::b>::find(c.d)", 12), "…find(c.d)");
	const cases = fs.readFileSync(path.join(__dirname, "../data/short_names.tsv"), "utf8").split("\n");
	for (const line of cases.slice(1, -1)) {
		const [name, short, last] = line.split("\t");
		assert.equal(shortName(name), short);
		assert.equal(short.slice(lastComponent(short)), last);
	}
	assert.equal(shortName(""), "");
	const names = ["Parser.parse_statement", "sqlglot.optimizer.simplify_parens_of_all"];
	const wide = [{ tid: 1, stack: [code("<module>", "/srv/app/main.py")], count: 1000 }, ...names.map((name, k) => ({ tid: 1, stack: [code("<module>", "/srv/app/main.py"), code(name, "/srv/app/p.py")], count: 130 + 100 * k }))];
	await withPage(profilePage(wide), { width: 1000, hash: "" }, async (page) => {
		const texts = await page.evaluate(() => {
			const out = [], { ctx: real } = fizeau.flame, draw = real.fillText.bind(real);
			real.fillText = (text, ...rest) => {
				out.push([text, parseFloat(real.font), real.measureText(text).width]);
				draw(text, ...rest);
			};
			fizeau.flame.draw();
			return out;
		});
		const has = (part) => texts.find(([text]) => text.includes(part));
		assert.ok(has("parse_") && !texts.some(([text]) => text.startsWith("Pars")), JSON.stringify(texts));
		assert.ok(texts.some(([, size]) => size === 10), "smaller type");
		const svg = await page.evaluate(() => $$save.svgText(fizeau));
		assert.match(svg, /font-size="10"[^>]*>[^<]*parse_/);
	});
});

test("own code is distinguished from libraries: in colour, words, lists and the table", async () => {
	const lib = (name) => code(name, "/usr/lib/python3/dist-packages/yaml/loader.py"), std = (name) => code(name, "/usr/lib/python3.11/json/decoder.py");
	const stacks = (k) => [
		{ tid: 1, stack: [code("mine", "/srv/app/main.py")], count: 100 }, { tid: 1, stack: [code("mine", "/srv/app/main.py"), lib("load")], count: 200 * k },
		{ tid: 1, stack: [code("mine", "/srv/app/main.py"), std("decode")], count: 300 * k },
	];
	for (const file of [profilePage(stacks(1)), diffPage(stacks(1), stacks(2), ["exact", "time"])])
		await withPage(file, {}, async (page) => {
			const { fill, pale } = await page.evaluate(() => fizeau.flame.palette);
			for (const [name, shades, word] of [["mine", fill, ""], ["load", pale, "library"], ["decode", pale, "stdlib"]]) {
				const node = await nodeNamed(page, name);
				const colour = await page.evaluate((i) => $$frame_colour.nodeClass(fizeau.flame.picture.tree, i, fizeau.flame.picture.what), node.i);
				assert.equal(await pixel(page, (await corners(page, node)).upper), shades[colour], name);
				const at = await centreOf(page, node.i);
				await page.mouse.move(at.x, at.y);
				assert.equal(await page.evaluate(() => document.querySelector("#tip .origin")?.textContent ?? ""), word);
			}
			assert.match(await page.innerText("#section-hotspots"), /library/);
			await page.click("#section-hotspots .toggle");
			assert.doesNotMatch(await page.innerText("#section-hotspots .spots"), /load|decode/);
			assert.equal(await page.innerText("#chips"), "own code only ×");
			await page.keyboard.press("t");
			assert.equal(await page.textContent("#table output"), "1 function");
			await page.click("#toggle-own");
			assert.equal(await page.textContent("#table output"), "3 functions");
			assert.deepEqual(await page.$$eval("#table .origin", (list) => list.map((e) => e.textContent).sort()), ["library", "stdlib"]);
			await page.click("#toggle-own");
			await page.reload();
			await page.waitForSelector("html[data-ready]");
			assert.equal(await page.textContent("#table output"), "1 function");
		});
});

test("a listed name's last component is whole as long as its callers' part has room", async () => {
	const stack = [{ name: "Configuration.parse_all_of_it", file: "/srv/a.py", line: 3 }];
	await withPage(profilePage([{ tid: 1, stack, count: 9 }]), { width: 1300 }, async (page) => {
		const seen = await page.evaluate(() => {
			let halved = 0;
			const cut = [];
			for (const name of document.querySelectorAll(".spot .parts")) {
				if (name.children.length < 2) continue;
				const [head, tail] = name.children;
				// As narrow as leaves half of the head.
				name.style.width = `${tail.scrollWidth + head.scrollWidth / 2}px`;
				halved++;
				if (tail.getBoundingClientRect().width < tail.scrollWidth - 0.5 || tail.scrollWidth > tail.clientWidth) cut.push(name.title);
			}
			return { halved, cut };
		});
		assert.equal(seen.halved, 1);
		assert.deepEqual(seen.cut, []);
	});
});

test("an entry for own time is labelled, and has the total", async () => {
	// What `build` did itself, its callees do now: in all it costs the same.
	const of = [["main;rest", 9000, 9000], ["main;build", 2000, 500], ["main;build;a", 1500, 2300], ["main;build;b", 1500, 2200], ["main;leaf", 800, 1600]];
	const runOf = (side, k) => writeText(of.map(([stack, ...n], i) => `${stack} ${n[side] + ((7 * k + 3 * i) % 5)}\n`).join(""), ".collapsed");
	const file = path.join(folder, "own-time.html"), runs = [0, 1].map((side) => [1, 2, 3, 4].map((k) => runOf(side, k)));
	const options = [...runs[0], "::", ...runs[1], "--scale", "time"];
	execFileSync(process.env.FIZEAU, ["diff", ...options, "-o", file], { stdio: ["ignore", "ignore", "pipe"] });
	const { functions } = JSON.parse(execFileSync(process.env.FIZEAU, ["diff", ...options, "--format", "json"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
	const build = functions.find((f) => f.name === "build");
	assert.deepEqual([build.self_verdict, build.total_verdict === "changed"], ["changed", false]);
	await withPage(file, {}, async (page) => {
		const notes = Object.fromEntries(await page.$$eval(".spot", (list) => list.map((s) => [s.querySelector(".what").textContent, s.querySelector(".note")?.textContent ?? ""])));
		const n = (v) => Math.round(v).toLocaleString("en");
		assert.equal(notes.build, `own time; ${n(build.base_total)} → ${n(build.head_total)} in total`);
		assert.deepEqual([notes.a, notes.leaf], ["", ""]);
		const own = `build −${n(-build.diff_self)} of own time`, listed = await page.textContent("#changes");
		assert.ok((await page.innerText("#band .quiet")).includes(`certain: ${own}`));
		assert.ok(listed.includes(`faster: ${own}`), listed);
		assert.equal(listed.split("of own time").length, 2, listed);
	});
});

test("an unsure run names the largest certain change of code, not of garbage collection", async () => {
	const of = [["main;rest", 9000, 8200], ["main;build", 2000, 500], ["main;build;a", 1500, 2300], ["main;build;b", 1500, 2200], ["<GC>", 800, 2400]];
	const runOf = (side, k) => writeText(of.map(([stack, ...n], i) => `${stack} ${n[side] + ((7 * k + 3 * i) % 5)}\n`).join(""), ".collapsed");
	const file = path.join(folder, "collecting.html"), runs = [0, 1].map((side) => [1, 2, 3, 4].map((k) => runOf(side, k)));
	execFileSync(process.env.FIZEAU, ["diff", ...runs[0], "::", ...runs[1], "--scale", "time", "-o", file], { stdio: ["ignore", "ignore", "pipe"] });
	await withPage(file, {}, async (page) => {
		// As in a recording: it is a marker, no code, which text cannot say.
		await page.evaluate(() => {
			const { functions } = fizeau.data;
			functions.kind[functions.names.indexOf("<GC>")] = 3;
			fizeau.set({ noise: false });
		});
		assert.match(await page.innerText("#band .quiet"), /certain: build −/);
		assert.match(await page.innerText("#band .chips"), /slower/);
	});
});

test("the current step is marked in the list, which unfolds for it; crumbs keep names' last parts", async () => {
	const names = Array.from({ length: 9 }, (_, i) => `Parser.statement_of_${i}`);
	const runOf = (factor, k) => writeText([["rest", 9000], ...names.map((name, i) => [name, (100 + 20 * i) * factor])]
		.map(([name, n], i) => `main;Parser.parse_statement;${name} ${n + ((7 * k + 3 * i) % 5)}\n`).join(""), ".collapsed");
	const file = path.join(folder, "many.html");
	execFileSync(process.env.FIZEAU, ["diff", ...[1, 2].flatMap((factor) => [factor > 1 && "::", ...[1, 2, 3, 4].map((k) => runOf(factor, k * factor))]).filter(Boolean),
		"--scale", "time", "-o", file], { stdio: ["ignore", "ignore", "pipe"] });
	await withPage(file, { width: 1280, height: 560 }, async (page) => {
		const marked = () => page.$$eval(".spot[aria-current]", (list) => list.map((s) => s.querySelector(".what").textContent));
		const isInView = () => page.$eval(".spot[aria-current]", (s) => {
			const { top, bottom } = s.getBoundingClientRect(), box = document.getElementById("sidebar").getBoundingClientRect();
			return top >= box.top - 1 && bottom <= box.bottom + 1;
		});
		assert.deepEqual(await marked(), []);
		for (let i = 8; i >= 0; i--) {
			await page.keyboard.press("]");
			assert.deepEqual(await marked(), [names[i]]);
			assert.ok(await isInView(), names[i]);
		}
		// By hand: the list stays open, and the focus where it was.
		await page.reload();
		await page.waitForSelector("html[data-ready]");
		await page.click(".spots .link:has-text('3 more functions')");
		assert.match(await page.evaluate(() => document.activeElement.innerText), /statement_of_2/);
		await page.keyboard.press("Tab");
		await page.keyboard.press("Enter");
		assert.deepEqual(await marked(), [names[1]]);
		assert.equal(await page.evaluate(() => document.activeElement.ariaCurrent), "true");
		assert.equal((await page.$$(".spot")).length, 9);
		for (const width of [1500, 1280, 390]) {
			await resize(page, width);
			const [text, end, wide, needed, room] = await page.$eval("#crumbs .link:last-child", (link) => {
				const last = link.querySelector(".parts > :last-child");
				return [link.textContent, last.getBoundingClientRect().right, last.clientWidth, last.scrollWidth, document.getElementById("crumbs").getBoundingClientRect().right];
			});
			assert.equal(text, names[1]);
			assert.ok((wide >= needed || wide > 40) && end <= room + 1, JSON.stringify([width, end, wide, needed, room]));
		}
	});
});

test("a change does not repeat the title above it", async () => {
	const runOf = (stack, k) => writeText(`main;rest ${9000 + k}\nmain;${stack} ${2000 + k}\n`, ".collapsed");
	const file = path.join(folder, "titles.html");
	execFileSync(process.env.FIZEAU, ["diff", ...[1, 2, 3, 4].map((k) => runOf("rest;before_only", k)), "::", ...[1, 2, 3, 4].map((k) => runOf("read;parse;after_only", k)),
		"--scale", "time", "-o", file], { stdio: ["ignore", "ignore", "pipe"] });
	await withPage(file, {}, async (page) => {
		const text = (await page.innerText(".spots")).replace(/\u00a0/g, " ");
		assert.match(text, /before_only/);
		for (const title of ["New or newly recorded", "Gone or no longer recorded"]) {
			assert.ok(text.includes(title), text);
			assert.equal(text.toLowerCase().split(title.toLowerCase()).length, 2, text);
		}
	});
});

test("names of a zoomed path that do not fit are omitted", async () => {
	const stack = (self) => ["<module>", "run", "Reader.read_every_statement", "Reader.read_one_statement", "Statement.of_tokens"]
		.map((name, line) => ({ name, file: "app.py", line: line + 1 })).concat(self);
	const leaf = { name: "Tokens.next_matching_token", file: "app.py", line: 9 };
	await withPage(diffPage([{ tid: 1, stack: stack(leaf), count: 90 }], [{ tid: 1, stack: stack(leaf), count: 100 }]), { width: 1500, height: 700 }, async (page) => {
		const deepest = (await readTree(page)).nodes.reduce((a, b) => (b.i > a.i ? b : a)).i;
		await page.evaluate((i) => fizeau.selection.select(i), deepest);
		await page.keyboard.press("Enter");
		for (const width of [1500, 1280, 1000, 800, 700, 390]) {
			await resize(page, width);
			const crumbs = await page.$$eval("#crumbs > *", (list) => list.map((c) => [c.textContent, c.querySelector(".parts > :last-child").clientWidth]));
			assert.equal(crumbs[0][0], "All");
			assert.equal(crumbs.at(-1)[0], leaf.name);
			assert.ok(crumbs.slice(1).every(([, wide]) => wide > 40), JSON.stringify([width, crumbs]));
			assert.ok(await page.$eval("#crumbs > :nth-child(2)", (c) => getComputedStyle(c, "::before").content.includes("…")));
		}
	});
});
