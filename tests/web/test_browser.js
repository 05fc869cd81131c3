// SPDX-License-Identifier: MIT
// The browser of the tests: a crash fails only one case.
"use strict";
const assert = require("node:assert/strict");
const { withPage } = require("./browser.js");
const { profilePage } = require("./pages.js");
const { test } = require("./tap.js");

const file = () => profilePage([{ tid: 1, count: 1, stack: [{ name: "main", file: "a.py", line: 1 }] }]);

test("a case whose browser dies fails, and the next one gets another", async () => {
	await assert.rejects(withPage(file(), {}, async (page) => {
		await page.context().browser().close();
		await page.title();
	}), /closed/);
	await withPage(file(), {}, async (page) => assert.ok(await page.title()));
});
