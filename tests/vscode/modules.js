// SPDX-License-Identifier: MIT
// The extension's modules that need no editor, each alone; the pages' numbers and colours are theirs.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { load } = require("../web/modules.js");
const { runAll, test } = require("../web/tap.js");

const own = (name) => require(path.join(__dirname, "../../bindings/vscode/lib", name));
const { colors, wash } = own("colors.js");
const format = own("format.js");
const { marksOf } = own("marks.js");
const { placeOf, withHost } = own("page.js");
const { findFile, findHere, obstacle } = own("places.js");
const program = own("program.js");

test("numbers and steps are the pages'", async () => {
	const pages = { ...await load("format.js"), ...await load("heat_scale.js") };
	const values = [0, 0.4, 1, 2.375, 999, 1000, 12345, 1e6, 112.5e6, 1.42e8, 999.6e6, 1625e6, 9.99e9, 1e12, -3, -1.42e8, 2 ** 20, 5 * 2 ** 30];
	for (const unit of ["ns", "bytes", "count"])
		for (const v of values)
			for (const name of ["formatValue", "formatChange"]) assert.equal(format[name](v, unit), pages[name](v, unit), `${v} ${unit}`);
	const edges = [0.5, 1.5, 0.9995, 9.995, 99.95, 100.5, 999.5, 1023.5].flatMap((v) => [v, v - 1e-9, v + 1e-9]);
	for (const [unit, scales] of [["ns", [1, 1e3, 1e6, 1e9]], ["bytes", [1, 2 ** 10, 2 ** 20, 2 ** 40]], ["samples", [1]]])
		for (const v of scales.flatMap((scale) => edges.map((edge) => edge * scale)))
			assert.equal(format.formatChange(-v, unit), pages.formatChange(-v, unit), `${-v} ${unit}`);
	for (const v of [0, 1e-9, 0.0004, 0.0006, 0.06125, 0.5, 1, 9.995, 9.997, -0.0006, -9.997, NaN]) assert.equal(format.formatShare(v), pages.formatShare(v));
	for (const v of [0, 1e-6, 0.01, 0.5, 1])
		for (const name of ["heatStep", "changeStep"]) assert.equal(format[name](v, 1), pages[name](v, 1), `${name} ${v}`);
	assert.equal(format.changeStep(-1, 1), -4);
	assert.equal(format.changeStep(9, 1), 4);
});

test("colours are the pages'", () => {
	const sheet = fs.readFileSync(path.join(__dirname, "../../web/tokens.css"), "utf8");
	for (const [name, pair] of Object.entries(colors))
		assert.deepEqual([...sheet.matchAll(new RegExp(`--${name}: (#\\w{6});`, "g"))].map((m) => m[1]), pair, name);
	assert.deepEqual([...sheet.matchAll(/--wash: (\d+)%/g)].map((m) => Number(m[1])), wash);
});

const report = (files, started) => ({ head: { started, facts: { cwd: "/old/place" } }, files });

test("a document is the file of its path, or the only one that ends like it", () => {
	const files = ["/old/place/app.py", "lib/util.py", "/old/lib/util.py", "/old/x/sub/deep.py", "<frozen os>"]
		.map((file) => ({ file, lines: [] }));
	const found = (paths, inside) => {
		const match = findFile(report(files), paths, inside);
		return match && [match.file.file, match.moved];
	};
	assert.deepEqual(found(["/old/place/app.py"], ""), ["/old/place/app.py", false]);
	assert.deepEqual(found(["/link.py", "/old/place/lib/util.py"], "link.py"), ["lib/util.py", false]);
	assert.deepEqual(found(["/new/app.py"], "app.py"), ["/old/place/app.py", true]);
	assert.deepEqual(found(["/new/sub/deep.py"], "sub/deep.py"), ["/old/x/sub/deep.py", true]);
	assert.equal(found(["/new/lib/util.py"], "lib/util.py"), null); // two end so
	assert.equal(found(["/new/p.py"], "p.py"), null); // app.py ends so, but not its name
	assert.equal(found(["/elsewhere/app.py"], ""), null);
});

test("a recorded path is found in the folders that are open", () => {
	const files = new Set(["/w/lib/util.py", "/w/app.py", "/v/app.py", "/abs/a.py"]);
	const here = (recorded, ...folders) => findHere(recorded, folders, (file) => files.has(file));
	assert.equal(here("/abs/a.py", "/w"), "/abs/a.py");
	assert.equal(here("/old/lib/util.py", "/w"), "/w/lib/util.py");
	assert.equal(here("lib/util.py", "/w"), "/w/lib/util.py");
	assert.equal(here("/old/app.py", "/w"), "/w/app.py");
	assert.equal(here("/old/app.py", "/w", "/v"), null); // which one?
	assert.equal(here("/old/none.py", "/w"), null);
});

test("only a text that says what ran is coloured", () => {
	const why = (file, lines, options = {}) => {
		const { moved, modified, started } = { moved: false, modified: 5, started: 10, ...options };
		return obstacle(report([file], started), { file, moved }, (n) => lines[n - 1], modified);
	};
	const kept = { lines: [{ line: 2, text: "\tb\r" }] };
	assert.equal(why(kept, ["a", "\tb"], { modified: 99 }), ""); // newer, and the same
	assert.equal(why(kept, ["a", "b"]), "changed since it was recorded");
	assert.equal(why(kept, ["a"]), "changed since it was recorded");
	assert.equal(why({ lines: [...kept.lines, { line: 9 }] }, ["a", "\tb"]), "changed while it was recorded");
	const bare = { lines: [{ line: 1 }] };
	assert.equal(why(bare, ["a"]), "");
	assert.equal(why(bare, ["a"], { modified: 11 }), "changed since it was recorded");
	assert.equal(why(bare, ["a"], { modified: NaN }), "changed since it was recorded");
	assert.match(why(bare, ["a"], { moved: true }), /another file of that name/);
	assert.match(why(bare, ["a"], { started: undefined }), /may have changed/);
	assert.match(why({ aligned: false }, ["a"]), /not recorded on both sides/);
	assert.equal(why({ aligned: true, places: [{ line: 1, text: ["a", "b"] }] }, ["a", "b"]), "");
	assert.equal(why({ aligned: true, places: [{ line: 1, text: ["a", "b"] }] }, ["a", "c"]), "changed since it was recorded");
});

const place = (line, lines, before, diff, verdict, f) => ({
	line, lines, base_line: 1, base_lines: before, base_self: 10e6, head_self: 10e6 + diff, diff_self: diff, verdict,
	function: f, text: Array(lines).fill(""),
});

test("a change has a colour only where it is certain, and its function's direction", () => {
	const file = {
		places: [place(2, 1, 1, 142e6, "changed", 0), place(3, 1, 1, -2e6, "changed", 0), place(4, 1, 1, 5e6, "unknown", 1),
			place(5, 1, 1, 5e6, "unchanged", 1), place(6, 2, 1, 9e6, "changed", 0), place(8, 0, 3, -7e6, "unknown"),
			place(9, 1, 0, 0, "changed", 0)],
	};
	const f = (name, diff, verdict) => ({ name, file: 0, line: 1, state: "common", base_self: 1, head_self: 2, diff_self: diff, verdict });
	const diff = {
		kind: "diff-lines", unit: "ns", metric: "wall", scale: { factor: 1 }, files: [file],
		functions: [f("f", 149e6, "changed"), f("g", 5e6, "unknown")],
	};
	const marks = marksOf(diff, file, "self").map((m) => [m.line, m.lines, m.kind, m.text]);
	assert.deepEqual(marks, [
		[2, 1, "m4", "+142 ms"], [3, 1, "unsure", "−2.00 ms ?"], [4, 1, "unsure", "+5.00 ms ?"],
		[6, 2, "m2", "+9.00 ms · 2 lines for 1 line"], [8, 1, "note", "−7.00 ms ? · 3 lines gone"],
		[1, 1, "note", "▲ f: +149 ms"],
	]);
});

test("heat is of the chosen cost", () => {
	const file = { lines: [{ line: 1, self: 0, total: 5e6 }, { line: 2, self: 5e6, total: 5e6 }] };
	const heat = { kind: "lines", unit: "ns", metric: "wall", head: { total: 10e6 }, files: [file] };
	const marks = (cost) => marksOf(heat, file, cost).map((m) => [m.line, m.kind, m.text]);
	assert.deepEqual(marks("self"), [[2, "h8", "5.00 ms · 50.0 %"]]);
	assert.deepEqual(marks("total"), [[1, "h8", "5.00 ms · 50.0 %"], [2, "h8", "5.00 ms · 50.0 %"]]);
});

test("only messages that name a place lead to one", () => {
	const at = (open) => placeOf({ open });
	assert.deepEqual(at("vscode://file/a%20b/c%23.py:12"), { path: "/a b/c#.py", line: 12 });
	assert.deepEqual(at("vscode://file/a:7.py:0"), { path: "/a:7.py", line: 1 });
	for (const wrong of ["vscode://file/a.py", "vscode://other/a.py:1", "file:///a.py:1", "vscode://file/%zz:1", 5, null])
		assert.equal(at(wrong), null, String(wrong));
	assert.equal(placeOf(null), null);
});

test("what a page is given stays an attribute", () => {
	const html = withHost("<!doctype html><head><meta><title></title>", { folder: '/a"><b>&amp;', theme: "dark" });
	assert.ok(!html.includes("<b>") && !html.includes("&amp;"));
	assert.ok(html.indexOf("<script") < html.indexOf("<meta>"));
});

test("a program that fails says why, in one sentence", async () => {
	const fails = (...args) => assert.rejects(program.run(...args), program.ProgramError);
	await fails("/no/such/program", []);
	await assert.rejects(program.run("echo", [], "/no/such/folder"), { message: "The folder '/no/such/folder' no longer exists." });
	await assert.rejects(program.run("sh", ["-c", "echo 'fizeau: note' >&2; echo 'fizeau: x.fz: is none' >&2; exit 2"]),
		{ message: "x.fz: is none" });
	await assert.rejects(program.run("sh", ["-c", "kill -9 $$"]), { message: "fizeau was killed by SIGKILL." });
	await assert.rejects(program.run("sh", ["-c", "exit 3"]), { message: "fizeau exited with status 3." });
	assert.deepEqual(await program.run("echo", ["$(id)"]), { status: 0, stdout: "$(id)\n" }); // no shell
	assert.equal((await program.run("sh", ["-c", "exit 1"], undefined, [0, 1])).status, 1);
});

runAll(process.argv.slice(2)).then((good) => process.exit(good ? 0 : 1));
