// SPDX-License-Identifier: MIT
// The Firefox Profiler's own importer reads the output of --gecko and finds the same figures.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { execFileSync, spawnSync } = require("node:child_process");
const { folder } = require("./pages.js");
const { test } = require("./tap.js");

const cli = path.join(__dirname, "node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js");
const data = path.join(__dirname, "../data/tachyon-diff");
const home = path.join(folder, "home");

function profiler(...args) {
	const done = spawnSync(process.execPath, [cli, ...args], { encoding: "utf8", timeout: 60000, env: { ...process.env, HOME: home } });
	return { out: done.stdout, err: done.stderr, good: done.status === 0 };
}

// It loads in the background and times out on a busy machine: try again.
async function ask(...args) {
	for (let time = 0; ; time++) {
		const { out, err, good } = profiler(...args, "--json");
		if (good) return JSON.parse(out);
		assert.ok(time < 200, `${args.join(" ")}: ${err}`);
		await new Promise((done) => setTimeout(done, 250));
	}
}

test("the Firefox Profiler loads --gecko and counts like us", async () => {
	fs.mkdirSync(home, { recursive: true });
	if (!profiler("--version").good) return `profiler-cli does not run with node ${process.version}`;
	const file = path.join(folder, "gecko.json");
	for (const name of ["base", "threads"]) {
		execFileSync(process.env.FIZEAU, ["replay", path.join(data, `${name}.bin`), "--gecko", "-o", file]);
		const json = JSON.parse(execFileSync(process.env.FIZEAU, ["replay", path.join(data, `${name}.bin`), "--format", "json", "-o", "-"], { encoding: "utf8" }));
		try {
			profiler("load", file);
			const { functions } = await ask("thread", "functions");
			const ours = new Map(json.functions.map((f) => [f.name, f]));
			assert.ok(functions.length >= 5);
			for (const f of functions) {
				const mine = ours.get(f.name);
				assert.ok(mine, f.name);
				if (name === "base") assert.equal(f.selfSamples, mine.self / json.facts.interval_ns, f.name);
				assert.ok(f.selfSamples <= mine.self / json.facts.interval_ns, f.name);
			}
			const markers = JSON.stringify(await ask("thread", "markers"));
			for (const kind of ["Has GIL", "No Exception", "Python Code"]) assert.ok(markers.includes(kind), kind);
		} finally {
			profiler("stop", "--all");
		}
	}
	return null;
});
