// SPDX-License-Identifier: MIT
// The browser of the tests: its end fails no case.
"use strict";
const assert = require("node:assert/strict");
const { hasDied, withPage } = require("./browser.js");
const { profilePage } = require("./pages.js");
const { runCase, test } = require("./tap.js");

// A case whose browser ends at the first `deaths` tries, and how often it was tried.
function mortal(deaths, die) {
	const file = profilePage([{ tid: 1, count: 1, stack: [{ name: "main", file: "a.py", line: 1 }] }]);
	let tries = 0;
	return {
		tries: () => tries,
		body: () => withPage(file, {}, async (page) => {
			if (++tries <= deaths) await die(page);
			assert.ok(await page.title());
		}),
	};
}

const deaths = {
	browser: (page) => page.context().browser().close(),
	page: (page) => page.goto("chrome://crash").catch(() => null),
};

for (const [name, die] of Object.entries(deaths))
	test(`a case whose ${name} dies starts again in another; the second death fails it`, async () => {
		const once = mortal(1, die), twice = mortal(2, die);
		await runCase(once.body, hasDied);
		assert.equal(once.tries(), 2);
		await assert.rejects(runCase(twice.body, hasDied), /closed|crashed/);
		assert.equal(twice.tries(), 2);
		await mortal(0, die).body();
	});

test("a case that fails in a living browser fails at once", async () => {
	let tries = 0;
	await assert.rejects(runCase(() => withPage(profilePage([]), {}, () => assert.equal(++tries, 2)), hasDied), assert.AssertionError);
	assert.equal(tries, 1);
});
