// SPDX-License-Identifier: MIT
// Profiles with known content, and their pages.
//
// A profile is a list of samples {tid, stack: [{name, file, line}], count}; it is written as
// folded text, so what a test expects can be computed from the list alone.
"use strict";
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { execFileSync } = require("node:child_process");

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "fizeau-web-"));
const makePageBinary = path.join(process.env.FZ_BUILD, "tests/make_page");
// For programs that last until they are sampled: tests/live/watching.py.
const withWatching = { ...process.env, PYTHONPATH: path.join(__dirname, "../live") };
let serial = 0;

function newFile(suffix) {
	return path.join(folder, `${++serial}${suffix}`);
}

function writeText(text, suffix = ".txt") {
	const file = newFile(suffix);
	fs.writeFileSync(file, text);
	return file;
}

function writeProfile(samples) {
	if (!samples.length) return "empty";
	return writeText(samples.map(({ tid, stack, count }) =>
		`tid:${tid};${stack.map((f) => `${f.file}:${f.name}:${f.line}`).join(";")} ${count}\n`).join(""), ".collapsed");
}

function make(kind, files, options, suffix) {
	const out = newFile(suffix);
	execFileSync(makePageBinary, [kind, ...files, out, ...options], { stdio: ["ignore", "ignore", "pipe"] });
	return out;
}

// Page (or picture) of one profile, from samples or a file.
function profilePage(profile, options = [], suffix = ".html") {
	return make("profile", [Array.isArray(profile) ? writeProfile(profile) : profile], options, suffix);
}

function diffPage(base, head, options = [], suffix = ".html") {
	const files = [base, head].map((p) => (Array.isArray(p) ? writeProfile(p) : p));
	return make("diff", files, options, suffix);
}

// Page as the command line writes it, with verdicts.
function cliPage(base, head) {
	const out = newFile(".html");
	execFileSync(process.env.FIZEAU, ["diff", writeProfile(base), writeProfile(head), "-o", out], { stdio: ["ignore", "ignore", "pipe"] });
	return out;
}

// The figures of the command line for the same files.
function cliJson(...args) {
	return JSON.parse(execFileSync(process.env.FIZEAU, [...args, "--format", "json", "-o", "-"], { encoding: "utf8", maxBuffer: 1 << 28 }));
}

// ---- samples ----

function random(seed) {
	let s = seed >>> 0;
	return () => {
		s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
		return s / 2 ** 32;
	};
}

function frame(i) {
	return { name: `function_${i}`, file: `/srv/app/part_${i % 5}/module_${i % 7}.py`, line: 10 + i };
}

// Samples of a made-up program: a walk through functions, some recursive, on some threads.
function someProgram(seed, { threads = 3, stacks = 160, functions = 24, skip = () => false, scale = 1 } = {}) {
	const shape = random(1), values = random(seed);
	const samples = [];
	for (let i = 0; i < stacks; i++) {
		const stack = [{ name: "<module>", file: "/srv/app/main.py", line: 3 }];
		for (let depth = 1 + Math.floor(shape() * 9); depth > 0; depth--)
			stack.push(frame(Math.floor(shape() ** 2 * functions)));
		const tid = 100 + Math.floor(shape() * threads);
		const count = Math.max(1, Math.round((1 + shape() * 40) * scale * (0.6 + values() * 0.8)));
		if (!skip(stack, i)) samples.push({ tid, stack, count });
	}
	return samples;
}

const nameOf = (f) => `${f.name}\n${f.file}`;

// Map from path ("a|b|c") to {self, total} computed straight from the samples.
function pathCosts(samples, { inverted = false, tid } = {}) {
	const costs = new Map();
	for (const s of samples) {
		if (tid !== undefined && s.tid !== tid) continue;
		const names = s.stack.map(nameOf);
		if (inverted) names.reverse();
		let key = "";
		names.forEach((name, i) => {
			key += `|${name}`;
			const cost = costs.get(key) ?? { self: 0, total: 0 };
			costs.set(key, cost);
			cost.total += s.count;
			if (i === names.length - 1) cost.self += s.count;
		});
	}
	return costs;
}

module.exports = {
	cliJson, cliPage, diffPage, folder, frame, nameOf, newFile, pathCosts, profilePage, random, someProgram, withWatching, writeProfile,
	writeText,
};
