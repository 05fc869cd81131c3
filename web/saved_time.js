// SPDX-License-Identifier: MIT
// Which removed paths of a function are time that was saved.
//
//   copy   235 ms -> 130 ms, certainly; 104 ms of it on paths that are gone    saved
//   parse  180 ms -> 190 ms; 150 ms of it on paths that are gone               runs elsewhere now
//   old     30 ms ->      0, and the head's code has no such function          saved
//
// A path without samples does not mean saved time: in real programs most such functions are called
// on other paths now. Time was saved where the function certainly costs less, by most of what its
// gone paths had, or where its code is gone.
import { CHANGED } from "./colors.js";
import { BASE, HEAD } from "./data.js";
import { isRemoved } from "./tree.js";

const NOT_THERE = 1; // the other side's code has no such function
const MOST = 0.5;

// What each function had on paths that are gone, of recursion the outermost call.
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

// Flags of functions. tree: as it is drawn; costs: of all functions, as they are.
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
