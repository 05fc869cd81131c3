// SPDX-License-Identifier: MIT
// The strip of a recording's time, and ranges that are chosen on it: with a mouse, a finger, keys, a link.
"use strict";
const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { until, withPage } = require("./browser.js");
const { cliJson, newFile, profilePage, someProgram, writeText } = require("./pages.js");
const { test } = require("./tap.js");

// Three threads, by CPython's own profiler.
const recording = path.join(__dirname, "../data/tachyon/threads.bin");
let page_ = null;
function timedPage() {
	if (!page_) execFileSync(process.env.FIZEAU, ["replay", recording, "-o", (page_ = newFile(".html"))], { stdio: "ignore" });
	return page_;
}

const rangeOf = (page) => page.evaluate(() => fizeau.state.range);

// Costs of functions in a range: those of the page, and those of the command line for the same nanoseconds.
async function compareWithCommand(page, of = recording) {
	const { from, to, shown, all } = await page.evaluate(() => {
		const { costs, data, strip: { time }, state: { range } } = fizeau;
		const edge = (i) => String((BigInt(time.end) * BigInt(i)) / BigInt(time.buckets));
		const sums = {};
		data.functions.names.forEach((name, f) => {
			const key = `${name}\n${data.functions.files[data.functions.file[f]]}`;
			if (costs.total[1][f]) sums[key] = [costs.self[1][f], costs.total[1][f]];
		});
		return { from: edge(range[0]), to: edge(range[1]), shown: sums, all: fizeau.trees.straight().total[1][0] };
	});
	const json = cliJson("replay", of, "--from", `${from}ns`, "--to", `${to}ns`);
	const want = Object.fromEntries(json.functions.filter((f) => f.total).map((f) => [`${f.name}\n${f.file}`, [f.self, f.total]]));
	assert.deepEqual(shown, want);
	assert.equal(all, json.total);
	return json.total;
}

async function drag(page, from, to) {
	const box = await page.locator("#strip .tracks").boundingBox();
	const y = box.y + 12;
	await page.mouse.move(box.x + box.width * from, y);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * (from + to) / 2, y, { steps: 3 });
	await page.mouse.move(box.x + box.width * to, y, { steps: 3 });
	await page.mouse.up();
}

test("everything shows the dragged range: the same as replay --from --to, to the nanosecond", async () => {
	await withPage(timedPage(), {}, async (page) => {
		const whole = await page.evaluate(() => fizeau.trees.straight().total[1][0]);
		for (const [from, to] of [[0.2, 0.6], [0.7, 0.31], [0.6, 1.2]]) {
			await drag(page, from, to);
			const total = await compareWithCommand(page);
			assert.ok(total > 0 && total < whole);
			await page.click("#chips .chip");
			assert.equal(await rangeOf(page), null);
			assert.equal(await page.evaluate(() => fizeau.trees.straight().total[1][0]), whole);
		}
		await drag(page, 0.25, 0.5);
		assert.match(await page.innerText("#strip output"), /^[\d.]+ ms to [\d.]+ ms: [\d.]+ ms$/);
		await page.evaluate(() => fizeau.set({ tab: "table" }));
		assert.equal(await page.locator("#strip").isVisible(), true);
	});
});

test("a range's ends move by mouse and keys; a click outside removes it", async () => {
	await withPage(timedPage(), {}, async (page) => {
		await drag(page, 0.25, 0.5);
		const [from, to] = await rangeOf(page);
		await drag(page, to / 256, 0.75);
		assert.deepEqual((await rangeOf(page))[0], from);
		assert.ok(Math.abs((await rangeOf(page))[1] - 192) <= 1);
		// The whole range moves with a drag inside it.
		const before = await rangeOf(page);
		await drag(page, 0.4, 0.5);
		const after = await rangeOf(page);
		assert.equal(after[1] - after[0], before[1] - before[0]);
		assert.ok(after[0] > before[0]);
		await page.mouse.click(...await page.locator("#strip .tracks").boundingBox().then((b) => [b.x + 5 + b.width * 0.02, b.y + 12]));
		assert.equal(await rangeOf(page), null);
		const start = page.locator("#strip .handle.from"), end = page.locator("#strip .handle.to");
		await start.focus();
		for (const key of ["ArrowRight", "ArrowRight", "PageUp", "ArrowLeft"]) await page.keyboard.press(key);
		await end.focus();
		await page.keyboard.press("PageDown");
		assert.deepEqual(await rangeOf(page), [14, 243]);
		assert.equal(await start.getAttribute("aria-valuenow"), "14");
		assert.match(await end.getAttribute("aria-valuetext"), /ms$/);
		await compareWithCommand(page);
		await page.keyboard.press("Escape");
		assert.equal(await rangeOf(page), null);
		await page.keyboard.press("Home");
		assert.deepEqual(await rangeOf(page), [0, 1]);
	});
});

test("a link contains a range, with threads and rules too; a finger drags one", async () => {
	let link;
	await withPage(timedPage(), {}, async (page) => {
		await drag(page, 0.25, 0.5);
		const one = await page.evaluate(() => fizeau.trees.straight().total[1][0]);
		await page.locator("#strip button.label").nth(1).click();
		const less = await page.evaluate(() => fizeau.trees.straight().total[1][0]);
		assert.ok(less > 0 && less < one);
		await page.evaluate(() => fizeau.setRules([["work", "job"]]));
		assert.equal(await page.evaluate(() => fizeau.trees.straight().total[1][0]), less);
		link = await page.evaluate(() => location.hash.slice(1));
		assert.match(link, /time=\d+-\d+/);
	});
	await withPage(timedPage(), { hash: link }, async (page) => {
		assert.deepEqual(await rangeOf(page), [64, 128]);
		assert.equal(await page.locator("#chips .chip").count(), 3);
		for (const hash of ["time=9-1", "time=x", "time=0-99999999999999999"]) {
			await page.evaluate((text) => (location.hash = text), hash);
			await until(page, () => fizeau.state.range === null);
		}
	});
	await withPage(timedPage(), {}, async (page) => {
		const box = await page.locator("#strip .tracks").boundingBox();
		const touch = await page.context().newCDPSession(page);
		const at = (part) => [{ x: box.x + box.width * part, y: box.y + 12 }];
		await touch.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: at(0.2) });
		for (const part of [0.3, 0.45, 0.6]) await touch.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: at(part) });
		await touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
		const [from, to] = await rangeOf(page);
		assert.ok(Math.abs(from - 51) <= 1 && Math.abs(to - 154) <= 1, `${from} ${to}`);
		await compareWithCommand(page);
	});
});

test("tracks show the activity of threads: words at the pointer, and no strip without times", async () => {
	await withPage(timedPage(), {}, async (page) => {
		const { tracks, states } = await page.evaluate(() => fizeau.strip.time);
		assert.equal(await page.locator("#strip .label").count(), tracks.length);
		assert.equal(await page.evaluate(() => fizeau.strip.time.end > 0 && fizeau.strip.title()), await page.innerText("#strip strong"));
		const box = await page.locator("#strip .tracks").boundingBox();
		await page.mouse.move(box.x + box.width / 2, box.y + 8);
		const words = await page.innerText("#strip output");
		assert.ok(words.includes(tracks[0].label) && (words.includes("not running") || states.some((s) => words.includes(s))), words);
		// Every pixel column has a colour somewhere: the canvas is drawn.
		assert.ok(await page.evaluate(() => {
			const { canvas } = fizeau.strip, { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height - 20);
			return data.some((v) => v > 0);
		}));
	});
	await withPage(profilePage(someProgram(1)), {}, async (page) => assert.equal(await page.locator("#strip").isVisible(), false));
});

// A recording with a start time, and with marks at these fractions of it.
function markedPage(marks) {
	const jfr = path.join(__dirname, "../data/jfr/jdk17.jfr.gz"), gecko = newFile(".json"), out = newFile(".html");
	execFileSync(process.env.FIZEAU, ["replay", jfr, "--gecko", "-o", gecko], { stdio: "ignore" });
	const start = JSON.parse(fs.readFileSync(gecko, "utf8")).meta.startTime / 1000;
	const lasted = cliJson("replay", jfr).facts.duration_ns / 1e9;
	const log = writeText(marks.map(([part, text]) => `${(start + part * lasted).toFixed(6)} ${text}\n`).join(""));
	execFileSync(process.env.FIZEAU, ["replay", jfr, "--markers", log, "-o", out], { stdio: "ignore" });
	return { out, lasted };
}

test("threads with long names are told apart by their ends", async () => {
	for (const width of [1280, 390]) {
		await withPage(timedPage(), { viewport: { width, height: 800 } }, async (page) => {
			const ends = await page.evaluate(() => {
				fizeau.strip.time.tracks.forEach((track, i) => (track.label = `gunicorn 8949: ThreadPoolExecutor-0_${i}`));
				fizeau.strip.buildLabels();
				return [...document.querySelectorAll("#strip .label")].map((label) => {
					const end = label.querySelector(".parts > :last-child"), [box, room] = [end, label].map((e) => e.getBoundingClientRect());
					return box.right <= room.right + 1 && box.top < room.top + 2 ? end.textContent : "hidden";
				});
			});
			assert.ok(ends.length > 1);
			assert.deepEqual(ends, ends.map((_, i) => String(i)));
			const last = await page.evaluate(() => {
				fizeau.strip.time.tracks.forEach((track) => (track.threads = 1234));
				fizeau.strip.buildLabels();
				return document.querySelector("#strip .label .parts > :last-child").textContent;
			});
			assert.equal(last, "\u00a0× 1,234");
		});
	}
});

test("labels of close marks are in lanes, or ticks if they do not fit; all can be pressed", async () => {
	const marks = [...Array(6).keys()].map((i) => [0.4 + i / 500, `release number ${i}`]);
	const { out } = markedPage([...marks, [0.995, "the very end"]]);
	for (const width of [1280, 390]) {
		await withPage(out, { viewport: { width, height: 800 } }, async (page) => {
			const { boxes, tracks } = await page.evaluate(() => {
				const box = (e) => (({ left, top, right, bottom }) => ({ left, top, right, bottom }))(e.getBoundingClientRect());
				return { boxes: [...document.querySelectorAll("#strip .mark:not(.bare)")].map(box), tracks: box(document.querySelector("#strip .tracks")) };
			});
			assert.ok(boxes.length >= 4, `${boxes.length}`);
			boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) =>
				assert.ok(a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top, JSON.stringify([a, b]))));
			for (const { left, right } of boxes) assert.ok(left >= tracks.left - 1 && right <= tracks.right + 1);
			// The tracks begin below the lanes.
			const label = await page.locator("#strip .label").first().boundingBox();
			assert.ok(label.y >= Math.max(...boxes.map(({ bottom }) => bottom)) - 2);
			await page.locator("#strip .mark").nth(5).focus();
			await page.keyboard.press("Enter");
			assert.ok(Math.abs((await rangeOf(page))[0] - 0.41 * 256) <= 1);
		});
	}
});

test("marks are on the strip: a press selects the time to the next one", async () => {
	const parts = [1 / 4, 1 / 2], { out, lasted } = markedPage([[parts[0], "<b>deploy</b>"], [parts[1], "back"]]);
	const at = parts.map((part) => part * lasted);
	await withPage(out, {}, async (page) => {
		assert.deepEqual(await page.locator("#strip .mark").allInnerTexts(), ["<b>deploy</b>", "back"]);
		const whole = await page.evaluate(() => fizeau.trees.straight().total[1][0]);
		await page.locator("#strip .mark").first().click();
		const { range, end } = await page.evaluate(() => ({ range: fizeau.state.range, end: fizeau.strip.time.end }));
		for (const k of [0, 1]) assert.ok(Math.abs((range[k] / 256) * end - at[k] * 1e9) < end / 128, `${range} ${end}`);
		assert.ok(await page.evaluate(() => fizeau.trees.straight().total[1][0]) < whole);
		await page.locator("#strip .mark").last().focus();
		await page.keyboard.press("Enter");
		assert.equal((await rangeOf(page))[1], 256);
	});
});

test("a page of two ranges of one recording states that", async () => {
	const out = newFile(".html");
	execFileSync(process.env.FIZEAU, ["diff", recording, "--base-range", "0%-50%", "--head-range", "50%-", "-o", out], { stdio: "ignore" });
	await withPage(out, {}, async (page) => {
		assert.match(await page.innerText("#band"), /^Two ranges of one recording[^]*one time range per side/);
		assert.match(await page.innerText("#subtitle"), /threads\.bin 0%-50% → threads\.bin 50%-/);
		assert.equal(await page.locator("#strip").isVisible(), false);
	});
});

test("a page of one function's stacks is titled by the function", async () => {
	const out = newFile(".html");
	execFileSync(process.env.FIZEAU, ["replay", recording, "--root", "^threads$", "-o", out], { stdio: "ignore" });
	await withPage(out, {}, async (page) => {
		assert.equal(await page.innerText("#subtitle"), "threads · threads.bin");
		assert.equal(await page.title(), "threads · threads.bin · Flame graph");
		await page.evaluate(() => fizeau.set({ tab: "source" }));
		assert.equal(await page.title(), "threads · threads.bin · Source");
	});
});

test("of a call that straddles the edge of a range, its part inside counts: as on the command line", async () => {
	const events = [["O", 0, 0], ["O", 10, 1], ["C", 61.7, 1], ["C", 100, 0]].map(([type, at, frame]) => ({ type, at, frame }));
	const file = writeText(JSON.stringify({ shared: { frames: [{ name: "main" }, { name: "long" }] }, profiles: [{ type: "evented", name: "t", unit: "milliseconds", startValue: 0, endValue: 100, events }] }), ".json");
	const html = newFile(".html");
	execFileSync(process.env.FIZEAU, ["replay", file, "-o", html], { stdio: "ignore" });
	await withPage(html, {}, async (page) => {
		await drag(page, 0.3, 0.7);
		assert.ok(await compareWithCommand(page, file) > 39e6);
		await drag(page, 0.05, 0.2);
		await compareWithCommand(page, file);
	});
});

test("phase changes of a program are marked: a press selects from there, and shows how to compare", async () => {
	const names = ["main", "parse", "encode", "check"], samples = [];
	for (let i = 0; i < 2000; i++) samples.push([0, i < 800 ? [1, 1, 1, 3][i % 4] : [2, 2, 3][i % 3]]);
	const file = writeText(JSON.stringify({ shared: { frames: names.map((name) => ({ name })) }, profiles: [{ type: "sampled", name: "t", unit: "milliseconds", startValue: 0, endValue: 2000, samples, weights: samples.map(() => 1) }] }), ".json");
	const html = newFile(".html");
	execFileSync(process.env.FIZEAU, ["replay", file, "-o", html], { stdio: "ignore" });
	await withPage(html, {}, async (page) => {
		const change = page.locator("#strip .change");
		assert.equal(await change.count(), 1);
		assert.equal(await change.innerText(), "→ encode");
		assert.match(await change.getAttribute("title"), /encode 0 % → 6[67] %, parse 75 % → 0 %/);
		await change.click();
		const [from, to] = await rangeOf(page);
		assert.ok(Math.abs(from - 102.4) <= 1 && to === 256, `${from} ${to}`);
		const said = await page.innerText("#hint"), shown = execFileSync(process.env.FIZEAU, ["show", file], { encoding: "utf8" });
		const command = shown.match(/^ {2}fizeau diff \S+ (--base-range .*)$/m);
		assert.ok(command && said.endsWith(command[1]), `${said}\n${shown}`);
		const told = execFileSync(process.env.FIZEAU, ["diff", file, ...command[1].split(" ")], { encoding: "utf8" });
		assert.match(told, /encode/);
	});
	// The same all the time: nothing is marked.
	await withPage(timedPage(), {}, async (page) => assert.equal(await page.locator("#strip .change").count(), 0));
});

test("no two things on the strip have one colour, in either theme", async () => {
	for (const theme of ["light", "dark"])
		await withPage(timedPage(), { theme }, async (page) => {
			const colours = await page.evaluate(() => ["0", "1", "2", "3", "4", "5", "missed"].map((name) => {
				const key = document.createElement("i");
				key.className = `state-${name}`;
				document.getElementById("strip").append(key);
				return getComputedStyle(key).backgroundColor;
			}));
			assert.equal(new Set(colours).size, colours.length, `${theme}: ${colours}`);
		});
});
