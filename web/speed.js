// SPDX-License-Identifier: MIT
// The machine's speed during the recording: a sentence and a line chart for each side.

import { el, section, line } from "./dom.js";

const WIDTH = 240, HEIGHT = 34;

const percent = (v) => `${Math.round(v)} %`;

// Speed relative to the best of both sides: "100 %" or "55 to 98 %".
function range(speed, best) {
	const low = (100 * best) / speed.slowest, high = (100 * best) / speed.fastest;
	return high - low < 1 ? percent(high) : `${Math.round(low)} to ${percent(high)}`;
}

// Points of the curve: x is time, y the speed, up to the best.
function points(speed, best) {
	const last = Math.max(1, speed.track.length - 1);
	return speed.track.map((cost, i) =>
		[(i / last) * WIDTH, HEIGHT - Math.min(1, best / cost) * HEIGHT]);
}

function row(name, speed, best) {
	if (!speed) return null;
	const text = range(speed, best);
	return el("div", { class: "speed" }, el("span", {}, name), el("span", {}, text),
		line(points(speed, best), WIDTH, HEIGHT, `${name}: ${text} of the best speed`));
}

// header: the page's. null if the speed was not recorded.
export function speedSection(header) {
	const sides = [["Before", header.base?.speed],
		["After", header.head?.speed]].filter(([, s]) => s);
	if (!sides.length) return null;
	const best = Math.min(...sides.map(([, s]) => s.fastest));
	const name = (n) => (header.kind === "diff" ? n : "Over time");
	return section("speed", "Machine speed",
		header.speed_text && el("p", { class: "quiet" }, header.speed_text),
		...sides.map(([n, s]) => row(name(n), s, best)));
}
