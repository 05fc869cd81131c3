// SPDX-License-Identifier: MIT
// Hands and eyes in a real VS Code: node workbench.js URL '[["open", "app.py"], ...]' takes the
// steps in a Chromium and prints what the last of each kind of look saw, as JSON.
"use strict";
const { chromium } = require("../web/node_modules/playwright-core");
const { findChromium } = require("../web/browser.js");

const WAIT = 30000;
const ROWS = ".quick-input-widget .monaco-list-row";

async function palette(page, words) {
	await page.keyboard.press("F1");
	await page.locator(".quick-input-widget input").first().waitFor({ state: "visible" });
	await page.keyboard.type(words);
	await page.locator(ROWS).first().waitFor();
	await page.waitForTimeout(300); // it queries its commands again while one is typed
}

// Lines of the editor that is shown: {number, text, behind, colours}; behind: what is written after a line.
function readLines() {
	const content = (element) => getComputedStyle(element, "::after").content;
	const written = (element) => (/^".*"$/.test(content(element)) ? content(element).slice(1, -1) : "");
	const top = (element) => element.style.top || element.parentElement.style.top;
	const editor = [...document.querySelectorAll(".editor-instance .monaco-editor")].find((e) => e.offsetParent);
	const colours = new Map();
	for (const part of editor.querySelectorAll(".view-overlays .cdr")) {
		const colour = getComputedStyle(part).backgroundColor;
		if (!/^ced-/.test(part.className.replace("cdr ", "")) || colour === "rgba(0, 0, 0, 0)") continue;
		colours.set(top(part.parentElement), [...colours.get(top(part.parentElement)) ?? [], colour]);
	}
	const numbers = new Map([...editor.querySelectorAll(".line-numbers")]
		.map((e) => [top(e.parentElement), Number(e.textContent)]));
	return [...editor.querySelectorAll(".view-line")].map((line) => ({
		number: numbers.get(top(line)), text: line.textContent.replace(/[\u00a0\u200b]/g, " ").trimEnd(),
		behind: [...line.querySelectorAll("span")].map(written).filter(Boolean).sort().reverse(),
		colours: colours.get(top(line)) ?? [],
	})).sort((a, b) => a.number - b.number);
}

async function pageFrame(page) {
	const end = Date.now() + WAIT;
	for (;;) {
		for (const frame of page.frames())
			if (await frame.locator("html[data-ready] #canvas").count().catch(() => 0)) return frame;
		if (Date.now() > end) throw new Error("no page of a recording is shown");
		await page.waitForTimeout(50);
	}
}

const steps = {
	// Extensions that want trust are there some time after it is given.
	async trust(page, words) {
		await page.getByRole("button", { name: words }).click({ timeout: WAIT });
		const end = Date.now() + WAIT;
		while (words.startsWith("Yes") && !(await steps.offered(page, "Fizeau: Show Heat")).some((row) => row.includes("Fizeau"))) {
			if (Date.now() > end) throw new Error("the extension does not come");
			await page.waitForTimeout(200);
		}
	},
	async open(page, name) {
		await page.getByRole("treeitem", { name, exact: true }).dblclick({ timeout: WAIT });
	},
	async command(page, words) {
		await palette(page, words);
		await page.locator(ROWS, { hasText: words }).first().click({ timeout: WAIT });
	},
	// What the palette offers for some words.
	async offered(page, words) {
		await palette(page, words);
		const rows = await page.locator(ROWS).allTextContents();
		await page.keyboard.press("Escape");
		return rows;
	},
	async pick(page, text) {
		await page.locator(ROWS, { hasText: text }).first().click({ timeout: WAIT });
	},
	async menu(page, [name, item]) {
		await page.getByRole("treeitem", { name, exact: true }).click({ button: "right", timeout: WAIT });
		await page.getByRole("menuitem", { name: item }).hover({ timeout: WAIT });
		await page.keyboard.press("Enter"); // a click so soon would be taken for the end of the first one
	},
	async press(page, key) {
		await page.keyboard.press(key);
	},
	async type(page, text) {
		await page.locator(".editor-instance .view-lines").first().click();
		await page.keyboard.press("Control+Home");
		await page.keyboard.type(text);
	},
	// Until that is written behind a line of the editor; "-TEXT": behind none.
	async until(page, text) {
		const gone = text.startsWith("-"), wanted = text.replace(/^-/, "");
		const end = Date.now() + WAIT;
		for (;;) {
			const lines = await page.evaluate(readLines).catch(() => []);
			if (lines.length && lines.some((line) => line.behind.some((words) => words.includes(wanted))) !== gone) return;
			if (Date.now() > end) throw new Error(`never: ${text}; there is ${JSON.stringify(lines)}`);
			await page.waitForTimeout(50);
		}
	},
	lines: (page) => page.evaluate(readLines),
	async status(page) {
		const item = page.locator(".statusbar-item[id^='fizeau.fizeau']");
		await item.waitFor({ timeout: WAIT });
		return {
			text: await item.textContent(), alarm: (await item.getAttribute("class")).includes("error-kind"),
			label: await item.getByRole("button").getAttribute("aria-label"),
		};
	},
	// The menu of a function's bar on the page of a recording, opened and used with the mouse.
	async bar(page, [name, item]) {
		const frame = await pageFrame(page);
		const at = await frame.evaluate((wanted) => {
			const { picture } = fizeau.flame, { functions } = fizeau.data;
			const node = picture.tree.func.findIndex((f, i) => i > 0 && functions.names[f] === wanted);
			fizeau.flame.reveal(node);
			fizeau.flame.draw();
			const box = fizeau.flame.boxOf(node);
			return { x: (box.left + box.right) / 2, y: box.top + 9 };
		}, name);
		await frame.locator("#canvas").click({ button: "right", position: at });
		await frame.getByText(item, { exact: true }).click({ timeout: WAIT });
	},
	// How the page looks: what the editor's own style sheet could have changed.
	async look(page) {
		const frame = await pageFrame(page);
		return frame.evaluate(() => ({
			theme: document.documentElement.dataset.theme, padding: getComputedStyle(document.body).padding,
			title: document.title,
		}));
	},
	async place(page) {
		const item = page.locator(".statusbar-item", { hasText: /^Ln \d+/ });
		await item.waitFor({ timeout: WAIT });
		return [await page.locator(".editor-group-container.active .tab.active").getAttribute("data-resource-name"),
			await item.textContent()];
	},
	async message(page) {
		const toast = page.locator(".notifications-toasts .notification-list-item");
		await toast.first().waitFor({ timeout: WAIT });
		return toast.first().evaluate((element) => ({
			text: element.querySelector(".notification-list-item-message").textContent,
			buttons: [...element.querySelectorAll(".monaco-text-button")].map((b) => b.textContent),
		}));
	},
	async shot(page, file) {
		await page.screenshot({ path: file });
	},
};

async function main(url, list) {
	const browser = await chromium.launch({ executablePath: findChromium(), args: ["--no-sandbox", "--disable-gpu"] });
	const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
	const seen = { refused: [] };
	page.on("console", (m) => /Content Security Policy/.test(m.text()) && m.location().url.includes("fake.html") &&
		seen.refused.push(m.text()));
	// Shops of extensions and the like are asked for nothing.
	await page.route(({ protocol, hostname }) => /^http/.test(protocol) && !/^(127\.0\.0\.1|localhost)$/.test(hostname),
		(route) => route.abort());
	try {
		await page.goto(url);
		for (const [step, argument] of list) {
			const result = await steps[step](page, argument);
			if (result !== undefined) seen[step] = [...seen[step] ?? [], result];
		}
	} finally {
		if (process.env.FZ_SHOT) await page.screenshot({ path: process.env.FZ_SHOT });
		await browser.close();
	}
	console.log(JSON.stringify(seen));
}

main(process.argv[2], JSON.parse(process.argv[3])).catch((error) => {
	console.error(error);
	process.exit(1);
});
