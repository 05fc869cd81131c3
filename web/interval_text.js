// SPDX-License-Identifier: MIT
// The 95 % interval of a function's change, in the page's unit. With the sides swapped it is the
// interval of the inverse ratio.
import { CHANGED } from "./colors.js";
import { compare, formatChange, formatValue } from "./format.js";

function exchanged(c, below, above, factor) {
	const was = compare(c.head, c.base, 1 / factor);
	const [low, high] = [was.delta - below, was.delta + above];
	// New code has no ratio.
	if (was.expected === 0) return [-high * factor, -low * factor];
	if (was.expected + low <= 0) return null;
	return [high, low].map((end) => c.expected * (was.expected / (was.expected + end) - 1));
}

// c: result of compare for the function. null if there is no interval.
export function intervalOf({ below, above }, f, c, data) {
	if (below[f] < 0 || above[f] < 0) return null;
	const ends = data.isSwapped
		? exchanged(c, below[f], above[f], data.factor)
		: [c.delta - below[f], c.delta + above[f]];
	// A cost cannot fall by more than itself.
	return ends && [Math.max(ends[0], -c.expected), ends[1]];
}

// The interval beside a change, "" if there is none: the length of its longer side, or for a
// certain change the end nearer to 0 if ± would seem to include 0.
export function intervalText(family, f, c, data) {
	const ends = intervalOf(family, f, c, data);
	if (!ends) return "";
	const [low, high] = ends, reach = Math.max(c.delta - low, high - c.delta);
	const isSkewed = family.word[f] === CHANGED && reach >= Math.abs(c.delta);
	if (isSkewed && low > 0) return `≥${formatChange(low, data.unit)}`;
	if (isSkewed && high < 0) return `≤${formatChange(high, data.unit)}`;
	return `±${formatValue(reach, data.unit)}`;
}
