// SPDX-License-Identifier: MIT
// Finds the functions whose removed paths saved time.
//
//   copy   235 ms -> 130 ms, certainly; 104 ms of it on paths that are gone    saved
//   parse  180 ms -> 190 ms; 150 ms of it on paths that are gone               runs elsewhere now
//   old     30 ms ->      0, and the head's code has no such function          saved
//
// A path without samples does not prove that time was saved: in real programs most such functions
// are now called on other paths. Time was saved if the function certainly costs less, by at least
// half of the cost of its removed paths, or if its code was removed.
import { CHANGED } from "./colors.js";
import { BASE, HEAD } from "./data.js";
import { isRemoved } from "./tree.js";

const NOT_THERE = 1; // the other side's code has no such function
const MOST = 0.5;

// Cost of each function on removed paths, counting only the outermost call of a recursion.
function goneTimes(tree, count) {
	const gone = new Float64Array(count), openUntil = new Uint32Array(count);
	const { n, func, end, total: [before] } = tree;
	for (let i = 1; i < n; i++) {
		const f = func[i];
		if (!(f >= 0 && f < count) || i < openUntil[f] || !isRemoved(tree, i)) continue;
		openUntil[f] = end[i];
		gone[f] += before[i];
	}
	return gone;
}

// Flags of functions that saved time. tree: as drawn; costs: of all functions, unfiltered.
export function savedFunctions(tree, data, costs) {
	const { n, presence } = data.functions, { word } = data.verdicts.total, { factor } = data;
	const gone = goneTimes(tree, n), before = costs.total[BASE], after = costs.total[HEAD];
	return Uint8Array.from(gone, (time, f) => {
		if (time === 0) return 0;
		if (after[f] === 0 && presence[f] === NOT_THERE) return 1;
		const less = before[f] * factor - after[f];
		return word[f] === CHANGED && less >= MOST * time * factor ? 1 : 0;
	});
}
