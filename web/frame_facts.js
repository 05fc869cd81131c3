// SPDX-License-Identifier: MIT
// All facts about a frame as values: its cost, its change, and the verdict on that.
import { benchmarkChange } from "./benchmarks.js";
import { BASE, HEAD } from "./data.js";
import { CHANGED } from "./colors.js";
import { compare, showsScale } from "./format.js";
import { shiftOf, wrapperState } from "./inferred.js";
import {
	frameVerdict, isMoved, isOfSum, isPartOfSum, ownVerdict, pathCode,
} from "./frame_colour.js";
import { ownTime, pageNodeOf } from "./tree.js";
import { changeWord, sideWord, sumWord } from "./verdicts.js";

// The path's own verdict: changed if its self or total did. null: not tested.
function pathWord(data, tree, i, { self, total, side }) {
	const { verdicts } = data;
	if (!verdicts?.self.path || pageNodeOf(tree, i) === 0) return null;
	const codes = [verdicts.self, verdicts.total].map((family) => pathCode(tree, i, family));
	const words = codes.map(ownVerdict), best = Math.max(...words);
	const { delta } = words[1] === best ? total : self;
	if (best !== CHANGED && codes.some(isPartOfSum))
		return sumWord(data, (isPartOfSum(codes[1]) ? total : self).delta, side);
	return best < 0 ? null : changeWord(data, best, delta, side);
}

// The whole that a width is a share of, in layouts that are not of one side.
const wholes = { union: "both sides", delta: "all change" };

// Facts of node i of a flame graph's picture or aside.
export function nodeFacts(data, flame, i, isAside = false) {
	const { tree, what } = flame.picture;
	const { w, all, tree: drawn } = isAside ? flame.aside : flame.picture;
	const f = tree.func[i];
	const facts = {
		f, unit: data.unit, all, width: w[i], zoomed: w[flame.focus],
		allName: drawn.elided ? "the removed paths" :
			what.isDiff ? wholes[what.widths] ?? "all" : "all",
		isDiff: what.isDiff,
		wrapper: what.isDiff ? wrapperState(tree, i, data.marks, data.isSwapped) : "",
	};
	const own = (side) => ownTime(tree, side, i);
	if (what.isDiff) {
		facts.isScaled = showsScale(data.factor);
		facts.change = data.header.scale.mode === "share" ? "By share" : "Change";
		facts.self = compare(own(BASE), own(HEAD), data.factor);
		// New frames have no cost in the base, even if they wrap others.
		facts.total = compare(facts.wrapper === "new" ? 0 : tree.total[BASE][i],
			facts.wrapper === "removed" ? 0 : tree.total[HEAD][i], data.factor);
		facts.removed = tree.total[HEAD][i] === 0 && tree.total[BASE][i] > 0;
		facts.added = tree.total[BASE][i] === 0 && tree.total[HEAD][i] > 0;
		facts.side = sideWord(data, facts);
	} else {
		facts.self = own(what.side);
		facts.total = tree.total[what.side][i];
	}
	facts.ofBenchmark = what.isDiff ? benchmarkChange(data, tree, i) : "";
	facts.path = what.isDiff ? pathWord(data, tree, i, facts) : null;
	if (what.verdicts) {
		const { total } = what.verdicts, self = tree.ofTotals ? total : what.verdicts.self;
		facts.word = frameVerdict(tree, i, self);
		facts.totalWord = frameVerdict(tree, i, total);
		facts.noise = { self: facts.word !== CHANGED, total: facts.totalWord !== CHANGED };
		facts.ofSum = { self: isOfSum(tree, i, self), total: isOfSum(tree, i, total) };
	}
	facts.shift = pageNodeOf(tree, i) > 0 && isMoved(tree, i, what) ? shiftOf(data, tree, i) : null;
	facts.leaf = tree.inverted ? leafOf(tree, i) : -1;
	facts.callees = countChildren(tree, i);
	return facts;
}

function leafOf(tree, i) {
	let at = i;
	while (tree.parent[at] > 0) at = tree.parent[at];
	return at === i ? -1 : tree.func[at];
}

function countChildren(tree, i) {
	let n = 0;
	for (let c = i + 1; c < tree.end[i]; c = tree.end[c]) n++;
	return n;
}
