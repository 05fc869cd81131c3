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
