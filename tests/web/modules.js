// SPDX-License-Identifier: MIT
// Loads the page's modules for tests without a page and a browser.
"use strict";
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

// Node treats .js files as ES modules only next to a package.json with "type": "module".
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "fizeau-web-"));
const sources = path.join(__dirname, "../../web");

fs.writeFileSync(path.join(folder, "package.json"), '{"type":"module"}');
for (const file of fs.readdirSync(sources)) if (file.endsWith(".js")) fs.copyFileSync(path.join(sources, file), path.join(folder, file));
process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));

function load(name) {
	return import(path.join(folder, name));
}

module.exports = { load };
