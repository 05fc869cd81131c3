// SPDX-License-Identifier: MIT
// Text of a profile is never interpreted as markup, in names, files, sources, labels, threads and
// pictures.
"use strict";
const assert = require("node:assert/strict");
const { readTree, withPage } = require("./browser.js");
const { diffPage, profilePage, writeText } = require("./pages.js");
const { test } = require("./tap.js");

const attacks = [
	"</script><script>window.pwned = 1</script>", "<!--", "--><script>window.pwned = 1</script>", "<img src=x onerror=window.pwned=1>",
	"</title><script>window.pwned=1</script>", "</noscript><script>window.pwned=1</script>", "&lt;b&gt;", "\"'><svg onload=window.pwned=1>",
	"<!--fz:data-->", "${window.pwned=1}", "__proto__", "constructor", "]]>", "\u202egnp.exe", "a\u0007b", "x".repeat(10000),
];
const samples = attacks.map((name, i) => ({
	tid: 1, count: 10 + i, stack: [{ name: "main", file: "/srv/<b>.py", line: 1 }, { name: name.replaceAll(";", ","), file: `/srv/${name.slice(0, 60).replace(/[;:\n]/g, "")}.py`, line: 2 }],
}));

async function look(page) {
	assert.equal(await page.evaluate(() => window.pwned), undefined);
	// The header, the data, the viewer packed, what unpacks it, and itself.
	assert.equal(await page.evaluate(() => document.querySelectorAll("script").length), 5);
	assert.equal(await page.evaluate(() => document.querySelectorAll("img, svg[onload], b:not(.line b)").length), 0);
}

test("names and files that look like markup stay text", async () => {
	const source = writeText(`</script><script>window.pwned = 1</script>\n<!-- <script>\n${"y".repeat(50)}\n`);
	const options = ["exact", `source=/srv/<b>.py=${source}`];
	for (const file of [profilePage(samples, [options[1]]), diffPage(samples, samples.map((s) => ({ ...s, count: s.count * 2 })), options), diffPage(samples.slice(4), samples.slice(0, 9), options)])
		await withPage(file, {}, async (page) => {
			await look(page);
			const { nodes } = await readTree(page);
			for (let i = 0; i < nodes.length; i++) {
				await page.evaluate((node) => fizeau.selection.select(node), nodes[i].i);
				await look(page);
			}
			for (const key of ["t", "t", "m", "i", "0"]) await page.keyboard.press(key);
			await page.fill("#query", "<script>");
			await page.keyboard.press("Enter");
			await look(page);
		});
});

test("every name is in the page unchanged", async () => {
	await withPage(profilePage(samples), {}, async (page) => {
		const { nodes } = await readTree(page);
		const names = new Set(nodes.map((n) => n.name));
		for (const s of samples) assert.ok(names.has(s.stack[1].name), s.stack[1].name.slice(0, 80));
	});
});

test("the static table is text as well", async () => {
	await withPage(profilePage(samples), { javascript: false }, async (page) => {
		assert.equal(await page.$$eval(".fallback img, .fallback svg, .fallback script", (list) => list.length), 0);
		assert.ok((await page.innerText(".fallback")).includes("<img src=x onerror=window.pwned=1>"));
	});
});

test("a picture is well-formed and harmless", async () => {
	for (const file of [profilePage(samples, [], ".svg"), profilePage(samples, ["inverted"], ".svg"), diffPage(samples.slice(4), samples.slice(0, 9), ["exact"], ".svg")])
		await withPage(file, { unready: true }, async (page) => {
			assert.equal(await page.evaluate(() => document.documentElement.nodeName), "svg");
			assert.equal(await page.evaluate(() => document.querySelectorAll("parsererror, script, image, foreignObject").length), 0);
			assert.equal(await page.evaluate(() => window.pwned), undefined);
			assert.ok(await page.evaluate(() => document.querySelectorAll("title").length) > 8);
		});
});

test("a page runs no script but its own", async () => {
	await withPage(profilePage(samples), {}, async (page) => {
		const blocked = await page.evaluate(() => new Promise((done) => {
			document.addEventListener("securitypolicyviolation", (e) => done(e.violatedDirective), { once: true });
			const script = document.createElement("script");
			script.textContent = "window.pwned = 1";
			document.body.append(script);
		}));
		assert.match(blocked, /script-src/);
		assert.equal(await page.evaluate(() => window.pwned), undefined);
		page.problems.length = 0; // the browser reports what it blocked
	});
});

test("a viewer that was changed does not start", async () => {
	const fs = require("node:fs");
	const zlib = require("node:zlib");
	const good = fs.readFileSync(profilePage(samples), "utf8");
	const evil = zlib.deflateRawSync("window.pwned = 1").toString("base64");
	const text = good.replace(/(id="fz-viewer">)[^<]*/, `$1${evil}`);
	await withPage(writeText(text, ".html"), { unready: true }, async (page) => {
		await page.waitForSelector("#failure:not([hidden])");
		assert.match(await page.innerText("#failure"), /could not be opened: its viewer is damaged/);
		assert.equal(await page.evaluate(() => window.pwned), undefined);
		page.problems.length = 0; // the browser reports what it blocked
	});
});

test("an old browser shows the page's requirements", async () => {
	const fs = require("node:fs");
	const good = fs.readFileSync(profilePage(samples), "utf8");
	await withPage(writeText(good, ".html"), { unready: true, before: "delete globalThis.DecompressionStream" }, async (page) => {
		assert.match(await page.innerText("#failure"), /too old .* DecompressionStream/);
	});
});

test("a damaged page reports the problem", async () => {
	const fs = require("node:fs");
	const good = fs.readFileSync(profilePage(samples), "utf8");
	const broken = {
		"another version": good.replace(/"version": 2,/, '"version": 99,'),
		"cut data": good.replace(/(id="fz-data">.{200})[^<]*/, "$1"),
		"cut viewer": good.replace(/(id="fz-viewer">.{200})[^<]*/, "$1"),
	};
	for (const [name, text] of Object.entries(broken)) {
		assert.notEqual(text, good, name);
		await withPage(writeText(text, ".html"), { unready: true }, async (page) => {
			await page.waitForSelector("#failure:not([hidden])");
			assert.match(await page.innerText("#failure"), /could not be opened/);
			page.problems.length = 0;
		});
	}
});
