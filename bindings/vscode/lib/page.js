// SPDX-License-Identifier: MIT
// The page of a recording in an editor of its own, and the way from it to the source.
//
// What is put before the page's policy is not under it, so the page needs no other policy than its
// own. In there links of an editor are messages; they name a place by the scheme of the page's
// "Open in editor", which is chosen beforehand.
"use strict";
const fs = require("node:fs");
const path = require("node:path");

const SCHEME = "vscode://file";

const inPage = fs.readFileSync(path.join(__dirname, "in_page.js"), "utf8");

const attribute = (text) => text.replace(/[&"<>]/g, (c) => `&#${c.charCodeAt(0)};`);

// The page for a webview. folder: where relative paths are, theme: "light" or "dark".
function withHost(html, { folder, theme }) {
	const choices = { "fizeau-editor": `${SCHEME}{path}:{line}`, "fizeau-folder": folder, "fizeau-theme": theme };
	const script = `<script data-scheme="${SCHEME}" data-choices="${attribute(JSON.stringify(choices))}">${inPage}</script>`;
	// An editor styles what has no style of its own.
	const style = "<style>body{padding:0}code{color:inherit;background:none;padding:0;border-radius:0}</style>";
	const at = html.indexOf("<head>") + "<head>".length;
	return html.slice(0, at) + script + style + html.slice(at);
}

// {path, line} of a message of the page's, or null: pages are made of what was recorded.
function placeOf(message) {
	const found = typeof message?.open === "string" && message.open.startsWith(SCHEME) ?
		/^(\/.*):(\d{1,9})$/.exec(message.open.slice(SCHEME.length)) : null;
	if (!found) return null;
	try {
		return { path: decodeURIComponent(found[1]), line: Math.max(Number(found[2]), 1) };
	} catch {
		return null;
	}
}

module.exports = { placeOf, withHost };
