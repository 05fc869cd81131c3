// SPDX-License-Identifier: MIT
// Widths of the frames of a shown tree: one array, where a node is never narrower than its callees
// together.
//
//   side    what one side spent
//   union   whichever side spent more, so nothing is hidden by what replaced it
//   delta   all changes below, more and less alike, so changes that cancel out in a sum are visible

// Both sides, the base scaled: max(before, after), or what the callees need.
function unionWidths({ n, parent, total: [base, head] }, factor) {
	const w = new Float64Array(n), below = new Float64Array(n);
	for (let i = n - 1; i >= 0; i--) {
		w[i] = Math.max(base[i] * factor, head[i], below[i]);
		if (i > 0) below[parent[i]] += w[i];
	}
	return w;
}

// A node's own change is the change of its total less those of its callees. This also works for
// subtrees that an inverted tree did not open.
function deltaWidths({ n, parent, total: [base, head] }, factor) {
	const w = new Float64Array(n), ownBase = Float64Array.from(base),
		ownHead = Float64Array.from(head);
	for (let i = n - 1; i >= 0; i--) {
		w[i] += Math.abs(ownHead[i] - ownBase[i] * factor);
		if (i === 0) break;
		const p = parent[i];
		w[p] += w[i];
		ownBase[p] -= base[i];
		ownHead[p] -= head[i];
	}
	return w;
}

export function widthsOf(tree, what) {
	if (what.widths === "union") return unionWidths(tree, what.factor);
	if (what.widths === "delta") return deltaWidths(tree, what.factor);
	return tree.total[what.side];
}
