// SPDX-License-Identifier: MIT
// A recording's page in an editor, with links to the source.
//
// The script is inserted before the page's content security policy and so not subject to it. It turns
// links to sources into messages; they use the scheme of the page's "Open in editor", which is preset.
"use strict";
const fs = require("node:fs");
const path = require("node:path");

const SCHEME = "vscode://file";

const inPage = fs.readFileSync(path.join(__dirname, "in_page.js"), "utf8");

const attribute = (text) => text.replace(/[&"<>]/g, (c) => `&#${c.charCodeAt(0)};`);

// The page for a webview. folder: base of relative paths, theme: "light" or "dark".
function withHost(html, { folder, theme }) {
	const choices = { "fizeau-editor": `${SCHEME}{path}:{line}`, "fizeau-folder": folder, "fizeau-theme": theme };
	const script = `<script data-scheme="${SCHEME}" data-choices="${attribute(JSON.stringify(choices))}">${inPage}</script>`;
	// Undo the editor's default styles.
	const style = "<style>body{padding:0}code{color:inherit;background:none;padding:0;border-radius:0}</style>";
	const at = html.indexOf("<head>") + "<head>".length;
	return html.slice(0, at) + script + style + html.slice(at);
}

// {path, line} of a message from the page, or null if it is invalid: pages are not trusted.
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
