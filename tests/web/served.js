// SPDX-License-Identifier: MIT
// Runs a fizeau server to test its pages.
"use strict";
const assert = require("node:assert/strict");
const path = require("node:path");
const { spawn } = require("node:child_process");
const { folder } = require("./pages.js");
const { test } = require("./tap.js");

// Starts a server that ends with this process. Returns its URL; null: fizeau was built without
// servers.
async function startServer(store, ...options) {
	const child = spawn(process.env.FIZEAU, ["serve", "--store", path.join(folder, store), "--listen", "127.0.0.1:0", ...options], { stdio: ["ignore", "pipe", "pipe"] });
	process.on("exit", () => child.kill("SIGKILL"));
	let said = "";
	child.stderr.on("data", (data) => (said += data));
	const url = await new Promise((resolve) => {
		child.stdout.once("data", (data) => resolve(String(data).trim()));
		child.once("close", () => resolve(null));
	});
	if (!url) assert.match(said, /was built without/);
	for (const stream of [child, child.stdout, child.stderr]) stream.unref();
	return url;
}

// Cases of one server, which the first of them starts and fills: how to make one. `server` is given
// its `url`.
function casesOf(name, server, start, fill) {
	let begun = null;
	const begin = async () => {
		server.url = await start();
		if (server.url) await fill();
	};
	return (words, body) => test(`${name}: ${words}`, async () => {
		await (begun ??= begin());
		return server.url ? body() : "this fizeau was built without servers";
	});
}

module.exports = { casesOf, startServer };
