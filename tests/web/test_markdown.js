// SPDX-License-Identifier: MIT
// The tables of a markdown report, laid out as a forge does on a phone: all four columns can be seen.
"use strict";
const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const { withPage } = require("./browser.js");
const { newFile, random, writeProfile, writeText } = require("./pages.js");
const { test } = require("./tap.js");

// GitHub's style of a comment, in the widest font that a system falls back to.
const STYLE = `body { font: 14px/1.5 "DejaVu Sans", sans-serif; margin: 0; padding: 8px 16px }
table { display: block; width: max-content; max-width: 100%; overflow: auto; border-spacing: 0; border-collapse: collapse }
td, th { padding: 6px 13px; border: 1px solid }
code { font: 85% "DejaVu Sans Mono", monospace; padding: .2em .4em; white-space: break-spaces }`;

// Tables contain only HTML, links and bold text.
function cellOf(text, tag) {
	const html = text.replace(/\*\*([^*]+)\*\*/g, "<b>$1</b>").replace(/\[([^\]]*)\]\(([^)]*)\)/g, "<a href=\"$2\">$1</a>");
	return `<${tag}>${html}</${tag}>`;
}

function tablesOf(markdown) {
	return markdown.split("\n\n").map((part) => part.split("\n").filter((line) => line.startsWith("| ") || line.startsWith("|:")))
		.filter((lines) => lines.length > 2).map(([head, , ...rows]) => `<table>${[head, ...rows].map((line, i) =>
			`<tr>${line.split(" | ").map((cell) => cellOf(cell.replace(/^\| | \|$/g, ""), i ? "td" : "th")).join("")}</tr>`).join("")}</table>`);
}

const frame = (name, file) => ({ name, file, line: 1261 });

function run(side, seed) {
	const next = random(seed), main = frame("<module>", "/srv/app/main.py");
	const add = (count, name, file) => ({ tid: 1, stack: [main, frame(name, file)], count: Math.round(count * (1 + next() / 50)) });
	return writeProfile([
		add(60000, "work", "/srv/app/main.py"),
		add(side ? 39000 : 21000, "replaced_by_pep8.<locals>.averyveryverylongname", "/srv/site-packages/pkg_resources/_vendor/packaging/version.py"),
		add(side ? 2100 : 39000, "ParserElementOfDocuments.transform_string", "/srv/app/services/conversions/asynchronousgenerators.py"),
		add(side ? 9800 : 1000, "customers", "/srv/app/shop/services/orders/customers/__init__.py"),
	]);
}

test("the tables of a markdown report are not cut at 390 pixels", async () => {
	const runs = [0, 1].map((side) => [1, 2, 3, 4].map((k) => run(side, 10 * side + k))), md = newFile(".md");
	execFileSync(process.env.FIZEAU, ["diff", ...runs[0], "::", ...runs[1], "--scale", "time", "-o", md], { stdio: ["ignore", "ignore", "pipe"] });
	const text = fs.readFileSync(md, "utf8"), tables = tablesOf(text);
	assert.ok(tables.length >= 2 && ["averyver", "customers", "asynchro"].every((word) => text.includes(word)), text);
	const page = writeText(`<!doctype html><meta name=viewport content="width=device-width"><style>${STYLE}</style>${tables.join("")}`, ".html");
	await withPage(page, { width: 390, touch: true, unready: true }, async (view) => {
		const cut = await view.evaluate(() => [...document.querySelectorAll("table")].filter((t) => t.scrollWidth > t.clientWidth)
			.map((t) => `${t.scrollWidth} > ${t.clientWidth}: ${t.textContent}`));
		assert.deepEqual(cut, []);
	});
});
