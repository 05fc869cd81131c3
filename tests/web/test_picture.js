// SPDX-License-Identifier: MIT
// A picture (`-o x.svg`, and that of `-o x.md`) has exactly the frames of the page: folded by the same
// rules, called the same, in the same colours. JSON and the page have the same verdicts.
"use strict";
const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { withPage } = require("./browser.js");
const { judgedRuns } = require("./judged.js");
const { newFile, random, withWatching, writeProfile, writeText } = require("./pages.js");
const { test } = require("./tap.js");

const WIDTH = 1176, NARROWEST = 0.8, ROW = 18; // src/report/svg.c
const entities = { lt: "<", gt: ">", quot: "\"", "#39": "'", amp: "&" };

// Paths of names of the picture's frames, each with its class of colour: a frame is below the last one
// of the row above that begins no further right.
function framesOfSvg(text) {
	const rows = new Map(), frames = [];
	for (const [, title, colour, x, y, hatch] of text.matchAll(/<g><title>([^<]*)<\/title><rect class="c(\d+)[^"]*" x="([\d.]+)" y="([\d.]+)"[^>]*>(<path class="h[ld]")?/g)) {
		const name = title.split("\n")[0].replace(/&(\w+|#39);/g, (_, e) => entities[e]);
		const above = rows.get(Number(y) - ROW) ?? [];
		const up = above.filter((f) => f.x <= Number(x) + 0.02).at(-1);
		const frame = { x: Number(x), path: `${up ? up.path : ""}|${name}` };
		rows.set(Number(y), [...(rows.get(Number(y)) ?? []), frame]);
		frames.push(`${frame.path} = ${colour}${hatch ? " hatched" : ""}`);
	}
	return frames.sort();
}

// The same of the page, of what is as wide as the picture draws it: what there is, and what is gone.
function framesOfPage(page) {
	return page.evaluate(([width, narrowest]) => {
		const { data, flame } = fizeau;
		const walk = ({ tree, w, all, what }) => {
			const paths = [""], out = [];
			for (let i = 1; i < tree.n; i++) {
				if (paths[tree.parent[i]] === undefined || w[i] * width / all < narrowest) continue;
				paths[i] = `${paths[tree.parent[i]]}|${$$folds.frameName(data, tree, i, data.functions.names[tree.func[i]])}`;
				const colour = $$frame_colour.nodeClass(tree, i, what);
				out.push(`${paths[i]} = ${$$colors.solidOf(colour)}${$$colors.isTogether(colour) ? " hatched" : ""}`);
			}
			return out.sort();
		};
		const gone = fizeau.model.removedAside(flame.picture.what);
		return [walk(flame.picture), gone?.all > 0 ? walk(gone.picture) : []];
	}, [WIDTH, NARROWEST]);
}

async function compare(args) {
	const [html, svg] = [".html", ".svg"].map((suffix) => {
		const file = newFile(suffix);
		execFileSync(process.env.FIZEAU, [...args, "-o", file], { stdio: ["ignore", "ignore", "pipe"] });
		return file;
	});
	const drawn = fs.readFileSync(svg, "utf8").split(">Gone ·").map(framesOfSvg);
	let text = "";
	await withPage(html, {}, async (page) => {
		const shown = await framesOfPage(page);
		assert.deepEqual(drawn[0], shown[0]);
		assert.deepEqual(drawn[1] ?? [], shown[1]);
		text = shown.flat().join("\n");
	});
	return { text, listed: fs.readFileSync(svg, "utf8").split(">Significant changes")[1] ?? "" };
}

// ---- pairs ----

const boot = (name) => ({ name, file: "/usr/lib/python3.11/importlib/_bootstrap.py", line: 9 });
const codeOf = (file) => ({ name: "<module>", file, line: 1 });
const code = (name, file = "/srv/app/main.py") => ({ name, file, line: 5 });
const imported = (...files) => files.flatMap((file) => [boot("_find_and_load"), boot("_load_unlocked"), codeOf(file)]);
const json = "/usr/lib/python3.11/json/__init__.py", certifi = "/usr/lib/python3/dist-packages/certifi/core.py";

// Imports, calls of many functions of which each run has some, what costs nothing, what certainly is new.
function run(side, seed) {
	const next = random(seed), main = codeOf("/srv/app/main.py"), work = code("work"), samples = [];
	const add = (count, ...stack) => samples.push({ tid: 1, stack, count });
	add(300, main, work);
	add(20, main, ...imported(json), code("loads", json));
	add(9, ...imported("/usr/lib/python3.11/site.py"));
	add((side ? 90 : 12) + Math.floor(next() * 3), main, boot("_find_and_load"), boot("_find_spec"));
	if (side) add(200 + Math.floor(next() * 9), main, work, code("added"));
	else add(150 + Math.floor(next() * 9), main, code("dropped"), code("inner"));
	for (let k = 0; k < 60; k++) {
		const rare = code(`rare_${k}`, `/srv/app/part_${k % 4}.py`), count = Math.floor(next() * 4);
		add(next() < 0.5 ? 0 : count, main, work, rare);
		if (!side) add(count % 2, main, code("dropped"), rare);
		add(next() < 0.5 ? 0 : count, main, ...imported(json, certifi), rare, code("deep"));
		if (k % 6 === 0) add(0, main, code(`gone_${side}_${k}`), code("never"));
		add(next() < 0.3 ? 1 : 0, main, ...imported(json), ...imported(`/usr/lib/python3.11/late_${k}.py`));
	}
	return writeProfile(samples);
}

const madeUp = [0, 1].map((side) => [1, 2, 3, 4].map((k) => run(side, 10 * side + k)));

test("a picture has the frames of the page: imports, noise, frames without cost", async () => {
	const { text, listed } = await compare(["diff", ...madeUp[0], "::", ...madeUp[1], "--scale", "time"]);
	for (const what of ["|import json|import certifi.core|not sampled", "finding modules", "not sampled again (", "not sampled before (", "|work|added"])
		assert.ok(text.includes(what), `${what} in\n${text}`);
	assert.ok(listed.includes("added") && !listed.includes("_find_spec"), listed);
});

// busy is called on another way, helper too and much less; nothing else changed.
function runOfWays(side, seed) {
	const next = random(seed), main = codeOf("/srv/app/main.py"), samples = [];
	const add = (count, ...names) => samples.push({ tid: 1, stack: [main, ...names.map((name) => code(name))], count: count + Math.floor(next() * 9) });
	for (const way of ["first", "second", "third", "fourth"]) add(60, way);
	add(200, side ? "second" : "first", "busy");
	add(200, side ? "second" : "first", "busy", "inner");
	if (side) add(8, "fourth", "helper");
	else add(150, "third", "helper");
	return writeProfile(samples);
}

test("JSON, the picture of a markdown report and the page agree on verdicts and colours", async () => {
	const args = judgedRuns(), [html, md] = [".html", ".md"].map(newFile);
	for (const file of [html, md]) execFileSync(process.env.FIZEAU, [...args, "-o", file], { stdio: ["ignore", "ignore", "pipe"] });
	const drawn = framesOfSvg(fs.readFileSync(`${md}.svg`, "utf8").split(">Gone ·")[0]);
	const judged = JSON.parse(execFileSync(process.env.FIZEAU, [...args, "--format", "json", "-o", "-"], { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }));
	await withPage(html, {}, async (page) => {
		const [shown] = await framesOfPage(page);
		assert.ok(drawn.length > 4);
		assert.deepEqual(drawn.filter((frame) => !shown.includes(frame)), []);
		const words = await page.evaluate(() => {
			const { functions, verdicts } = fizeau.data;
			return functions.names.slice(0, functions.n).map((name, f) => [name, verdicts.self.word[f], verdicts.total.word[f]]);
		});
		const codes = ["unknown", "unchanged", "changed"];
		for (const f of judged.functions) assert.ok(words.some(([name, self, total]) => name === f.name &&
			codes[self] === f.self_verdict && codes[total] === f.total_verdict), JSON.stringify([f.name, f.self_verdict, f.total_verdict]));
	});
});

test("a picture draws the same code beside the head as the page: saved code, not code called by another path now", async () => {
	const [base, head] = [0, 1].map((side) => [1, 2, 3, 4].map((k) => runOfWays(side, 20 * side + k)));
	const args = ["diff", ...base, "::", ...head, "--scale", "time"];
	await compare(args);
	await compare([...args, "--palette", "tachyon"]);
	const file = newFile(".html");
	execFileSync(process.env.FIZEAU, [...args, "-o", file], { stdio: ["ignore", "ignore", "pipe"] });
	await withPage(file, {}, async (page) => {
		const [, aside] = await framesOfPage(page);
		assert.deepEqual(aside.map((frame) => frame.split(" = ")[0]), ["|<module>", "|<module>|third", "|<module>|third|helper"]);
		await page.keyboard.press("e");
		const [all] = await framesOfPage(page);
		assert.ok(all.some((frame) => frame.startsWith("|<module>|first =")), "the switch Gone has all paths that are gone");
	});
});

test("a picture has the frames of the page: of moved, renamed and wrapped functions, in CPython's colours, of one side", async () => {
	const { text } = await compare(judgedRuns());
	assert.match(text, /cached/);
	await compare(judgedRuns(["--palette", "tachyon"]));
	await compare(["replay", madeUp[0][0]]);
});

test("a picture has the frames of the page: two programs that were recorded now", async () => {
	// What is imported lasts until there are samples of it.
	const lasting = path.basename(writeText("from watching import LASTING\nexec(LASTING)\nlast()\n", ".py"), ".py");
	const scripts = ["import json, email.message, html\n", "import json, http.client, decimal\n"].map((line, k) => writeText(
		`${line}__import__("${lasting}")\ndef work(n): return json.dumps(list(range(n)))\ndef more(n): return sorted(str(i) for i in range(n))\nfor i in range(${300 + 100 * k}): work(1500); ${k ? "more(500)" : ""}\n`, ".py"));
	const recordings = scripts.map((script) => {
		const file = newFile(".fz");
		execFileSync(process.env.FIZEAU, ["run", "-r", "5khz", "-o", file, "--", "python3", script], { stdio: ["ignore", "ignore", "pipe"], env: withWatching });
		return file;
	});
	assert.match((await compare(["diff", ...recordings, "--force"])).text, /import|interpreter start-up/);
});

test("a picture has the frames of the page: two recordings of CPython's profiler, and a real pair where there is one", async () => {
	const data = path.join(__dirname, "../data/tachyon-diff");
	await compare(["diff", path.join(data, "base.bin"), path.join(data, "head.bin"), "--force"]);
	const pair = path.join(process.env.FZ_SHARED ?? "", "profiles/pairs/aa_ab");
	if (fs.existsSync(pair)) await compare(["diff", ...["A", "B"].map((side) => path.join(pair, `tachyon_wall_${side}/01.bin`)), "--force"]);
});

// Two modules import first what the main module imports itself in the head.
function runOfImports(side, seed) {
	const next = random(seed), main = codeOf("/srv/app/main.py"), samples = [];
	const add = (count, ...stack) => samples.push({ tid: 1, stack: [main, ...stack], count: count + Math.floor(next() * 5) });
	const modules = (...names) => imported(...names.map((name) => `/srv/app/${name}.py`)).filter(({ name }) => name !== "_load_unlocked");
	add(300, code("work"));
	for (const [name, what, cost] of [["first", "heavy", 120], ["second", "large", 90]]) {
		add(20, ...modules(name));
		add(cost, ...(side ? modules(what) : modules(name, what)));
	}
	return writeProfile(samples);
}

test("imports that only moved are one line in text, markdown and the page, and no change", async () => {
	const [base, head] = [0, 1].map((side) => [1, 2, 3, 4].map((k) => runOfImports(side, 30 * side + k)));
	const report = (...options) => execFileSync(process.env.FIZEAU, ["diff", ...base, "::", ...head, "--scale", "time", ...options], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
	const [moved] = /2 moved imports, .* net/.exec(report());
	for (const [what, text] of [["table", report("--table")], ["markdown", report("--format", "markdown")]]) {
		assert.equal(text.split(moved).length, 2, `${what}: ${text}`);
		assert.doesNotMatch(text, /[▲▼]/, what);
	}
	const file = newFile(".html");
	report("-o", file);
	await withPage(file, {}, async (page) => {
		assert.equal(await page.innerText("#sidebar .spots"), moved.replace("-", "−"));
		assert.match(await page.innerText("#band"), /no function certainly changed/);
		await page.keyboard.press("x");
		const swapped = moved.includes("+") ? moved.replace("+", "−") : moved.replace("-", "+");
		assert.equal(await page.innerText("#sidebar .spots"), swapped);
	});
});
