// SPDX-License-Identifier: MIT
// Runs: times in which a thread's stack stayed the same, on levels of ever longer cells; and the
// bars drawn from them, one per frame for as long as it stayed on the stack.
//
// If a cell has several stacks, its run ends at the innermost frame common to most of it: `mixed`
// of the run's frames are not common to all stacks, and some stack is `more` rows deeper.

// The runs of level l in thread t are those from first[l * threads + t] to the next entry.
export function readRuns({ levels }, threads, columns) {
	const counts = columns.numbers("run.count", Uint32Array, levels.length * threads);
	const first = new Uint32Array(counts.length + 1);
	counts.forEach((n, k) => (first[k + 1] = first[k] + n));
	const n = first.at(-1),
		[from, length, node, mixed, more] = ["gap", "length", "node", "mixed",
			"more"].map((name) => columns.numbers(`run.${name}`, Uint32Array, n));
	for (let k = 0; k < counts.length; k++)
		for (let i = first[k], at = 0; i < first[k + 1]; i++) {
			from[i] += at;
			at = from[i] + length[i];
		}
	return { levels, threads, first, from, length, node, mixed, more };
}

// The level to draw if a cell is as wide as a pixel: the one with the fewest cells that are no
// wider.
export function levelFor({ levels }, cellsWanted) {
	let level = 0;
	while (level + 1 < levels.length && levels[level + 1] >= cellsWanted) level++;
	return level;
}

// The first run that ends after a cell.
function firstBehind({ from, length }, low, high, cell) {
	while (low < high) {
		const middle = (low + high) >> 1;
		if (from[middle] + length[middle] > cell) high = middle;
		else low = middle + 1;
	}
	return low;
}

// Maximum number of rows of a thread.
export function rowsOf(runs, thread, place) {
	let rows = 0;
	for (let i = runs.first[thread]; i < runs.first[thread + 1]; i++)
		rows = Math.max(rows, place.depth[place.nodeOf(runs.node[i])] + runs.more[i]);
	return rows;
}

// place: the tree that is drawn, and where nodes of the page are in it: {depth, parent,
// nodeOf(node), isShown(node, isWhole), sharedDepth(node, mixed)}. Calls bar({row, node, from, to,
// mixed}), in cells, for each frame of a thread between `lo` and `hi` when it ends; a frame that
// began before `lo` begins with its first run there. Calls more(row, from, to, rows) if some stack
// is deeper than what is drawn. Frames on the stack before and after a gap of up to `bridge` cells,
// such as missed samples, are one bar.
export function eachBar(runs, level, thread, [lo, hi], place, { bar, more, bridge = 0 }) {
	const { from, length, node, mixed } = runs, k = level * runs.threads + thread,
		end = runs.first[k + 1];
	const open = [], path = [];
	let until = 0;
	const close = (depth, at) => {
		while (open.length > depth) {
			const frame = open.pop();
			frame.to = Math.min(at, until);
			bar(frame);
		}
	};
	for (let i = firstBehind(runs, runs.first[k], end, lo); i < end && from[i] < hi; i++) {
		if (from[i] > until + bridge) close(0, until);
		const isMixed = mixed[i] > 0 || runs.more[i] > 0;
		if (!place.isShown(node[i], !isMixed)) {
			close(0, from[i]);
			continue;
		}
		const last = place.nodeOf(node[i]);
		path.length = 0;
		for (let at = last; at > 0; at = place.parent[at]) path.push(at);
		let depth = 0;
		while (depth < open.length && depth < path.length &&
			open[depth].node === path[path.length - 1 - depth]) depth++;
		close(depth, from[i]);
		for (; depth < path.length; depth++) open.push({
			row: depth, node: path[path.length - 1 - depth], from: from[i], mixed: false,
		});
		until = from[i] + length[i];
		if (mixed[i] > 0) for (let d = place.sharedDepth(node[i], mixed[i]); d < open.length; d++)
			open[d].mixed = true;
		if (runs.more[i] > 0) more(path.length, from[i], until, runs.more[i]);
	}
	close(0, until);
}

// The cells [from, to) in which the frame was on the stack, with gaps of at most `bridge` cells.
export function extentOf(runs, level, thread, { row, node, from }, place, bridge = 0) {
	const { length } = runs, k = level * runs.threads + thread, first = runs.first[k],
		end = runs.first[k + 1];
	const isIn = (i) => {
		let at = place.nodeOf(runs.node[i]);
		while (place.depth[at] > row + 1) at = place.parent[at];
		return at === node;
	};
	let a = firstBehind(runs, first, end, from), b = a;
	const follows = (i) => runs.from[i + 1] - runs.from[i] - length[i] <= bridge;
	while (a > first && follows(a - 1) && isIn(a - 1)) a--;
	while (b + 1 < end && follows(b) && isIn(b + 1)) b++;
	return [runs.from[a], runs.from[b] + length[b]];
}
