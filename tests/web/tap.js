// SPDX-License-Identifier: MIT
// Named test cases in TAP. A case fails by throwing (node:assert), and is skipped by returning why.
"use strict";

const cases = [];

function test(name, body) {
	cases.push({ name, body });
}

function comment(text) {
	console.log(text.split("\n").map((line) => `# ${line}`).join("\n"));
}

// What a case returns. It starts again, once, if it failed because its browser died.
async function runCase(body, hasDied) {
	try {
		return await body();
	} catch (error) {
		if (!hasDied()) throw error;
		comment(`the browser died (${error.message.split("\n")[0]}); the case starts again in another`);
		return body();
	}
}

// Run the cases whose name has one of the words; true when all passed.
async function runAll(words, hasDied = () => false) {
	let number = 0, failed = 0;
	const unknown = words.find((word) => !cases.some(({ name }) => name.includes(word)));
	if (unknown !== undefined) {
		console.log(`Bail out! no test has "${unknown}" in its name`);
		return false;
	}
	for (const { name, body } of cases) {
		if (words.length && !words.some((word) => name.includes(word))) continue;
		try {
			const skipped = await runCase(body, hasDied);
			console.log(`ok ${++number} - ${name}${skipped ? ` # SKIP ${skipped}` : ""}`);
		} catch (error) {
			failed++;
			console.log(`not ok ${++number} - ${name}`);
			comment(String(error.stack ?? error).split("\n").slice(0, 14).join("\n"));
		}
	}
	console.log(`1..${number}`);
	return failed === 0;
}

module.exports = { comment, runAll, runCase, test };
