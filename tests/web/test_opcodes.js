// SPDX-License-Identifier: MIT
// Bytecode instructions: in tooltips of every view, and next to source lines.
"use strict";
const assert = require("node:assert/strict");
const { complaints } = require("./axe.js");
const { withPage } = require("./browser.js");
const { diffPage, profilePage, writeText } = require("./pages.js");
const { test } = require("./tap.js");

// Numbers of 3.12, and one of the same name in 3.13.
const LOAD_ATTR = 106, LOAD_ATTR_SLOT = 78, CALL = 171, BINARY_ADD_INT = 7;
const frame = (name, line, op) => ({ name, file: "/srv/app/main.py", line: op * 1000 + line });
const sample = (count, ...stack) => ({ tid: 1, stack, count });
const main = frame("main", 1, CALL);
const samples = [
	sample(30, main, frame("work", 7, LOAD_ATTR)),
	sample(20, main, frame("work", 7, LOAD_ATTR_SLOT)),
	sample(10, main, frame("work", 8, BINARY_ADD_INT)),
	sample(5, frame("other", 3, BINARY_ADD_INT), frame("work", 7, LOAD_ATTR)),
];
const node = (page, ...path) => page.evaluate((names) => {
	const { data, flame } = fizeau;
	const { tree } = flame.picture;
	let at = 0;
	for (const name of names)
		for (let c = at + 1; c < tree.end[at]; c = tree.end[c])
			if (data.functions.names[tree.func[c]] === name) { at = c; break; }
	return at;
}, path);
const shown = async (page, ...path) => {
	const i = await node(page, ...path);
	return page.evaluate((n) => {
		const { data, flame } = fizeau;
		return $$opcodes.opcodesOfNode(data, flame.picture.tree, n).map(([name, values]) => [data.opcodes.names[name].join(" "), ...values]);
	}, i);
};

test("a node's instructions are those of its frames, specialised ones by both names", async () => {
	await withPage(profilePage(samples, ["opcodes=12"]), {}, async (page) => {
		assert.deepEqual(await shown(page, "main", "work"),
			[["LOAD_ATTR LOAD_ATTR", 0, 30], ["LOAD_ATTR_SLOT LOAD_ATTR", 0, 20], ["BINARY_OP_ADD_INT BINARY_OP", 0, 10]]);
		assert.deepEqual(await shown(page, "main"), [["CALL CALL", 0, 60]]);
		const text = await page.evaluate((i) => {
			const tip = fizeau.tooltip ?? fizeau.flame.tooltip;
			tip.show(i, { x: 10, y: 10 });
			return tip.box.innerText;
		}, await node(page, "main", "work"));
		assert.match(text, /LOAD_ATTR_SLOT LOAD_ATTR\s+20\s+33\.3 %/);
	});
});

test("inverted, leaves sum up and callers show their instructions at the call", async () => {
	await withPage(profilePage(samples, ["opcodes=12", "inverted"]), {}, async (page) => {
		assert.deepEqual(await shown(page, "work"),
			[["LOAD_ATTR LOAD_ATTR", 0, 35], ["LOAD_ATTR_SLOT LOAD_ATTR", 0, 20], ["BINARY_OP_ADD_INT BINARY_OP", 0, 10]]);
		assert.deepEqual(await shown(page, "work", "main"), [["CALL CALL", 0, 60]]);
		assert.deepEqual(await shown(page, "work", "other"), [["BINARY_OP_ADD_INT BINARY_OP", 0, 5]]);
	});
});

test("a diff matches instructions of both versions by name, also of gone code", async () => {
	const head = [sample(12, frame("main", 1, 53), frame("work", 7, 82))];
	await withPage(diffPage(samples, head, ["exact", "time", "force", "base-opcodes=12", "opcodes=13"]), {}, async (page) => {
		assert.deepEqual(await shown(page, "main"), [["CALL CALL", 60, 12]]);
		const work = await shown(page, "main", "work");
		assert.deepEqual(work[0], ["LOAD_ATTR LOAD_ATTR", 30, 12]);
		assert.equal(work.length, 3);
		await page.evaluate(() => fizeau.set({ elided: true }));
		assert.deepEqual(await shown(page, "other"), [["BINARY_OP_ADD_INT BINARY_OP", 5, 0]]);
		await page.evaluate(() => fizeau.set({ elided: false }));
		await page.keyboard.press("x");
		assert.deepEqual(await shown(page, "main"), [["CALL CALL", 12, 60]]);
	});
});

test("lines of the source name their instructions", async () => {
	const text = writeText(Array.from({ length: 12 }, (_, i) => `    line_${i + 1}()`).join("\n"));
	await withPage(profilePage(samples, ["opcodes=12", `source=/srv/app/main.py=${text}`]), {}, async (page) => {
		await page.evaluate(() => fizeau.set({ tab: "source", middle: fizeau.data.functions.names.indexOf("work") }));
		const rows = await page.$$eval(".lines tr", (list) => list.map((r) => [...r.cells].map((c) => c.textContent.trim())));
		assert.equal(rows.find((r) => r[0] === "7")[1], "line_7()LOAD_ATTR 63.6 %, LOAD_ATTR_SLOT 36.4 %");
		assert.equal(rows.find((r) => r[0] === "9")[1], "line_9()");
	});
});

test("a chosen line shows its instructions alone, again hides them, and B shows those of all", async () => {
	const text = writeText(Array.from({ length: 12 }, (_, i) => `    line_${i + 1}()`).join("\n"));
	const file = profilePage(samples, ["opcodes=12", `source=/srv/app/main.py=${text}`]);
	const shownOps = (page) => page.$$eval(".lines tr", (rows) => rows.map((row, i) => [row, rows.slice(0, i).reverse().find((r) => !r.classList.contains("op"))])
		.filter(([row]) => row.classList.contains("op")).map(([row, line]) => [line.cells[0].textContent, row.querySelector("code").textContent]));
	const seven = [["7", "LOAD_ATTR"], ["7", "LOAD_ATTR_SLOT"]], eight = [["8", "BINARY_OP_ADD_INT"]];
	for (const width of [1400, 390]) await withPage(file, { width, height: 800 }, async (page) => {
		const expanded = () => page.$$eval("button.opcodes", (list) => list.map((b) => b.getAttribute("aria-expanded")));
		await page.evaluate(() => fizeau.set({ tab: "source", middle: fizeau.data.functions.names.indexOf("work") }));
		assert.deepEqual(await shownOps(page), []);
		await page.click('.lines tr:has-text("line_7()") button.opcodes');
		assert.deepEqual(await shownOps(page), seven);
		assert.deepEqual(await expanded(), ["true", "false"]);
		assert.ok(await page.$eval(".listing", (e) => e.scrollWidth <= e.clientWidth));
		await page.click('.lines a[data-line="8"]');
		assert.deepEqual(await shownOps(page), eight);
		assert.deepEqual(await expanded(), ["false", "true"]);
		const hash = await page.evaluate(() => location.hash.slice(1));
		await withPage(file, { hash }, async (other) => assert.deepEqual(await shownOps(other), eight, "a link to the line"));
		await page.click('.lines a[data-line="8"]');
		assert.deepEqual(await shownOps(page), []);
		await page.keyboard.press("B");
		assert.deepEqual(await shownOps(page), [...seven, ...eight]);
		await page.click('.lines a[data-line="8"]');
		assert.deepEqual(await shownOps(page), [...seven, ...eight]);
		await page.keyboard.press("B");
		for (const colorScheme of ["light", "dark"]) {
			await page.emulateMedia({ colorScheme });
			assert.deepEqual(await complaints(page), [], colorScheme);
		}
	});
});

test("pages without instructions do not show any", async () => {
	await withPage(profilePage(samples), {}, async (page) => {
		assert.equal(await page.evaluate(() => fizeau.data.opcodes), null);
	});
});

test("a page has room for all columns at once: threads, verdicts, marks, calls, sources, instructions", async () => {
	const at = (file, name, line) => ({ name, file: `/srv/app/${file}`, line: LOAD_ATTR * 1000 + line });
	const stacks = (middle, leaf) => [1, 2].flatMap((tid) => [
		{ tid, count: 400, stack: [at("main.py", "run", 3), at("main.py", middle, 7), at("main.py", leaf, 9), at("main.py", "<listcomp>", 9)] },
		{ tid, count: 300, stack: [at("main.py", "run", 3), at("main.py", "walk", 11), at("main.py", "walk", 12), at("main.py", leaf, 9)] },
		{ tid, count: 300, stack: [at("main.py", "run", 4), ...(middle === "work" ? [] : [at("main.py", "around", 15)]), at("main.py", "join", 17)] },
	]);
	const text = (word) => writeText(Array.from({ length: 20 }, (_, i) => `    ${i === 8 ? word : "line"}_${i + 1}()`).join("\n"));
	const file = diffPage(stacks("work", "old_leaf"), stacks("work_v2", "new_leaf"), ["time", "judged", "base-opcodes=12", "opcodes=12",
		`base-source=/srv/app/main.py=${text("old")}`, `source=/srv/app/main.py=${text("new")}`]);
	await withPage(file, {}, async (page) => {
		const names = await page.evaluate(() => fizeau.data.header.columns.map(({ name }) => name));
		assert.ok(names.length > 64, `${names.length} columns`);
		for (const name of ["cell.thread", "mark.kind", "wrapper.function", "shared.line", "op.node"]) assert.ok(names.includes(name), name);
	});
});
