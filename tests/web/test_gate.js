// SPDX-License-Identifier: MIT
// Benchmark pages of a real server: repositories, benchmarks across commits, pull requests, and
// accepting changes.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { complaints } = require("./axe.js");
const { withPage } = require("./browser.js");
const { cliPage, folder } = require("./pages.js");
const { casesOf, startServer } = require("./served.js");

const START = 1700000000, COMMITS = 24; // seconds; commits of the main branch
const evil = '"><img src=x onerror=alert(1)>';
const TOKENS = { write: "one-may-write-and-read", read: "one-may-only-read-it", badge: "one-sees-only-badges" };
const server = {}; // its url

const hashOf = (n, kind = "a") => `${kind}${String(n).padStart(39, "0")}`;

function benchmark(name, base, head, more = {}) {
	const change = base === null ? null : head / base - 1;
	const verdict = base === null ? "new" : Math.abs(change) < 0.02 ? "same" : change > 0 ? "slower" : "faster";
	return {
		name, metric: "instructions", renamed_from: null, verdict, fails: verdict === "slower", base, head, change, floor: 0, limit: 0.02,
		base_cycles: null, head_cycles: null, trouble: null, ignored: null, accepted: null, wall: null, where: null, ...more,
	};
}

const reportOf = (base, head, benchmarks) => ({
	schema: 1, headline: "believe me: all is well", exit: 0, metric: "instructions", base, head, environment: "CPU: x86_64\n", troubles: [], notes: [], benchmarks,
});

async function ask(method, address, body, token = TOKENS.write, type = "application/json") {
	const headers = { "Content-Type": type, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
	const answer = await fetch(server.url + address, { method, headers, body });
	return { status: answer.status, text: await answer.text(), headers: answer.headers };
}

async function send(names, benchmarks) {
	const { base, head } = names;
	const body = JSON.stringify(reportOf(base.slice(0, 10), head.slice(0, 10), benchmarks));
	const query = new URLSearchParams({ repository: "me/project", pages: "https://github.com/me/project/commit/", id: head, ...names });
	const { status, text } = await ask("POST", `/api/benchmarks?${query}`, body);
	assert.equal(status, 200, text);
	return JSON.parse(text).run;
}

// What a benchmark costs at a commit of the main branch: parse steps up, render down, the rest stays.
const costAt = (name, n) => ({ parse: n < 9 ? 1000000 : 1300000, render: n < 15 ? 2500000 : 1800000, [evil]: 700000 + 100 * (n % 3) })[name] ?? 400000;
const NAMES = ["parse", "render", evil, "load[a-very-long-parameter/with/slashes-and-no-space-in-it-at-all-for-a-while]", "store"];

async function fill() {
	for (let n = 1; n < COMMITS; n++)
		await send({ base: hashOf(n - 1), head: hashOf(n), branch: "main", into: "main", head_time: START + 3600 * n, base_time: START + 3600 * (n - 1), head_subject: n === 9 ? `Look for <b>issues</b> with a regular expression ${evil}` : `Commit ${n}`, base_subject: "the one before" },
			NAMES.map((name) => benchmark(name, costAt(name, n - 1), costAt(name, n))));
	const base = hashOf(COMMITS - 1);
	server.run = await send({ base, head: hashOf(1, "b"), pull: "128", branch: "faster", into: "main", head_time: START + 9e5, base_time: START + 3600 * (COMMITS - 1), head_subject: "Cache what was parsed" }, [
		benchmark("store", 400000, 400000),
		benchmark("render", 1800000, 1200000),
		benchmark("parse", 1300000, 1700000, {
			where: { context: "parse_body > parse_issue_fixed", change: 400000, base: 100000, file: "src/parse.py", line: 15 },
			wall: { pairs: 20, base_ns: 1e6, head_ns: 1.2e6, change: 0.2, low: 0.15, high: 0.25, decided: true },
		}),
		benchmark(evil, 700000, 770000),
		benchmark("fresh", null, 1000),
	]);
	await send({ base, head: hashOf(2, "b"), pull: "129", branch: evil, into: "main", head_time: START + 9e5, head_subject: evil }, [benchmark("parse", 1300000, 1300000)]);
	const page = fs.readFileSync(cliPage([{ tid: 1, stack: [{ name: "main", file: "a.py", line: 1 }], count: 10 }], [{ tid: 1, stack: [{ name: "main", file: "a.py", line: 1 }], count: 20 }]));
	const { status, text } = await ask("POST", `/api/benchmarks/page?run=${server.run}&name=report.html`, page, TOKENS.write, "text/html");
	assert.equal(status, 200, text);
}

const served = casesOf("gate", server, () => {
	const tokens = path.join(folder, "tokens");
	fs.writeFileSync(tokens, `one read,write ${TOKENS.write}\none read ${TOKENS.read}\none badge ${TOKENS.badge}\n`, { mode: 0o600 });
	return startServer("gate.db", "--tokens", tokens);
}, fill);
// The viewer may only read; a browser sends its token as a password.
const look = (address, options, body) => withPage(server.url + address, { unready: true, password: TOKENS.read, ...options }, body);
const REPOSITORY = "/repository?repository=me%2Fproject", CHANGE = "/change?repository=me%2Fproject&pull=128";

const rowsOf = (page) => page.$$eval(".rows tbody tr", (rows) => rows.filter((r) => !r.hidden).map((r) => [...r.cells].map((c) => c.innerText.replace(/\s+/g, " ").trim())));

served("repositories, one of them and a pull request fit every width in both themes; names are text; axe finds nothing", async () => {
	for (const address of ["/benchmarks", REPOSITORY, CHANGE])
		for (const [width, theme] of [[1500, "light"], [700, "dark"], [390, "light"], [390, "dark"]])
			await look(address, { width, theme, touch: width === 390 }, async (page) => {
				assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
				assert.equal(await page.locator("img").count(), 0);
				assert.deepEqual(await complaints(page), [], `${address} ${width} ${theme}`);
			});
});

served("a project's repositories lead to one; what a report claims of itself is not believed", async () => {
	await look("/benchmarks", {}, async (page) => {
		const [[name, benchmarks, commits, pulls, , stands]] = await rowsOf(page);
		assert.deepEqual([name, benchmarks, commits, pulls], ["me/project", "6", String(COMMITS + 2), "2"]);
		assert.equal(stands, "No performance regression: 5 same");
		await page.click("td.name a");
		assert.equal(await page.textContent("h1"), "me/project");
	});
	await look("/", {}, async (page) => {
		await page.click("header a");
		assert.equal(await page.textContent("h1"), "Benchmarks");
	});
});

served("each benchmark has its commits and what changed there, in a history's words; those that changed come first", async () => {
	await look(REPOSITORY, {}, async (page) => {
		assert.equal(await page.textContent("section:nth-of-type(2) h2"), `instructions of 5 benchmarks over ${COMMITS} commits of main`);
		const cards = await page.$$eval("main > section:not(.full)", (list) => list.map((s) => ({
			name: s.querySelector("h2").textContent, change: s.querySelector(".head p").textContent, bars: s.querySelectorAll(".bar").length, turns: [...s.querySelectorAll(".turns li")].map((t) => t.textContent),
		})));
		assert.deepEqual(cards.map(({ name, change, bars, turns }) => [name, change, bars, turns.length]).slice(0, 3),
			[["render", "-28.0 %", COMMITS, 1], ["parse", "+30.0 %", COMMITS, 1], [evil, "same", COMMITS, 0]]);
		assert.ok(cards[1].turns[0].includes("▲ +30.0 %") && cards[1].turns[0].includes(`Look for <b>issues</b> with a regular expression ${evil}`), cards[1].turns[0]);
		const long = page.locator("main > section", { hasText: "a-very-long-parameter" });
		assert.equal(await long.locator("svg").getAttribute("aria-label"), `${NAMES[3]} over ${COMMITS} commits`);
		assert.match(await long.locator("h2").innerHTML(), /parameter\/<wbr>with\/<wbr>slashes/);
		const links = await page.$$eval(".turns a", (list) => list.map((a) => a.getAttribute("href")));
		assert.deepEqual(links, [15, 9].map((n) => `https://github.com/me/project/commit/${hashOf(n)}`));
		await page.fill("#query", "load parameter");
		assert.equal(await page.locator("main > section:not(.full):not([hidden])").count(), 1);
		await page.fill("#query", "cache parsed");
		assert.deepEqual((await rowsOf(page)).map(([pull]) => pull), ["128"]);
	});
	await look(`${REPOSITORY}&benchmark=${encodeURIComponent(evil)}`, {}, async (page) => {
		assert.equal(await page.locator("main > section:not(.full) h2").textContent(), evil);
	});
});

served("a pull request lists what fails first, with base, head, change, place and clock, and leads to its report", async () => {
	await look(REPOSITORY, {}, async (page) => {
		assert.deepEqual((await rowsOf(page)).map((cells) => cells.slice(0, 3)), [
			["129", evil, "No performance regression: 1 same"],
			["128", "Cache what was parsed", "Performance regression: 2 slower, 1 faster, 1 new, 1 same"],
		]);
		await page.click("a:text-is('128')");
		assert.equal(await page.textContent("h2.answer"), "Performance regression: 2 slower, 1 faster, 1 new, 1 same");
		assert.ok((await page.textContent("main")).includes("parse takes 30.8 % more instructions (limit 2.0 %); 1 more failure"));
		const rows = await rowsOf(page);
		assert.deepEqual(rows.map((cells) => cells.slice(0, 6)), [
			["slower", "parse", "1,300,000", "1,700,000", "+30.8 %", "2.0 %"],
			["slower", evil, "700,000", "770,000", "+10.0 %", "2.0 %"],
			["faster", "render", "1,800,000", "1,200,000", "-33.3 %", "2.0 %"],
			["new", "fresh", "–", "1,000", "", "2.0 %"],
			["same", "store", "400,000", "400,000", "0.0 %", "2.0 %"],
		]);
		assert.ok(rows[0][6].startsWith("wall time +20.0 % [+15.0 %, +25.0 %] parse_body > parse_issue_fixed +400,000 (x 5.0) src/parse.py:15"), rows[0][6]);
		await page.click("a:text-is('Full report')");
		await page.waitForSelector("html[data-ready]");
		// The document is not ours, so it has no origin, whatever it contains.
		assert.equal(await page.evaluate(() => window.origin), "null");
		assert.equal(await page.evaluate(() => fetch("/benchmarks").then(() => "read", () => "refused")), "refused");
		page.problems.length = 0;
	});
});

served("by keyboard a change is accepted with a reason and a token that may write, and taken back", async () => {
	const stands = async () => JSON.parse((await ask("GET", "/api/status?repository=me%2Fproject&pull=128", undefined, TOKENS.badge)).text);
	const reason = `easier to read ${evil}`;
	await look(CHANGE, { width: 700 }, async (page) => {
		const shown = (text) => page.getByText(text).first().waitFor();
		assert.equal((await stands()).failing, 2);
		await page.focus(".acts summary");
		await page.keyboard.press("Enter");
		await page.keyboard.press("Tab");
		await page.keyboard.type(reason);
		await page.keyboard.press("Tab");
		await page.keyboard.type(TOKENS.read);
		await page.keyboard.press("Enter");
		await shown("this token is read-only");
		assert.equal((await stands()).failing, 2);
		page.problems.length = 0; // the browser itself reports a status of 403
		await page.fill(".acts [name=token]", TOKENS.write);
		await page.keyboard.press("Enter");
		await shown(`accepted: ${reason}`);
		assert.equal(await page.locator("img").count(), 0);
		assert.equal((await rowsOf(page))[0][1], evil, "what fails comes first");
		const { failing, accepted, status } = await stands();
		assert.deepEqual([failing, accepted, status], [1, 1, "failed"]);
		await page.click("header a");
		assert.ok((await page.textContent("main")).includes("Accepted changes"));
		assert.deepEqual((await rowsOf(page)).at(-1).slice(0, 5), ["parse", "instructions", reason, "+33.4 %", `pull request 128 ${hashOf(1, "b").slice(0, 10)}`]);
		await page.goto(server.url + CHANGE);
		await page.click(".acts[data-act=withdraw] summary");
		await page.fill(".acts[data-act=withdraw] [name=token]", TOKENS.write);
		await page.keyboard.press("Enter");
		await page.locator(".acts[data-act=accept]").nth(1).waitFor();
		assert.equal((await stands()).failing, 2);
	});
});
