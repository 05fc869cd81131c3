// SPDX-License-Identifier: MIT
// A comparison with real verdicts: several runs of a synthetic program before and after a change,
// and output of the command line for them.
//
//   parse costs 40 % more, escape half, audit is new, legacy gone, write_all was renamed, join got a
//   wrapper, split was parted in two; all else only has noise
"use strict";
const { execFileSync } = require("node:child_process");
const path = require("node:path");
const { folder, random, writeProfile } = require("./pages.js");

const RUNS = 4;
const at = (name, file, line) => ({ name, file: `/srv/app/${file}`, line });
const main = at("<module>", "main.py", 3);
const parse = at("parse", "decoder.py", 40), render = at("render", "view.py", 20), join = at("join", "view.py", 80);
const store = at("store", "db.py", 5), rows = at("rows", "rows.py", 9), scan = at("scan", "scanner.py", 12);

// [stack, mean before, mean after, thread]; null: missing on that side.
const program = [
	[[main, parse], 400, 560], [[main, parse, scan], 300, 300], [[main, at("read", "io.py", 7)], 200, 200],
	[[main, render, at("escape", "view.py", 50)], 350, 170], [[main, render], 30, 30],
	[[main, render, join], 250, null], [[main, render, at("cached", "view.py", 70), join], null, 250],
	[[main, store, at("write_all", "db.py", 30), at("pack", "db.py", 60)], 180, null], [[main, store, at("write_all", "db.py", 30)], 60, null],
	[[main, store, at("write_rows", "db.py", 30), at("pack", "db.py", 60)], null, 180], [[main, store, at("write_rows", "db.py", 30)], null, 60],
	[[main, at("audit", "audit.py", 5), at("digest", "audit.py", 15)], null, 220],
	[[main, at("legacy", "legacy.py", 5), at("checksum", "legacy.py", 25)], 150, null],
	[[main, rows], 40, 40], [[main, rows, at("split", "rows.py", 30)], 300, null],
	[[main, rows, at("split_head", "rows.py", 30)], null, 90], [[main, rows, at("split_body", "rows.py", 45)], null, 210],
	[[main, at("hint", "main.py", 90)], null, 1],
	...Array.from({ length: 40 }, (_, i) => [[main, at("plugins", "plugins.py", 9), at(`plugin_${i}`, "plugins.py", 20 + i)], 1 + ((i * 7) % 5), 1 + ((i * 7) % 5)]),
	[[at("worker", "pool.py", 2), at("compress", "zip.py", 8)], 500, 505, 2], [[at("worker", "pool.py", 2), at("idle", "pool.py", 18)], 90, 90, 2],
];

// About normal, with less spread than counting has: a CPU clock's.
function around(mean, next) {
	const normal = Array.from({ length: 12 }, next).reduce((sum, v) => sum + v, -6);
	return Math.max(0, Math.round(mean + normal * 0.7 * Math.sqrt(mean)));
}

// A helper that costs more in each of its many callers, in none of them certainly by itself.
const sumCallers = 12;
const ofSum = [
	...Array.from({ length: 10 }, (_, k) => [[main, at(`rest_${k}`, "main.py", 50 + k)], 120, 120]),
	...Array.from({ length: sumCallers }, (_, k) => [[main, at(`caller_${k}`, "callers.py", 10 * k), at("helper", "helper.py", 5)], 9, 13]),
];

function runOf(side, seed, of = program) {
	const next = random(seed);
	return writeProfile(of.filter((p) => p[1 + side] !== null)
		.map((p) => ({ stack: p[0], count: Math.max(p[0].at(-1).name === "hint" ? 1 : 0, around(p[1 + side], next)), tid: p[3] ?? 1 }))
		.filter((s) => s.count > 0));
}

const runsOf = (of) => [0, 1].map((side) => Array.from({ length: RUNS }, (_, k) => runOf(side, 11 + 100 * side + k, of)));
const runs = runsOf(program);

// Output of `fizeau diff` for these runs: a page, or with a format its text.
function judged(options = [], { swapped = false } = {}) {
	const [base, head] = swapped ? [...runs].reverse() : runs;
	return ["diff", ...base, "::", ...head, "--scale", "time", ...options];
}

function judgedPage(options, more) {
	const file = path.join(folder, `judged-${[...(options ?? []), more?.swapped ? "swapped" : ""].join("").replace(/\W+/g, "_")}${more?.folder ? "" : ".html"}`);
	execFileSync(process.env.FIZEAU, [...judged(options, more), "-o", file], { stdio: ["ignore", "ignore", "pipe"] });
	return file;
}

// The file that `fizeau diff` writes about the helper with many callers; its suffix selects the format.
function sumFile(name, options = []) {
	const file = path.join(folder, name), [base, head] = runsOf(ofSum);
	execFileSync(process.env.FIZEAU, ["diff", ...base, "::", ...head, "--scale", "time", ...options, "-o", file], { stdio: ["ignore", "ignore", "pipe"] });
	return file;
}

function judgedText(format, options, more) {
	return execFileSync(process.env.FIZEAU, [...judged(options, more), "--format", format, "-o", "-"], { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] });
}

module.exports = { judgedPage, judgedRuns: judged, judgedText, runs, sumCallers, sumFile };
