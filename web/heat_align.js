// SPDX-License-Identifier: MIT
// Alignment of two versions of a text, line by line.
//
// The common beginning and end are skipped. The rest is split at lines that occur exactly once in
// each version, in the same order; small remainders are aligned exactly.

const EXACT = 1 << 20; // maximum table size of an exact alignment, cells

// Pairs [a, b] of a longest common subsequence, -1 where a side has none.
function exact(before, after, a0, a1, b0, b1, out) {
	const n = a1 - a0, m = b1 - b0, width = m + 1;
	const best = new Uint16Array((n + 1) * width);
	for (let i = n - 1; i >= 0; i--)
		for (let k = m - 1; k >= 0; k--)
			best[i * width + k] = before[a0 + i] === after[b0 + k] ?
				best[(i + 1) * width + k + 1] + 1 :
				Math.max(best[(i + 1) * width + k], best[i * width + k + 1]);
	let i = 0, k = 0;
	while (i < n || k < m) {
		if (i < n && k < m && before[a0 + i] === after[b0 + k]) out.push([a0 + i++, b0 + k++]);
		else if (i < n && (k === m || best[(i + 1) * width + k] >= best[i * width + k + 1]))
			out.push([a0 + i++, -1]);
		else out.push([-1, b0 + k++]);
	}
}

// Line -> its place; -2 if it has several.
function places(lines, from, to) {
	const map = new Map();
	for (let i = from; i < to; i++) map.set(lines[i], map.has(lines[i]) ? -2 : i);
	return map;
}

// Lines that are unique on both sides: the longest run that is in order on both.
function anchors(before, after, a0, a1, b0, b1) {
	const other = places(after, b0, b1), pairs = [];
	for (const [line, a] of places(before, a0, a1)) {
		const b = other.get(line);
		if (a >= 0 && b >= 0) pairs.push([a, b]);
	}
	const tails = [], previous = [];
	pairs.forEach(([, b], i) => {
		let low = 0, high = tails.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (pairs[tails[middle]][1] < b) low = middle + 1;
			else high = middle;
		}
		previous[i] = low ? tails[low - 1] : -1;
		tails[low] = i;
	});
	const chain = [];
	for (let i = tails.at(-1) ?? -1; i >= 0; i = previous[i]) chain.push(pairs[i]);
	return chain.reverse();
}

function align(before, after, a0, a1, b0, b1, out) {
	while (a0 < a1 && b0 < b1 && before[a0] === after[b0]) out.push([a0++, b0++]);
	let same = 0;
	while (a1 > a0 && b1 > b0 && before[a1 - 1] === after[b1 - 1]) {
		a1--;
		b1--;
		same++;
	}
	if ((a1 - a0 + 1) * (b1 - b0 + 1) <= EXACT) {
		exact(before, after, a0, a1, b0, b1, out);
	} else {
		for (const [a, b] of anchors(before, after, a0, a1, b0, b1)) {
			if (a0 < a || b0 < b) align(before, after, a0, a, b0, b, out);
			out.push([a, b]);
			a0 = a + 1;
			b0 = b + 1;
		}
		// After the last unique line, or without one: too long to align, so all of it
		// changed.
		for (; a0 < a1; a0++) out.push([a0, -1]);
		for (; b0 < b1; b0++) out.push([-1, b0]);
	}
	for (let i = 0; i < same; i++) out.push([a1 + i, b1 + i]);
}

export function alignTexts(before, after) {
	const out = [];
	align(before, after, 0, before.length, 0, after.length, out);
	return out;
}
