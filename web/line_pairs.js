// SPDX-License-Identifier: MIT
// Aligned lines of two versions of a text. A page has them as runs: of equal lines, then of lines
// that only the first version has, then of those that only the second has.

export const readRuns = (columns) => Object.fromEntries(["same", "gone", "added"].map((kind) =>
	[kind, columns.numbers(`align.${kind}`, Uint32Array, 0)]));

// The same runs with the versions swapped.
export const swappedRuns = ({ same, gone, added }) => ({ same, gone: added, added: gone });

// Pairs of line numbers from runs [at, at + n), counted from `first`; 0 where a version has none.
export function linePairs({ same, gone, added }, at, n, first) {
	let [a, b] = first;
	const pairs = [];
	for (let r = at; r < at + n; r++) {
		for (let k = 0; k < same[r]; k++) pairs.push([a++, b++]);
		for (let k = 0; k < gone[r]; k++) pairs.push([a++, 0]);
		for (let k = 0; k < added[r]; k++) pairs.push([0, b++]);
	}
	return pairs;
}

const SIMILAR = 0.5; // least part of the words of two lines that both have
const MOST_COMPARED = 40000; // pairs of lines

// The part of the words of two lines that both have: 0 to 1.
function similarity(a, b) {
	const left = [...b];
	let shared = 0;
	for (const word of a) {
		const at = left.indexOf(word);
		if (at < 0) continue;
		left.splice(at, 1);
		shared++;
	}
	return shared ? (2 * shared) / (a.length + b.length) : 0;
}

// Pairs [i, j] of a removed line and the new line that replaced it, in the order of both, that are
// most similar in sum; none if there are too many lines to compare.
export function replacedPairs(gone, added) {
	const n = gone.length, m = added.length, pairs = [];
	if (n * m > MOST_COMPARED) return pairs;
	const [before, after] = [gone, added].map((texts) =>
		texts.map((text) => text.match(/\p{L}+|\p{N}+/gu) ?? []));
	const alike = before.map((a) => after.map((b) => similarity(a, b)));
	// Of the lines from i and from j on, the largest sum.
	const best = Array.from({ length: n + 1 }, () => new Float64Array(m + 1));
	const paired = (i, j) => (alike[i][j] >= SIMILAR ? alike[i][j] + best[i + 1][j + 1] : 0);
	for (let i = n - 1; i >= 0; i--)
		for (let j = m - 1; j >= 0; j--)
			best[i][j] = Math.max(paired(i, j), best[i + 1][j], best[i][j + 1]);
	for (let i = 0, j = 0; i < n && j < m;) {
		if (best[i][j] > 0 && best[i][j] === paired(i, j)) pairs.push([i++, j++]);
		else if (best[i][j] === best[i + 1][j]) i++;
		else j++;
	}
	return pairs;
}
