// SPDX-License-Identifier: MIT
// The colour class of a frame, from its cost and its verdict.
//
//   head only, and wrappers      new: solid if its cost is certain, else pale and hatched
//   base only                    removed: hollow
//   one side, but cost moved     neutral, with its own glyph
//   both, no certain change      neutral: unchanged, or hatched if unsure
//   both, changed                a step of more or less, by one of the modes below
//   certain only as a sum        the same colour, hatched: all paths of its function together
//
// When coloured by total, all callers of a slow function are red, too. The mark at the lower edge
// of a frame shows the change of its own time, to the scale of the widths.
//
// Verdicts apply to the whole run, whatever is filtered: the path's own if it was tested, else its
// function's. Without verdicts, and in CPython's palette, only the numbers decide.
import { BASE, HEAD, TASK_KIND } from "./data.js";
import {
	ABOVE_REMOVED, CHANGED, heatClass, LESS, MORE, MOVED, MOVED_AWAY, NEW, NEW_UNSURE, REMOVED,
		SAME, TASK, togetherOf, UNCHANGED, UNKNOWN, UNSURE,
} from "./colors.js";
import { wrapperState } from "./inferred.js";
import { ownTime, pageNodeOf } from "./tree.js";

// Ways to choose the step of a changed frame, and where steps begin. Self and total are relative to
// the frame's own base, the share is a part of the change of all functions, more and less alike.
export const modes = {
	self: {
		title: "Self", steps: [0.15, 0.3, 0.5, 1],
		isOwn: true, legend: "stronger = bigger change (15/30/50/100 %)",
	},
	total: {
		title: "Total", steps: [0.15, 0.3, 0.5, 1],
		legend: "stronger = bigger change (15/30/50/100 %)",
	},
	share: {
		title: "Share of change", steps: [0.01, 0.05, 0.15, 0.4],
		legend: "stronger = bigger share of all change (1/5/15/40 %)",
	},
	surprise: {
		title: "Certainty", steps: [0, 300, 600, 1000],
		isOwn: true, legend: "stronger = more certain (p = 0.05, 10⁻³, 10⁻⁶, 10⁻¹⁰)",
	},
};

// The mode's text in the legend, as in pictures (report/svg.c). costs: the cost's name.
export function legendOf(by, costs, isInverted) {
	const { isOwn, legend } = modes[by];
	if (isInverted && by !== "surprise") return `own ${costs} of the leaf; ${legend}`;
	return isOwn ? `own ${costs}; ${legend}` : legend;
}

// Verdicts of paths in the page's columns: a verdict, or AS_FUNCTION; plus a bit for paths of a
// function that certainly changed while no single path did.
const AS_FUNCTION = 3, WORD = 3, TOGETHER = 4;

// The function whose verdict applies: the frame's, in an inverted tree the leaf's.
function judgedFunction(tree, i) {
	let at = i;
	while (tree.inverted && tree.parent[at] > 0) at = tree.parent[at];
	return tree.func[at];
}

// Code of one of several calls of a path (call_lines.js), which was not tested by itself. If the
// path certainly changed and the call changed in the same direction, the call is certain together
// with the others.
function callCode({ func, split }, i, { key, word }, code) {
	const ofPath = code === AS_FUNCTION ? word[func[i]] : code & WORD;
	if (ofPath !== CHANGED && !isPartOfSum(code)) return UNKNOWN;
	return split.isAsWhole(i, key) ? UNKNOWN | TOGETHER : UNKNOWN;
}

// The code of a frame's path.
export function pathCode(tree, i, family) {
	const node = pageNodeOf(tree, i);
	const code = node > 0 && family.path ? family.path[node] : AS_FUNCTION;
	return tree.split?.isPart[i] ? callCode(tree, i, family, code) : code;
}

// The verdict that a frame shows.
export function frameVerdict(tree, i, family) {
	const own = pathCode(tree, i, family);
	return own === AS_FUNCTION ? family.word[judgedFunction(tree, i)] : own & WORD;
}

// The path's own verdict; -1: none.
export function ownVerdict(code) {
	return code === AS_FUNCTION ? -1 : code & WORD;
}

// Is a path's change certain together with those of the function's other paths?
export function isPartOfSum(code) {
	return (code & TOGETHER) !== 0;
}

export function isOfSum(tree, i, family) {
	return isPartOfSum(pathCode(tree, i, family));
}

// Is there any such path?
export function hasSums(family) {
	return (family.hasSums ??= [UNKNOWN, UNCHANGED].some((word) =>
		family.path?.includes(word | TOGETHER)));
}

// The family of verdicts by which a frame is coloured.
export function familyOf(tree, what) {
	if (!what.verdicts) return null;
	const isTotal = tree.ofTotals ||
		(!tree.inverted && (what.by === "total" || what.by === "share"));
	return isTotal ? what.verdicts.total : what.verdicts.self;
}

function stepOf(size, steps) {
	let step = 0;
	while (step < steps.length && size >= steps[step]) step++;
	return step;
}

// The percentages of CPython's palette; the second and third step begin above them.
function relativeStep(base, head) {
	const size = base === 0 ? (head > 0 ? 1 : 0) : Math.abs((head - base) / base);
	return size >= 1 ? 4 : size > 0.5 ? 3 : size > 0.3 ? 2 : size >= 0.15 ? 1 : 0;
}

// Step by relative change; base is scaled.
function sizeStep(tree, i, what, base, head) {
	const { steps } = modes[what.by];
	if (what.by === "share") return stepOf(Math.abs(head - base) / (what.change || 1), steps);
	if (what.by !== "surprise" || !what.verdicts) return relativeStep(base, head);
	const surprise = what.verdicts[tree.ofTotals ? "total" :
		"self"].surprise[judgedFunction(tree, i)];
	return surprise < 0 ? 4 : stepOf(surprise, steps);
}

// Did the cost only move? Decided by the node's mark, or for a frame of several nodes by its
// function.
export function isMoved(tree, i, what) {
	if (!what.marks) return false;
	const node = pageNodeOf(tree, i);
	return node > 0 ? what.marks[node] === 1 : what.moved[judgedFunction(tree, i)] === 1;
}

function removedClass(tree, i, what) {
	if (tree.elided && !tree.inverted && !what.removedHere(i)) return ABOVE_REMOVED;
	return isMoved(tree, i, what) ? MOVED_AWAY : REMOVED;
}

function addedClass(tree, i, what) {
	if (isMoved(tree, i, what)) return MOVED;
	if (!what.verdicts) return NEW;
	const { self, total } = what.verdicts;
	const families = !tree.inverted || tree.ofTotals ? [self, total] : [self];
	if (families.some((family) => frameVerdict(tree, i, family) === CHANGED)) return NEW;
	return families.some((family) => isOfSum(tree, i, family)) ? togetherOf(NEW) : NEW_UNSURE;
}

function changeClass(tree, i, what, base, head) {
	const delta = head - base, family = familyOf(tree, what);
	if (base === 0 && head === 0) return SAME;
	// In CPython's palette own time without a base is new, too.
	if (what.isTachyonPalette && base === 0) return NEW;
	const word = family ? frameVerdict(tree, i, family) : null;
	const isSum = family && word !== CHANGED && isOfSum(tree, i, family);
	if (family && word !== CHANGED && !isSum) return word === UNKNOWN ? UNSURE : SAME;
	// A certain change is coloured even if small, but not if the path itself is unchanged.
	const least = family && delta !== 0 && (word === CHANGED || word === UNKNOWN) ? 1 : 0;
	const step = Math.max(sizeStep(tree, i, what, base, head), least);
	if (step === 0) return word === UNKNOWN ? UNSURE : SAME;
	const colour = (delta > 0 ? MORE : LESS) + step - 1;
	return isSum ? togetherOf(colour) : colour;
}

// A path that only lacks samples because of filters is neither new nor removed.
function isReally(tree, i, isSo) {
	return !tree.isNumbered || isSo(i);
}

// Colour class of a node of a shown tree.
// what: {isDiff, side, by, factor, kinds, verdicts, marks, moved, change, isTachyonPalette,
// isSwapped, removedHere, addedHere}
export function nodeClass(tree, i, what) {
	const isTotal = what.by === "total" || what.by === "share" || tree.inverted;
	const spent = (side) => (isTotal ? tree.total[side][i] : ownTime(tree, side, i));
	if (!what.isDiff && what.kinds?.[tree.func[i]] === TASK_KIND) return TASK;
	if (!what.isDiff) return heatClass(spent(what.side) / tree.total[what.side][0]);
	const before = tree.total[BASE][i], after = tree.total[HEAD][i];
	// Folded frames have a cost but no verdict.
	if (what.verdicts && tree.func[i] >= what.functions) return UNSURE;
	const wrapper = what.isTachyonPalette ? "" : wrapperState(tree, i, what.marks, what.isSwapped);
	if (wrapper) return wrapper === "new" ? addedClass(tree, i, what) : removedClass(tree, i, what);
	if (after === 0 && before > 0 && (tree.elided || isReally(tree, i, what.removedHere)))
		return removedClass(tree, i, what);
	if (before === 0 && after > 0 && !what.isTachyonPalette && isReally(tree, i, what.addedHere))
		return addedClass(tree, i, what);
	return changeClass(tree, i, what, spent(BASE) * what.factor, spent(HEAD));
}

// The change of a frame's own time, to mark in it, and its colour class; null if it is unknown, or
// if colours are by own time.
export function ownChange(tree, i, what) {
	if (!what.isDiff || what.isTachyonPalette || tree.inverted || tree.elided ||
		!(what.by === "total" || what.by === "share")) return null;
	const base = ownTime(tree, BASE, i) * what.factor, head = ownTime(tree, HEAD, i);
	const delta = head - base, own = what.verdicts?.self;
	const isKnown = own ? frameVerdict(tree, i, own) === CHANGED : relativeStep(base, head) > 0;
	const isSum = own && !isKnown && isOfSum(tree, i, own);
	if (delta === 0 || (!isKnown && !isSum)) return null;
	const colour = (delta > 0 ? MORE : LESS) + 3;
	return { delta, colour: isSum ? togetherOf(colour) : colour };
}
