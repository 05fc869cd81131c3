// SPDX-License-Identifier: MIT
// The history page: charts without JavaScript, from stored counts of commits.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { execFileSync } = require("node:child_process");
const { complaints } = require("./axe.js");
const { withPage } = require("./browser.js");
const pages = require("./pages.js");
const { test } = require("./tap.js");

const folder = path.join(pages.folder, "history");
const project = path.join(folder, "project");
const subject = "A subject with <b>markup</b> & as many words as one finds in a history now and then";
const made = new Map(), commitsOf = new Map(); // by counts; the project is the last one's

const run = (program, ...words) => execFileSync(program, words, {
	cwd: project, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"],
	env: { ...process.env, XDG_CACHE_HOME: folder },
});
const git = (...words) => run("git", "-c", "user.name=t", "-c", "user.email=t@example.org", ...words).trim();

// A commit for each count, with a stored recording as if it had been counted. null: it was not counted.
function historyPage(counts) {
	const known = made.get(counts.join());
	if (known) return known;
	fs.rmSync(project, { recursive: true, force: true });
	fs.mkdirSync(project, { recursive: true });
	git("init", "-q");
	git("config", "remote.origin.url", "https://me:secret@github.com/me/project.git");
	for (const [i, count] of counts.entries()) {
		git("commit", "-q", "--allow-empty", "-m", `${i} ${subject}`);
		if (count === null) continue;
		const kept = path.join(folder, "fizeau", "baselines", git("rev-parse", "HEAD"));
		fs.mkdirSync(kept, { recursive: true });
		fs.writeFileSync(path.join(folder, "counts"), `events: Ir\nfn=parse\n1 ${count}\n`);
		run(process.env.FIZEAU, "replay", path.join(folder, "counts"), "-o", path.join(kept, "0123456789abcdef.fz"));
	}
	const page = path.join(folder, `page-${made.size}.html`);
	made.set(counts.join(), page);
	commitsOf.set(counts.join(), git("log", "--format=%H").split("\n"));
	run(process.env.FIZEAU, "history", "-o", page);
	return page;
}

const counts = [1000, 1000, null, 1300, 1300, 700, 700];

test("a chart has a bar from zero with its reach for each commit that was counted, and marks the changes", async () => {
	for (const theme of ["light", "dark"])
		for (const width of [1280, 420])
			await withPage(historyPage(counts), { theme, width, unready: true }, async (page) => {
				const seen = await page.evaluate(() => ({
					bars: [...document.querySelectorAll(".bar")].map((b) => [b.getAttribute("class").trim(), Math.round(15 * b.getAttribute("height")), Number(b.getAttribute("y")) + Number(b.getAttribute("height"))]),
					reach: document.querySelector(".reach").getAttribute("d").match(/V/g).length,
					axis: document.querySelector(".axis").innerText.split(/\s+/),
					hints: [...document.querySelectorAll("rect title")].map((t) => t.textContent),
					turns: [...document.querySelectorAll(".turns b")].map((b) => [b.className, b.textContent]),
					wide: document.documentElement.scrollWidth,
					chart: document.querySelector(".chart svg").getBoundingClientRect().width,
					page: getComputedStyle(document.body).backgroundColor,
				}));
				const known = counts.filter((c) => c !== null);
				assert.deepEqual(seen.bars, known.map((c, i) => [["bar", "bar", "bar more", "bar", "bar less", "bar"][i], c, 100]));
				assert.equal(seen.reach, known.length);
				assert.deepEqual(seen.axis, ["1,500", "0"]);
				assert.equal(seen.hints.length, counts.length);
				assert.ok(seen.hints[3].includes(`3 ${subject}`) && seen.hints[3].includes("1,300 instructions"), seen.hints[3]);
				assert.ok(seen.hints[2].endsWith("not counted"), seen.hints[2]);
				assert.deepEqual(seen.turns, [["more", "▲ +30.0 %"], ["less", "▼ -46.2 %"]]);
				assert.equal(seen.wide, width, "the page is wider than the window");
				assert.ok(seen.chart > 300, `a chart of ${seen.chart} pixels`);
				assert.equal(seen.page, theme === "dark" ? "rgb(22, 24, 29)" : "rgb(255, 255, 255)");
				assert.deepEqual(await complaints(page), []);
			});
});

test("a series that ends where it began is the same, without a change's colour", async () => {
	for (const [last, word, way] of [[1000, "same", "quiet"], [1001, "+0.1 %", "quiet"], [1300, "+30.0 %", "more"], [700, "-30.0 %", "less"]])
		await withPage(historyPage([1000, 1000, 1300, 1300, last, last]), { unready: true }, async (page) => {
			assert.deepEqual(await page.$eval(".head p", (p) => [p.textContent.replace(/\s/g, " "), p.className]), [word, way]);
			assert.match(await page.textContent("header p"), /over 6 commits, \d{4}-\d\d-\d\d( to \d{4}-\d\d-\d\d)?$/);
			assert.doesNotMatch(await page.textContent("header p"), /(\S+) to \1$/, "one day is named once");
		});
});

test("commits link to the forge's pages, without secrets", async () => {
	await withPage(historyPage(counts), { unready: true }, async (page) => {
		const links = await page.$$eval("a", (list) => list.map((a) => a.getAttribute("href")));
		const commits = commitsOf.get(counts.join());
		assert.ok(links.length >= counts.length + 2, `${links.length} links`);
		for (const link of links) assert.ok(link.startsWith("https://github.com/me/project/commit/") && commits.includes(link.split("/").at(-1)), link);
		assert.doesNotMatch(await page.content(), /secret/);
	});
});

test("a search keeps the cards that have all words", async () => {
	fs.mkdirSync(project, { recursive: true });
	const html = fs.readFileSync(historyPage(counts), "utf8");
	const card = html.slice(html.indexOf("<section>"), html.indexOf("</section>") + 10);
	const two = path.join(folder, "two.html");
	fs.writeFileSync(two, html.replace(card, card + card.replace(/<h2>[^<]*/, "<h2>print")));
	await withPage(historyPage(counts), { unready: true }, async (page) => assert.equal(await page.isVisible("#query"), false, "one card needs none"));
	await withPage(two, { unready: true, width: 390 }, async (page) => {
		await page.fill("#query", "PRINT little");
		assert.deepEqual(await page.$$eval("main section", (list) => list.map((s) => s.hidden)), [true, true]);
		await page.fill("#query", "print markup");
		assert.deepEqual(await page.$$eval("main section:not([hidden]) h2", (list) => list.map((h) => h.textContent)), ["print"]);
		assert.equal(await page.textContent("#found"), "1 of 2");
	});
});

test("names are text, and the page shows the same without script", async () => {
	await withPage(historyPage(counts), { javascript: false }, async (page) => {
		assert.equal(await page.locator("b", { hasText: "markup" }).count(), 0);
		assert.ok((await page.locator(".turns").textContent()).includes("<b>markup</b> &"));
	});
});
