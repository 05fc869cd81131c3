// SPDX-License-Identifier: MIT
// Tasks of asyncio: their colour, and their descriptions.
"use strict";
const assert = require("node:assert/strict");
const { withPage } = require("./browser.js");
const { profilePage, writeText } = require("./pages.js");
const { test } = require("./tap.js");

const plain = "tid:1;app.py:main:3 5\n";
const tasks = "tid:1;<task main>;app.py:main:3;<task job>;app.py:job:9 30\ntid:1;app.py:loop:1 10\n";

const look = (page) => page.evaluate(() => {
	const { data, flame } = fizeau;
	const { tree } = flame.picture;
	const box = document.querySelector("#tip");
	const seen = {};
	for (let i = 1; i < tree.func.length; i++) {
		fizeau.tooltip.show(i, { x: 10, y: 10 });
		seen[data.functions.names[tree.func[i]]] = [
			$$frame_colour.nodeClass(tree, i, flame.picture.what) === $$colors.TASK, box.querySelector(".place").textContent,
		];
	}
	return { seen, legend: document.querySelector("#legend").textContent };
});

test("a task has its own colour, a key in the legend and words in its box", async () => {
	await withPage(profilePage(writeText(tasks, ".collapsed")), {}, async (page) => {
		const { seen, legend } = await look(page);
		for (const name of ["<task main>", "<task job>"]) {
			assert.equal(seen[name][0], true, name);
			assert.match(seen[name][1], /^asyncio task/, name);
		}
		for (const name of ["main", "job", "loop"]) {
			assert.equal(seen[name][0], false, name);
			assert.match(seen[name][1], /^app\.py/, name);
		}
		assert.match(legend, /asyncio task/);
	});
	await withPage(profilePage(writeText(plain, ".collapsed")), {}, async (page) => {
		assert.doesNotMatch((await look(page)).legend, /asyncio/);
	});
});
