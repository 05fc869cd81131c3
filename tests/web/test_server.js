// SPDX-License-Identifier: MIT
// Pages of a real server: a service over time, two ranges of it, and the changes between them.
"use strict";
const assert = require("node:assert/strict");
const { complaints } = require("./axe.js");
const { until, withPage } = require("./browser.js");
const { random } = require("./pages.js");
const { casesOf, startServer } = require("./served.js");

const START = 1700000040, HOSTS = 8, BEFORE = 14, END = 40; // seconds; hosts; minutes of the first version, of both
const evil = '"><img src=x onerror=alert(1)>';
const NEXT = `2 ${evil}`; // the second version
const WORK = "abcdefg";
const server = {}; // its url

const isoOf = (minute) => new Date((START + 60 * minute) * 1000).toISOString().slice(0, 16);
const rangeOf = (from, to) => `${isoOf(from)}..${isoOf(to)}`;

async function push(names, body) {
	const answer = await fetch(`${server.url}/api/push?${new URLSearchParams(names)}`, { method: "POST", body });
	assert.equal(answer.status, 200, await answer.text());
}

// One minute of each host. Function d costs `much` times as much.
async function pushMinute(chance, version, minute, much) {
	const lines = [...WORK].map((name) => (host) => {
		const cost = (400 + 20 * (chance() - 0.5)) * (name === "d" ? much * (1 + host / 20) : 1);
		return `main;${name === "d" ? evil : name} ${Math.round(cost)}\n`;
	});
	await Promise.all(Array.from({ length: HOSTS }, (_, host) =>
		push({ service: "shop", version, host: `h${host}`, start: START + 60 * minute }, lines.map((line) => line(host)).join(""))));
}

const timelineOf = async (name) => (await fetch(`${server.url}/api/timeline?${new URLSearchParams({ service: name })}`)).json();

async function fill() {
	const chance = random(1);
	for (let minute = 0; minute < BEFORE; minute++) if (minute !== 5) await pushMinute(chance, "1", minute, 1);
	for (let minute = BEFORE; minute < END; minute++) await pushMinute(chance, NEXT, minute, 1.3);
	while (!(await timelineOf("shop")).alarms.length) await new Promise((resolve) => { setTimeout(resolve, 100); });
	for (const at of [0, 1, 2, 3, 9999]) await push({ service: "long", version: at < 2 ? "1" : "2", host: "h", start: START + 60 * at }, `main;a 300\nmain;b ${at < 2 ? 300 : 400}\n`);
	for (const version of ["1", NEXT]) await push({ service: "brief", version, host: "h", start: START }, "main;a 300\n");
	await push({ service: evil, version: evil, host: "h", start: START }, `main;${evil} 100\n`);
}

const served = casesOf("server", server, () => startServer("fleet.db"), fill);
const pageOf = (more = {}, name = "shop") => `${server.url}/service?${new URLSearchParams({ name })}${Object.entries(more).map(([key, value]) => `&${key}=${value}`).join("")}`;
const answered = (page, text) => until(page, (wanted) => !document.querySelector(".busy") && document.getElementById("changes").textContent.includes(wanted), text);
const rowsOf = (page) => page.$$eval("#changes tbody tr", (rows) => rows.map((r) => [...r.cells].map((c) => c.textContent)));

// The browser itself reports a status of 422.
function refused(page) {
	assert.equal(page.problems.length, 1, page.problems.join("\n"));
	assert.match(page.problems.pop(), /status of 422/);
}

served("a service opens on its last deploy, which is compared; names are text, axe finds nothing", async () => {
	for (const [width, theme] of [[1280, "light"], [390, "dark"], [1280, "dark"], [390, "light"]])
		await withPage(pageOf(), { width, theme, touch: width === 390 }, async (page) => {
			await answered(page, "1 slower");
			const [[word, name, change, interval]] = await rowsOf(page);
			assert.deepEqual([word, name], ["▲ slower", evil]);
			assert.match(`${change} ${interval}`, /^\+\d\d\.\d % \+\d\d\.\d % to \+\d\d\.\d %$/);
			assert.match(page.url(), new RegExp(`before=${isoOf(0)}\\.\\.${isoOf(BEFORE)}&after=${isoOf(BEFORE)}`));
			assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
			assert.equal(await page.locator("main img, header img").count(), 0);
			assert.deepEqual(await complaints(page), [], `${width} ${theme}`);
		});
});

served("the picture has a band for each version, a gap where nothing was pushed, a turn, and an alarm that leads on", async () => {
	await withPage(pageOf(), {}, async (page) => {
		const seen = await page.evaluate(() => {
			const box = (e) => e.getBoundingClientRect(), plot = box(document.querySelector(".plot"));
			const at = (x) => Math.round(((x - plot.left) / plot.width) * 1000) / 1000;
			return {
				bands: [...document.querySelectorAll(".band")].map((b) => b.getAttribute("d").match(/M\d+/g).map((m) => Number(m.slice(1)))),
				turn: at(box(document.querySelector(".turn")).left), alarm: document.querySelector(".alarm").getAttribute("href"),
				shades: [...document.querySelectorAll(".plot .shade")].map((s) => [at(box(s).left), at(box(s).right)]),
			};
		});
		const all = END, turn = Math.round((BEFORE / all) * 1000) / 1000;
		const minutes = (from, to) => Array.from({ length: to - from }, (_, i) => from + i);
		assert.deepEqual(seen.bands, [minutes(0, BEFORE).filter((m) => m !== 5), minutes(BEFORE, all)]);
		assert.ok(Math.abs(seen.turn - turn) < 0.002, `${seen.turn}, ${turn}`);
		assert.ok(Math.abs(seen.shades[0][1] - turn) < 0.003 && Math.abs(seen.shades[1][0] - turn) < 0.003, JSON.stringify(seen.shades));
		await page.hover(".plot", { position: { x: 5, y: 60 } });
		assert.match(await page.textContent(".head output"), new RegExp(`^${isoOf(0).replace("T", " ")} · [\\d,]+ · 1$`));
		await page.click(".alarm");
		await page.waitForSelector("#band .chip");
		assert.match(await page.title(), /shop@/);
	});
});

served("ranges are drawn with a mouse; what is below follows, and the address leads back", async () => {
	await withPage(pageOf(), {}, async (page) => {
		await answered(page, "1 slower");
		const box = await page.locator(".lane").nth(1).boundingBox();
		const x = (minute) => box.x + (box.width * minute) / END;
		await page.mouse.move(x(6.2), box.y + 10);
		await page.mouse.down();
		await page.mouse.move(x(8), box.y + 10);
		await page.mouse.move(x(12.8), box.y + 10);
		await page.mouse.up();
		await answered(page, "No function certainly changed");
		await answered(page, "The two ranges overlap");
		assert.match(page.url(), new RegExp(`before=${rangeOf(0, BEFORE)}&after=${rangeOf(6, 13)}$`));
		assert.equal((await rowsOf(page)).length, 0);
		const address = page.url();
		await page.goto(address);
		await answered(page, "No function certainly changed");
		assert.equal(page.url(), address);
		assert.equal(await page.isVisible("button:text('Show these ranges only')"), false, "minutes are as fine as it gets");
		// The deploy's button is the way back.
		await page.click(".list button");
		await answered(page, "1 slower");
		assert.doesNotMatch(await page.textContent("#changes"), /overlap/);
		await page.click("a:text('Flame graph')");
		await page.waitForSelector("#band .chip");
		assert.match(decodeURIComponent(page.url()), new RegExp(`base=shop@${rangeOf(0, BEFORE)}&head=shop@${isoOf(BEFORE)}`));
	});
});

served("two versions in one minute, which has no two ranges, are compared by a link", async () => {
	await withPage(pageOf({}, "brief"), {}, async (page) => {
		await page.click(`#changes a:text("Compare 1 with 2")`);
		await page.waitForSelector("#band h2, #band strong");
		assert.equal(new URL(page.url()).searchParams.get("head"), `brief@${NEXT}`);
	});
	await withPage(pageOf({}, evil), {}, async (page) => answered(page, "One minute has no two ranges to compare."));
});

served("keys alone choose ranges and lead to the flame graph", async () => {
	await withPage(pageOf(), {}, async (page) => {
		await answered(page, "1 slower");
		const focus = () => page.evaluate(() => `${document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent}|${document.activeElement.closest(".lane")?.getAttribute("aria-labelledby") ?? ""}`);
		const seen = [];
		for (let i = 0; i < 12 && !seen.at(-1)?.startsWith("Flame graph"); i++) {
			await page.keyboard.press("Tab");
			seen.push(await focus());
			if (seen.at(-1) === "Start of the range|lane-after") for (let k = 0; k < 3; k++) await page.keyboard.press("ArrowRight");
		}
		assert.deepEqual(seen.slice(0, 6).map((text) => text.split("|")[1]), ["", "", "lane-before", "lane-before", "lane-after", "lane-after"], seen.join("\n"));
		assert.match(seen.at(-1), /^Flame graph/, seen.join("\n"));
		await until(page, (wanted) => location.search.includes(wanted), `after=${isoOf(BEFORE + 3)}`);
		await answered(page, "1 slower");
		await page.locator("#changes a").focus();
		await page.keyboard.press("Enter");
		await page.waitForSelector("#band .chip");
	});
});

served("a finger draws a range, and a touch beside it takes it back", async () => {
	const { drag } = require("./fingers.js");
	await withPage(pageOf(), { width: 390, height: 800, touch: true }, async (page) => {
		await answered(page, "1 slower");
		const box = await page.locator(".lane").nth(0).boundingBox();
		const at = (minute) => ({ x: box.x + (box.width * minute) / END, y: box.y + 12 });
		await drag(page, [at(END - 0.5), at(END - 6)]);
		await answered(page, "No function certainly changed");
		assert.match(page.url(), new RegExp(`before=[^&]*\\.\\.${isoOf(END)}`));
		await page.touchscreen.tap(at(1).x, at(1).y);
		await answered(page, "Select a range before");
		assert.doesNotMatch(page.url(), /before=/);
	});
});

served("one minute, an empty service, names that are markup, ranges with nothing in them", async () => {
	await withPage(pageOf({}, evil), { width: 390 }, async (page) => {
		await answered(page, "One minute has no two ranges");
		assert.equal(await page.textContent("h1"), evil);
		assert.equal(await page.locator("img, .lane").count(), 0);
		assert.deepEqual(await complaints(page), []);
	});
	await withPage(pageOf({ before: rangeOf(-60, -30), after: rangeOf(0, 10) }), {}, async (page) => {
		await answered(page, "no profiles with these labels in this time range");
		refused(page);
	});
	await withPage(pageOf({}, "nobody"), {}, async (page) => {
		await until(page, () => document.getElementById("time").textContent.includes("no such service"));
		refused(page);
	});
	await withPage(pageOf({ metric: "samples" }), {}, async (page) => {
		await answered(page, "1 slower");
		assert.match(await page.textContent("header p"), /, only metric samples$/);
		assert.match(page.url(), /metric=samples&before=/);
		assert.match(await page.getAttribute("#changes a", "href"), /&metric=samples$/);
	});
	await withPage(pageOf({ label: "region%3Deu" }), {}, async (page) => {
		await until(page, () => document.getElementById("time").textContent.includes("with these labels"));
		assert.match(await page.textContent("header p"), /, only region=eu$/);
		refused(page);
	});
	await withPage(server.url, { width: 390, theme: "dark", unready: true }, async (page) => {
		assert.equal(await page.locator("img").count(), 0);
		assert.deepEqual(await complaints(page), []);
		await page.click("h2 a:text('shop')");
		await page.waitForSelector("html[data-ready]");
		assert.equal(await page.textContent("h1"), "shop");
	});
});

served("of a long time buckets are longer; what is chosen can be seen by minute, and all of it again", async () => {
	const { buckets, seconds, versions } = await timelineOf("long");
	assert.ok(buckets === 334 && seconds === 30 * 60, `${buckets} of ${seconds} s`);
	assert.deepEqual(versions.map(({ points }) => points.length), [1, 2]);
	await withPage(pageOf({ before: rangeOf(0, 2), after: rangeOf(2, 4) }, "long"), {}, async (page) => {
		await answered(page, "Not judgedToo little data");
		assert.equal(await page.textContent(".head output"), "by 30 minutes");
		await page.click("button:text('Show these ranges only')");
		await until(page, () => document.querySelector(".head output").textContent === "by minute");
		assert.match(page.url(), new RegExp(`time=${rangeOf(0, 4)}`));
		assert.equal(await page.locator(".lane.chosen").count(), 2);
		await page.click("button:text('Show the whole time line')");
		await until(page, () => document.querySelector(".head output").textContent === "by 30 minutes");
		assert.doesNotMatch(page.url(), /time=/);
	});
});

served("a part of the store that does not answer is named above what the others have", async () => {
	await withPage(pageOf(), { unready: true }, async (page) => {
		await page.route("**/api/timeline*", async (route) => {
			const answer = await route.fetch();
			await route.fulfill({ response: answer, json: { ...await answer.json(), missing: `http://two:8123/${evil}` } });
		});
		await page.reload();
		await until(page, () => document.querySelector("#time [role=alert]"));
		assert.match(await page.textContent("#time [role=alert]"), /^http:\/\/two:8123\/.* does not respond; its data is missing\.$/);
		assert.ok(await page.locator(".band, svg").count() > 1);
		assert.equal(await page.locator("img").count(), 0);
	});
});
