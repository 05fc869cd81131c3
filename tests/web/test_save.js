// SPDX-License-Identifier: MIT
// Saved pictures: the SVG equals the canvas and has no external content; the PNG is valid.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const { withPage, readTree } = require("./browser.js");
const { diffPage, profilePage, someProgram } = require("./pages.js");
const { test } = require("./tap.js");

const base = someProgram(1, { skip: (_, i) => i % 13 === 0 });
const head = someProgram(2, { skip: (_, i) => i % 17 === 0, scale: 1.4 });

const svgOf = (page) => page.evaluate(() => $$save.svgText(fizeau));

async function downloaded(page, act) {
	const waiting = page.waitForEvent("download");
	await act();
	const file = await waiting;
	return { name: file.suggestedFilename(), bytes: fs.readFileSync(await file.path()) };
}

// Frames of the SVG: {title, x, y, width, height, fill}; y from the picture's top.
function framesOf(page, text) {
	return page.evaluate((svg) => {
		const doc = new DOMParser().parseFromString(svg, "image/svg+xml");
		if (doc.querySelector("parsererror")) throw new Error(doc.querySelector("parsererror").textContent);
		return [...doc.querySelectorAll("g")].map((g) => {
			const rect = g.querySelector("rect");
			const of = (name) => Number(rect.getAttribute(name));
			return { title: g.querySelector("title").textContent, x: of("x"), y: of("y"), width: of("width"), height: of("height"), fill: rect.getAttribute("fill") };
		});
	}, text);
}

test("a saved SVG has the frames of the canvas, in their places and colours", async () => {
	for (const hash of ["", "layout=union", "elided=1", "inverted=1&up=1"])
		await withPage(diffPage(base, head, ["exact"]), { hash }, async (page) => {
			const frames = await framesOf(page, await svgOf(page));
			const boxes = await page.evaluate(() => fizeau.flame.layout().boxes.map(({ i, view, left, right, row }) => ({
				left, right, top: fizeau.flame.rowTop(row) - (fizeau.flame.up ? fizeau.flame.content - fizeau.flame.needed : 0), i,
				isRoot: i === 0, name: i === 0 ? "" : fizeau.data.functions.names[view.picture.tree.func[i]],
			})));
			assert.ok(boxes.length > 40);
			assert.equal(frames.length, boxes.length, hash);
			const offset = frames[0].y - boxes[0].top;
			frames.forEach((frame, k) => {
				const box = boxes[k];
				assert.ok(Math.abs(frame.x - box.left) <= 0.51, `${hash} ${k}: x`);
				assert.ok(Math.abs(frame.x + frame.width - box.right) <= 1.51, `${hash} ${k}: width`);
				assert.ok(Math.abs(frame.y - offset - box.top) <= 0.51, `${hash} ${k}: y`);
				if (!box.isRoot) assert.ok(frame.title.startsWith(`${box.name} (`), frame.title);
			});
		});
});

// Share of pixels that differ visibly between an SVG and a PNG of the same size.
function differingPixels(page, svg, png) {
	return page.evaluate(async ([text, url]) => {
		const pixels = async (source, size) => {
			const image = new Image();
			image.src = source;
			await image.decode();
			const canvas = document.createElement("canvas");
			[canvas.width, canvas.height] = size ?? [image.width, image.height];
			const ctx = canvas.getContext("2d", { willReadFrequently: true });
			ctx.drawImage(image, 0, 0, canvas.width, canvas.height);
			return ctx.getImageData(0, 0, canvas.width, canvas.height);
		};
		const b = await pixels(url);
		const a = await pixels(URL.createObjectURL(new Blob([text], { type: "image/svg+xml" })), [b.width, b.height]);
		let n = 0;
		for (let i = 0; i < a.data.length; i += 4)
			if (Math.max(...[0, 1, 2].map((k) => Math.abs(a.data[i + k] - b.data[i + k]))) > 64) n++;
		return n / (a.data.length / 4);
	}, [svg, png]);
}

test("the SVG looks like the PNG, in both themes, with a search and in the sandwich", async () => {
	for (const [theme, hash] of [["light", ""], ["dark", "q=function_3"], ["light", "tab=sandwich"]])
		await withPage(diffPage(base, head, ["exact"]), { theme, hash }, async (page) => {
			const svg = await svgOf(page);
			const png = await page.evaluate(() => $$save.pngCanvas(fizeau).toDataURL());
			const blank = await page.context().newPage();
			const differing = await differingPixels(blank, svg, png);
			assert.ok(differing < 0.01, `${hash}: ${differing}`);
		});
});

test("the SVG is self-contained and names stay text", async () => {
	const evil = ["</text><script>alert(1)</script>", "a&b\"c'd", "<svg onload=alert(1)>", "\u0001\u202e\ufffe", "]]>"];
	const samples = evil.map((name, i) => ({ tid: 1, stack: [{ name: "main", file: "/x.py", line: 1 }, { name, file: "/srv/<b>.py", line: i + 1 }], count: 50 }));
	await withPage(profilePage(samples), {}, async (page) => {
		const svg = await svgOf(page);
		const frames = await framesOf(page, svg);
		const { nodes } = await readTree(page);
		assert.equal(frames.length, nodes.length + 1);
		const found = await page.evaluate((text) => {
			const doc = new DOMParser().parseFromString(text, "image/svg+xml");
			return {
				names: [...new Set([...doc.querySelectorAll("*")].map((e) => e.localName))].sort(),
				attributes: [...new Set([...doc.querySelectorAll("*")].flatMap((e) => e.getAttributeNames()))].filter((a) => /^on|href|src/.test(a)),
			};
		}, svg);
		assert.deepEqual(found.names, ["g", "rect", "svg", "text", "title"]);
		assert.deepEqual(found.attributes, []);
		assert.ok(!/url\(|@import|<!/.test(svg));
		assert.ok(frames.some((f) => f.title.includes("<script>")));
	});
});

test("keys and the dialog save files; other views report that they cannot be saved as a picture", async () => {
	await withPage(diffPage(base, head, ["exact"]), {}, async (page) => {
		const svg = await downloaded(page, () => page.keyboard.press("v"));
		assert.equal(svg.name, "differential-flame-graph.svg");
		assert.equal(svg.bytes.toString("utf8"), await svgOf(page));
		const png = await downloaded(page, () => page.keyboard.press("p"));
		assert.deepEqual([...png.bytes.subarray(0, 8)], [137, 80, 78, 71, 13, 10, 26, 10]);
		assert.equal(png.bytes.readUInt32BE(16), 2 * (await page.evaluate(() => fizeau.flame.full)));
		await page.keyboard.press("S");
		const chosen = await downloaded(page, () => page.click("#save button[value=svg]"));
		assert.equal(chosen.name, svg.name);
		assert.ok(await page.isHidden("#save"));
		await page.evaluate(() => fizeau.set({ tab: "table" }));
		await page.keyboard.press("v");
		assert.match(await page.textContent("#spoken"), /Only the flame graph/);
	});
});
