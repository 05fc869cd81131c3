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

// c: what compare says of the function; null when there is no interval.
export function intervalOf({ below, above }, f, c, data) {
	if (below[f] < 0 || above[f] < 0) return null;
	const ends = data.isSwapped
		? exchanged(c, below[f], above[f], data.factor)
		: [c.delta - below[f], c.delta + above[f]];
	// Nothing falls by more than all of it.
	return ends && [Math.max(ends[0], -c.expected), ends[1]];
}

// The interval beside a change, "" where there is none: how far it reaches to its farther side; of
// what certainly changed its end towards 0 where that would seem to hold 0.
export function intervalText(family, f, c, data) {
	const ends = intervalOf(family, f, c, data);
	if (!ends) return "";
	const [low, high] = ends, reach = Math.max(c.delta - low, high - c.delta);
	const isSkewed = family.word[f] === CHANGED && reach >= Math.abs(c.delta);
	if (isSkewed && low > 0) return `≥${formatChange(low, data.unit)}`;
	if (isSkewed && high < 0) return `≤${formatChange(high, data.unit)}`;
	return `±${formatValue(reach, data.unit)}`;
}
