#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// Opens one page in Chromium and measures it; prints JSON. bench/browser.py explains the figures.
//
//   measure.js fizeau PAGE.html               our page
//   measure.js d3 PAGE.html DATA.html         our page's tree in d3-flame-graph; DATA.html is written
//   measure.js answer PAGE.html               how long until the verdict stands on our page, no more
//   measure.js speedscope FILE.json DATA.js   a speedscope file; DATA.js is written, as by its program
//
// What all of them can do is done with a real mouse and real keys, and timed in the page: from the
// input's own time stamp until two frames after what it had to change.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { chromium } = require("playwright-core");

const candidates = [process.env.FZ_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const HOVERS = 40, DRAGS = 120, CHUNK = 4 << 20, PATIENCE = 300000;

// ---- d3's page of the same tree ----

// The tree as d3-flame-graph wants it, in JSON, left in the page to be fetched piece by piece.
function treeAsJson() {
	const { tree, w } = fizeau.flame.picture, { names } = fizeau.data.functions;
	const [base, head] = tree.total, parts = [], open = [];
	for (let i = 0; i < tree.n; i++) {
		while (open.length && tree.end[open.at(-1)] <= i) {
			parts.push("]}");
			open.pop();
		}
		if (i > 0 && i !== tree.parent[i] + 1) parts.push(",");
		parts.push(`{"name":${JSON.stringify(i ? names[tree.func[i]] : "all")},"value":${w[i]},"delta":${head[i] - base[i] * fizeau.data.factor},"children":[`);
		open.push(i);
	}
	parts.push("]}".repeat(open.length));
	globalThis.json = parts.join("");
	return globalThis.json.length;
}

function dist(name) {
	return fs.readFileSync(path.join(__dirname, "node_modules", name), "utf8");
}

async function writeD3(page, file) {
	const out = fs.openSync(file, "w");
	fs.writeSync(out, `<!doctype html><meta charset="utf-8"><style>${dist("d3-flame-graph/dist/d3-flamegraph.css")}</style><input id="query"> <span id="found"></span><div id="chart"></div>
<script>${dist("d3/dist/d3.min.js")}</script><script>${dist("d3-flame-graph/dist/d3-flamegraph.umd.min.js")}</script><script>const data = `);
	const length = await page.evaluate(treeAsJson);
	for (let at = 0; at < length; at += CHUNK)
		fs.writeSync(out, await page.evaluate(([from, to]) => globalThis.json.slice(from, to), [at, at + CHUNK]));
	fs.writeSync(out, `;
const make = globalThis.flamegraph.flamegraph ?? globalThis.flamegraph.default ?? globalThis.flamegraph;
const chart = make().width(innerWidth - 20).minFrameSize(1).transitionDuration(0).setColorMapper((d) => (d.data.delta > 0 ? "#e2685c" : "#4c90f2"));
chart.setSearchHandler((found) => (document.getElementById("found").textContent = found.length + " found"));
d3.select("#chart").datum(data).call(chart);
document.getElementById("query").addEventListener("input", (event) => chart.search(event.target.value));
document.documentElement.dataset.ready = "1";
</script>`);
	fs.closeSync(out);
}

// Speedscope's program writes such a script beside its own page, which loads it.
function writeSpeedscope(file, target) {
	const text = fs.readFileSync(file).toString("base64");
	fs.writeFileSync(target, `speedscope.loadFileFromBase64(${JSON.stringify(path.basename(file))}, ${JSON.stringify(text)})`);
}

// ---- measuring, in the page ----

// There before the page is.
function helpers() {
	globalThis.drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
	// When it holds; looked at in each frame.
	globalThis.until = async (holds) => {
		while (!holds()) await new Promise(requestAnimationFrame);
	};
	// The time until what `act` changed has been drawn.
	globalThis.timed = async (act) => {
		await drawn();
		const begin = performance.now();
		await act();
		await drawn();
		return performance.now() - begin;
	};
	// The time from an event to come until what it changes has been drawn; `has` says that it did.
	globalThis.answer = (type, has = () => true) => {
		globalThis.answered = new Promise((done) => addEventListener(type, async (event) => {
			await globalThis.until(has);
			await drawn();
			done(performance.now() - event.timeStamp);
		}, { capture: true, once: true }));
	};
	// Times between frames until stopFrames().
	globalThis.startFrames = () => {
		globalThis.gaps = [];
		let last = performance.now();
		const step = (now) => {
			globalThis.gaps.push(now - last);
			last = now;
			globalThis.stepping = requestAnimationFrame(step);
		};
		globalThis.stepping = requestAnimationFrame(step);
	};
	globalThis.stopFrames = () => {
		cancelAnimationFrame(globalThis.stepping);
		return globalThis.gaps.slice(1).sort((a, b) => a - b);
	};
}

// The verdict, at the top of our page.
const hasAnswer = () => Boolean(document.querySelector("#band:not([hidden]) strong")?.getClientRects().length);

// Where the widest frame of the fourth row is, and what of its name to search for.
function findOurs() {
	const { flame } = fizeau, { tree, w } = flame.picture;
	let best = 1;
	for (let i = 1; i < tree.n; i++) if (tree.depth[i] === 3 && (tree.depth[best] !== 3 || w[i] > w[best])) best = i;
	const box = flame.boxOf(best), canvas = flame.canvas.getBoundingClientRect();
	return { x: canvas.left + (box.left + box.right) / 2, y: canvas.top + box.top + 8, nodes: fizeau.data.n - 1 };
}

function findD3() {
	const of = (g) => Number(g.getAttribute("width"));
	const row = [...document.querySelectorAll("#chart g.frame")].filter((g) => d3.select(g).datum().depth === 3);
	const { left, width, top } = row.reduce((a, b) => (of(b) > of(a) ? b : a)).getBoundingClientRect();
	return { x: left + width / 2, y: top + 8 };
}

// Only it knows its frames: the heaviest of each row is the leftmost there.
function findSpeedscope() {
	const { left, top } = [...document.querySelectorAll("canvas")].at(-1).getBoundingClientRect();
	return { x: left + 30, y: top + 20 * 3 + 10 };
}

// In one of fifty frames: of many more d3-flame-graph's search overflows its stack.
const searched = "work_49";
const kinds = {
	fizeau: {
		ready: () => document.documentElement.dataset.ready === "1", area: "#canvas", find: findOurs, zoom: "click",
		search: () => document.getElementById("query").focus(), found: () => document.getElementById("found").textContent.includes("function"),
		pans: true,
	},
	d3: {
		ready: () => document.documentElement.dataset.ready === "1", area: "#chart svg", find: findD3, zoom: "click",
		search: () => document.getElementById("query").focus(), found: () => document.getElementById("found").textContent !== "",
	},
	speedscope: {
		// Its bar has the profile's name, and a picture each for the whole and the part.
		ready: () => document.title.endsWith("speedscope") && document.querySelectorAll("canvas").length === 3,
		area: "canvas >> nth=-1", find: findSpeedscope, zoom: "dblclick",
		keys: "Control+f", found: () => /\/[1-9]/.test(document.querySelector("input")?.parentElement.nextSibling.textContent),
		pans: true,
	},
};

// Views that only our page has.
async function measureViews() {
	const views = {
		union: { layout: "union" }, delta: { layout: "delta" }, base: { layout: "base" }, head: { layout: "head" }, elided: { elided: true },
		callers: { elided: false, inverted: true }, upright: { inverted: false }, sandwich: { tab: "sandwich" }, table: { tab: "table" }, flame: { tab: "flame" },
	}, result = {};
	for (const [name, change] of Object.entries(views)) result[name] = await timed(() => fizeau.set(change));
	return result;
}

// ---- measuring, from outside, with a real mouse and keys ----

const frame = (page) => page.evaluate(() => new Promise(requestAnimationFrame));

// Milliseconds of CPU of the page's main thread for one of `count` acts.
async function cpuOf(page, count, act) {
	const session = await page.context().newCDPSession(page);
	const spent = async () => (await session.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value * 1000;
	await session.send("Performance.setTimeDomain", { timeDomain: "threadTicks" });
	await session.send("Performance.enable");
	await frame(page);
	const begin = await spent();
	for (let k = 0; k < count; k++) await act(k);
	const used = (await spent()) - begin;
	await session.detach();
	return used / count;
}

// The time from the event that `act` causes until its answer is drawn.
async function answerTo(page, type, act, has) {
	await page.evaluate(`answer("${type}", ${has ?? "undefined"})`);
	await act();
	return page.evaluate(() => globalThis.answered);
}

const part = (sorted, share) => sorted[Math.floor(share * (sorted.length - 1))];
const sort = (values) => values.sort((a, b) => a - b);

async function measureActs(page, kind) {
	const { nodes, x, y } = await page.evaluate(kind.find);
	const result = { nodes };
	const box = await page.locator(kind.area).first().boundingBox();
	const at = (k) => [box.x + box.width * (k + 0.5) / HOVERS, box.y + 30 + (k % 8) * 20];
	const moves = [];
	result.hoverCpu = await cpuOf(page, HOVERS, async (k) => {
		moves.push(await answerTo(page, "pointermove", () => page.mouse.move(...at(k))));
	});
	sort(moves);
	Object.assign(result, { hover: part(moves, 0.5), hoverMost: moves.at(-1) });

	await page.mouse.move(x, y);
	result.zoom = await answerTo(page, kind.zoom, () => (kind.zoom === "click" ? page.mouse.click(x, y) : page.mouse.dblclick(x, y)));
	if (kind.keys) await page.keyboard.press(kind.keys);
	else await page.evaluate(kind.search);
	await page.evaluate(() => drawn());
	result.search = await answerTo(page, "input", () => page.keyboard.insertText(searched), kind.found);
	if (kind.pans) Object.assign(result, await measurePan(page, box));
	return result;
}

// A drag across a magnified picture: times between frames, and CPU for a move.
async function measurePan(page, box) {
	const y = box.y + 200, middle = box.x + box.width / 2;
	await page.mouse.move(middle, y);
	await page.keyboard.down("Control");
	for (let k = 0; k < 3; k++) await page.mouse.wheel(0, -120);
	await page.keyboard.up("Control");
	await page.evaluate(() => drawn());
	await page.mouse.down();
	await page.evaluate(() => globalThis.startFrames());
	const panCpu = await cpuOf(page, DRAGS, (k) => page.mouse.move(middle + 300 * Math.sin(k / 12), y));
	const gaps = await page.evaluate(() => globalThis.stopFrames());
	await page.mouse.up();
	return { panCpu, fps: 1000 * gaps.length / gaps.reduce((a, b) => a + b, 0), pan: part(gaps, 0.95) };
}

// ---- opening ----

// MB that the page's process has in memory.
async function rendererMemory(browser) {
	const session = await browser.newBrowserCDPSession();
	const { processInfo } = await session.send("SystemInfo.getProcessInfo");
	const sizes = processInfo.filter((p) => p.type === "renderer").map(({ id }) => {
		try {
			return Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${id}/status`, "utf8"))[1]) / 1024;
		} catch {
			return 0;
		}
	});
	return Math.max(...sizes);
}

async function opened(browser, kind, file, hash = "") {
	const page = await browser.newPage({ viewport: { width: 1600, height: 1000 }, reducedMotion: "reduce" });
	page.setDefaultTimeout(PATIENCE);
	page.on("pageerror", (error) => {
		console.error(`the page failed: ${error.message}`);
		process.exit(1);
	});
	await page.addInitScript(helpers);
	await page.goto(`file://${path.resolve(file)}${hash}`, { waitUntil: "commit" });
	const ready = await page.evaluate(`until(${kind.ready}).then(drawn).then(() => performance.now())`);
	const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? performance.now());
	return { page, opening: { paint, ready, memory: await rendererMemory(browser) } };
}

// How long until the verdict stands there: two frames after it is part of the page.
async function measureAnswer(browser, file) {
	const page = await browser.newPage({ viewport: { width: 1600, height: 1000 }, reducedMotion: "reduce" });
	await page.addInitScript(helpers);
	await page.goto(`file://${path.resolve(file)}`, { waitUntil: "commit" });
	const answer = await page.evaluate(`until(${hasAnswer}).then(drawn).then(() => performance.now())`);
	return { answer, nodes: await page.evaluate(() => fizeau.data.n - 1) };
}

async function main() {
	const [name, file, target] = process.argv.slice(2), kind = kinds[name];
	const executablePath = candidates.find((program) => program && fs.existsSync(program));
	if (!executablePath) throw new Error("no Chromium");
	// WebGL, which speedscope draws with, is done by the processor, as all other drawing is.
	const args = ["--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run", "--disable-background-networking"];
	const browser = await chromium.launch({ executablePath, args });
	try {
		if (name === "answer") {
			console.log(JSON.stringify(await measureAnswer(browser, file)));
			return;
		}
		if (target && !fs.existsSync(target)) {
			if (name === "speedscope") {
				writeSpeedscope(file, target);
			} else {
				const { page } = await opened(browser, kinds.fizeau, file);
				await writeD3(page, target);
				await page.close();
			}
		}
		const { page, opening } = name === "speedscope" ?
			await opened(browser, kind, path.join(__dirname, "node_modules/speedscope/dist/release/index.html"), `#view=left-heavy&localProfilePath=${path.resolve(target)}`) :
			await opened(browser, kind, target ?? file);
		opening.size = fs.statSync(name === "d3" ? target : file).size / 1e6;
		const acts = await measureActs(page, kind);
		const views = name === "fizeau" ? await page.evaluate(measureViews) : {};
		console.log(JSON.stringify({ ...opening, ...acts, ...views, version: browser.version() }));
	} finally {
		await browser.close();
	}
}

main().catch((error) => {
	console.error(String(error.message).split("\n")[0]);
	process.exit(1);
});
