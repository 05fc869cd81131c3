#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// Opens one page in Chromium and measures it; prints JSON. bench/browser.py explains the figures.
//
//   measure.js fizeau PAGE.html          our page
//   measure.js d3 PAGE.html DATA.html    our page's tree in d3-flame-graph; DATA.html is written
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { chromium } = require("playwright-core");

const candidates = [process.env.FZ_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const HOVERS = 40, PAN_MS = 1000, CHUNK = 4 << 20, PATIENCE = 300000;

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
	fs.writeSync(out, `<!doctype html><meta charset="utf-8"><style>${dist("d3-flame-graph/dist/d3-flamegraph.css")}</style><div id="chart"></div>
<script>${dist("d3/dist/d3.min.js")}</script><script>${dist("d3-flame-graph/dist/d3-flamegraph.umd.min.js")}</script><script>const data = `);
	const length = await page.evaluate(treeAsJson);
	for (let at = 0; at < length; at += CHUNK)
		fs.writeSync(out, await page.evaluate(([from, to]) => globalThis.json.slice(from, to), [at, at + CHUNK]));
	fs.writeSync(out, `;
const make = globalThis.flamegraph.flamegraph ?? globalThis.flamegraph.default ?? globalThis.flamegraph;
const chart = make().width(innerWidth - 20).minFrameSize(1).transitionDuration(0).setColorMapper((d) => (d.data.delta > 0 ? "#e2685c" : "#4c90f2"));
d3.select("#chart").datum(data).call(chart);
document.documentElement.dataset.ready = "1";
</script>`);
	fs.closeSync(out);
}

// ---- measuring, in the page ----

// There before the page is.
function helpers() {
	globalThis.drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
	// When the page is drawn that says it is ready.
	globalThis.readyAt = new Promise((done) => {
		const watch = new MutationObserver(() => {
			watch.disconnect();
			drawn().then(() => done(performance.now()));
		});
		watch.observe(document, { attributeFilter: ["data-ready"], subtree: true });
	});
	// The time until what `act` changed has been drawn.
	globalThis.timed = async (act) => {
		await drawn();
		const begin = performance.now();
		await act();
		await drawn();
		return performance.now() - begin;
	};
	// Pointer moves over the picture, from side to side; the longest wait.
	globalThis.hovered = async (target, type, count) => {
		const box = target.getBoundingClientRect();
		let longest = 0;
		for (let k = 0; k < count; k++) {
			const x = box.left + box.width * (k + 0.5) / count, y = box.top + 30 + (k % 8) * 20;
			const under = type === "pointermove" ? target : document.elementFromPoint(x, y) ?? target;
			const begin = performance.now();
			under.dispatchEvent(new PointerEvent(type, { clientX: x, clientY: y, bubbles: true }));
			await new Promise(requestAnimationFrame);
			longest = Math.max(longest, performance.now() - begin);
		}
		return longest;
	};
	globalThis.readyTime = () => {
		const paint = performance.getEntriesByName("first-contentful-paint")[0];
		return paint ? paint.startTime : performance.now();
	};
}

async function measureFizeau([hovers, panTime]) {
	const app = fizeau, { flame } = app;
	const result = { nodes: app.data.n - 1 };
	const widest = () => {
		const { tree, w } = flame.picture;
		let best = 1;
		for (let i = 1; i < tree.n; i++) if (tree.depth[i] === 3 && (tree.depth[best] !== 3 || w[i] > w[best])) best = i;
		return best;
	};
	const term = app.data.functions.names[Math.min(50, app.data.functions.n - 1)].slice(0, 6);
	const node = widest(), path = [];
	for (let i = node; i > 0; i = flame.picture.tree.parent[i]) path.unshift(flame.picture.tree.func[i]);
	result.zoom = await timed(() => app.zoomTo(path));
	result.unzoom = await timed(() => app.zoomTo([]));
	result.search = await timed(() => app.finder.search(term));
	await timed(() => app.finder.search(""));
	result.hover = await hovered(flame.canvas, "pointermove", hovers);
	const begin = performance.now(), span = flame.span;
	let frames = 0;
	for (; performance.now() - begin < panTime; frames++) {
		flame.span = span / 4;
		flame.left = (span * 0.75 * ((performance.now() - begin) / panTime));
		flame.draw();
		await new Promise(requestAnimationFrame);
	}
	result.fps = frames / ((performance.now() - begin) / 1000);
	flame.setFocus(0, false);
	const views = {
		union: { layout: "union" }, delta: { layout: "delta" }, base: { layout: "base" }, head: { layout: "head" }, elided: { elided: true },
		callers: { elided: false, inverted: true }, upright: { inverted: false }, sandwich: { tab: "sandwich" }, table: { tab: "table" }, flame: { tab: "flame" },
	};
	for (const [name, change] of Object.entries(views)) result[name] = await timed(() => app.set(change));
	return result;
}

async function measureD3([hovers]) {
	const root = d3.select("#chart").datum();
	const find = (d, depth) => (depth === 0 || !d.children?.length ? d : find(d.children.reduce((a, b) => (b.value > a.value ? b : a)), depth - 1));
	return {
		zoom: await timed(() => chart.zoomTo(find(root, 3))),
		unzoom: await timed(() => chart.resetZoom()),
		search: await timed(() => chart.search(data.children[0].name.slice(0, 6))),
		hover: await timed(() => chart.clear()) && await hovered(document.querySelector("#chart svg"), "mouseover", hovers),
	};
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

async function opened(browser, file) {
	const page = await browser.newPage({ viewport: { width: 1600, height: 1000 }, reducedMotion: "reduce" });
	page.setDefaultTimeout(PATIENCE);
	await page.addInitScript(helpers);
	await page.goto(`file://${path.resolve(file)}`, { waitUntil: "commit" });
	const ready = await page.evaluate(() => readyAt);
	return { page, opening: { paint: await page.evaluate(() => readyTime()), ready, memory: await rendererMemory(browser), size: fs.statSync(file).size / 1e6 } };
}

async function main() {
	const [kind, file, data] = process.argv.slice(2);
	const executablePath = candidates.find((name) => name && fs.existsSync(name));
	if (!executablePath) throw new Error("no Chromium");
	const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
	const browser = await chromium.launch({ executablePath, args });
	try {
		if (kind === "d3" && !fs.existsSync(data)) {
			const { page } = await opened(browser, file);
			await writeD3(page, data);
			await page.close();
		}
		const { page, opening } = await opened(browser, kind === "d3" ? data : file);
		const acts = await page.evaluate(kind === "d3" ? measureD3 : measureFizeau, [HOVERS, PAN_MS]);
		console.log(JSON.stringify({ ...opening, ...acts, version: browser.version() }));
	} finally {
		await browser.close();
	}
}

main().catch((error) => {
	console.error(String(error.message).split("\n")[0]);
	process.exit(1);
});
