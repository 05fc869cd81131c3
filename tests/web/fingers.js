// SPDX-License-Identifier: MIT
// Fingers on a page: real touch events of the browser, not synthetic ones.
"use strict";

const STEPS = 8;

// Move fingers along paths: [[{x, y}, {x, y}], ...], one per finger.
async function drag(page, ...paths) {
	const session = await page.context().newCDPSession(page);
	const send = (type, points) => session.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(({ x, y }, id) => ({ x, y, id })) });
	const at = (t) => paths.map(([a, b]) => ({ x: a.x + (b.x - a.x) * t, y: a.y + (b.y - a.y) * t }));
	await send("touchStart", at(0));
	for (let k = 1; k <= STEPS; k++) {
		await send("touchMove", at(k / STEPS));
		await page.evaluate(() => new Promise(requestAnimationFrame));
	}
	await send("touchEnd", []);
	await session.detach();
}

// Two touches of a place, a tenth of a second apart by their own clock, however slow the machine is.
async function tapTwice(page, at) {
	const session = await page.context().newCDPSession(page);
	const begin = Date.now() / 1000;
	for (const [type, after] of [["touchStart", 0], ["touchEnd", 0.03], ["touchStart", 0.1], ["touchEnd", 0.13]])
		await session.send("Input.dispatchTouchEvent", { type, touchPoints: type === "touchStart" ? [at] : [], timestamp: begin + after });
	await session.detach();
}

module.exports = { drag, tapTwice };
