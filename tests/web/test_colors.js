// SPDX-License-Identifier: MIT
// The palette, seen with normal and with colour-blind eyes: what must not be mistaken for another.
// Removed frames are hollow, so their edge only needs contrast.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { withPage } = require("./browser.js");
const { profilePage } = require("./pages.js");
const { test } = require("./tap.js");
const { apart, ciede2000, contrast, kinds } = require("./vision.js");

const names = ["same", "more 1", "more 2", "more 3", "more 4", "less 1", "less 2", "less 3", "less 4", "new"];
const MORE = [1, 2, 3, 4], LESS = [5, 6, 7, 8], NEW = 9;
// Neutral fills that a texture and a glyph tell apart: cannot tell, new but cannot tell, moved cost.
const TEXTURED = [20, 21, 22];
const SHARES = [12, 13, 14, 15, 16, 17, 18, 19], TASK = 24;

function pairs(a, b) {
	return a.flatMap((x) => b.map((y) => [x, y]));
}

// What has to differ, and by how much (CIEDE2000) for every kind of eyes.
const rules = [
	["more and less", 20, pairs(MORE, LESS)],
	["new and all others", 10, pairs([NEW], [0, ...MORE, ...LESS])],
	["textured and changed", 10, pairs(TEXTURED, [...MORE, ...LESS, NEW])],
	["tasks and shares", 10, pairs([TASK], SHARES)],
	["steps", 10, [[0, 1], [1, 2], [2, 3], [3, 4], [0, 5], [5, 6], [6, 7], [7, 8]]],
];

const one = [{ tid: 1, stack: [{ name: "main", file: "/srv/app/main.py", line: 3 }], count: 1 }];

async function withPalettes(body) {
	await withPage(profilePage(one), {}, async (page) => {
		for (const theme of ["light", "dark"])
			body(theme, await page.evaluate((t) => {
				const { makePalette, UNSURE, NEW_UNSURE, MOVED } = $$colors;
				if ([UNSURE, NEW_UNSURE, MOVED].join() !== "20,21,22") throw new Error("other classes");
				const p = makePalette("fizeau", t);
				const readable = (of) => ({
					...of, inkOf: undefined, linesOf: undefined, above: undefined, inks: of.fill.map((_, i) => of.inkOf(i)), paleInks: of.pale.map((_, i) => of.inkOf(i, true)),
					lines: of.fill.map((_, i) => of.linesOf(i)), paleLines: of.pale.map((_, i) => of.linesOf(i, true)), together: of.fill.map((_, i) => $$colors.isTogether(i)),
					solid: of.fill.map((_, i) => $$colors.solidOf(i)),
				});
				return { ...readable(p), above: readable(p.above) };
			}, theme));
	});
}

test("colour differences are those of the published examples", () => {
	for (const [a, b, expected] of [
		[[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425], [[22.7233, 20.0904, -46.694], [23.0331, 14.973, -42.5619], 2.0373],
		[[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644], [[50, 2.5, 0], [73, 25, -18], 27.1492],
		[[50, -1, 2], [50, 0, 0], 2.3669], [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
	]) assert.ok(Math.abs(ciede2000(a, b) - expected) < 1e-4, `${a} ${b}`);
	assert.equal(contrast("#000000", "#ffffff"), 21);
});

test("colours with different meanings differ for all eyes", async () => {
	const close = [];
	await withPalettes((theme, { fill }) => {
		for (const kind of kinds)
			for (const [what, least, list] of rules)
				for (const [a, b] of list) {
					const d = apart(fill[a], fill[b], kind);
					if (d < least) close.push(`${theme} ${kind}, ${what}: ${names[a]} ${names[b]} ${d.toFixed(1)}`);
				}
	});
	assert.deepEqual(close, []);
});

test("text has contrast on every colour, and a hollow frame's edge on the page", async () => {
	const low = [];
	await withPalettes((theme, { fill, inks, pale, paleInks, page, removed, ink, match, above }) => {
		const read = (colours, on, what) => colours.forEach((c, i) => contrast(c, on[i]) < 4.5 && low.push(`${theme} ${what} ${names[i] ?? i}`));
		read(fill, inks, "own");
		read(pale, paleInks, "pale");
		read(above.fill, above.inks, "above");
		read(above.pale, above.paleInks, "above, pale");
		for (const kind of kinds)
			for (const c of TEXTURED) if (apart(fill[c], removed, kind) < 20) low.push(`${theme} ${kind} purple lines on ${c}`);
		for (const c of [removed, ink, match]) if (contrast(c, page) < 4.5) low.push(`${theme} ${c}`);
	});
	assert.deepEqual(low, []);
});

test("all text of a frame has its full ink, also the place beside a name", async () => {
	const at = (name, line) => ({ name, file: "/srv/app/work.py", line });
	const file = profilePage([{ tid: 1, count: 60, stack: [at("main", 1), at("busy", 9)] }, { tid: 1, count: 40, stack: [at("main", 1), at("idle", 20)] }]);
	for (const hash of ["tab=flame", "tab=sandwich"]) await withPage(file, { hash }, async (page) => {
		const drawn = await page.evaluate(() => {
			const flame = fizeau.state.tab === "flame" ? fizeau.flame : fizeau.sandwich.halves[0], { ctx } = flame, texts = [], real = ctx.fillText;
			ctx.fillText = (text) => texts.push([text, ctx.globalAlpha]);
			flame.draw();
			ctx.fillText = real;
			return texts;
		});
		assert.ok(drawn.some(([text]) => text === "/srv/app/work.py:1"), JSON.stringify(drawn));
		assert.deepEqual(drawn.filter(([, alpha]) => alpha < 1), []);
	});
});

test("changes certain only as a sum have their colour, with hatching that all eyes see", async () => {
	const bad = [];
	await withPalettes((theme, palette) => {
		assert.equal(palette.together.filter(Boolean).length, MORE.length + LESS.length + 1);
		for (const [what, { fill, lines, pale, paleLines }] of [["zoomed to", palette], ["above", palette.above]])
			palette.together.forEach((isTogether, c) => {
				if (!isTogether) return;
				if (fill[c] !== fill[palette.solid[c]] || pale[c] !== pale[palette.solid[c]]) bad.push(`${theme} ${what}: another colour ${c}`);
				for (const kind of kinds) for (const [on, line] of [[fill[c], lines[c]], [pale[c], paleLines[c]]])
					if (apart(on, line, kind) < 20) bad.push(`${theme} ${what} ${kind} ${on} ${line} ${apart(on, line, kind).toFixed(1)}`);
			});
	});
	assert.deepEqual(bad, []);
});

test("foreign code is paler than own code of the same meaning", async () => {
	await withPalettes((theme, { fill, pale, page }) => {
		// A surface without a colour stays as it is.
		fill.forEach((c, i) => assert.ok(c === page ? pale[i] === page : contrast(pale[i], page) < contrast(c, page), `${theme} ${i}`));
	});
});

test("a picture has the page's colours", async () => {
	const source = fs.readFileSync(path.join(__dirname, "../../src/report/svg_colors.c"), "utf8");
	await withPalettes((theme, { fill, removed }) => {
		if (theme === "light") for (const c of [...fill.slice(0, 10), removed]) assert.ok(source.includes(c), c);
	});
});
