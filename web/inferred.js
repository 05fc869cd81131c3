// SPDX-License-Identifier: MIT
// What the comparison inferred (renames, moves, wrappers), looked up by function and by node.
import { ratioOfState, wordOfState } from "./cost_words.js";
import { BASE, HEAD } from "./data.js";
import { pageNodeOf } from "./tree.js";

const MOVED = 1, WRAPPER = 2; // marks of nodes

export const howWords = {
	body: "same body", scope: "in a renamed class, function or file", moved: "moved",
	name: "unique name", neighbourhood: "same callers and callees", mapped: "mapped",
};

const presenceOf = ({ functions }, f) => functions.presence?.[f] ?? 0;

// Word for a function of a state, "new" or "removed".
export const stateWord = (data, f, state) => wordOfState(state, presenceOf(data, f));

// The same in place of a percentage.
export const stateRatio = (data, f, state) => ratioOfState(state, presenceOf(data, f));

const key = (name, file) => `${name}\n${file}`;

// Links by the page's function; with name rules, only those of functions that kept their names. The
// page has the head's names of functions; with sides swapped, those in `from`.
export function linksByFunction(data) {
	if (data.linksOf) return data.linksOf;
	const { functions } = data;
	const known = new Map((data.header.links ?? []).map((link) =>
		[data.isSwapped ? key(link.from_name, link.from_file) : key(link.name, link.file), link]));
	data.linksOf = new Map();
	for (let f = 0; f < functions.n && known.size; f++) {
		const link = known.get(key(functions.names[f], functions.files[functions.file[f]]));
		if (link) data.linksOf.set(f, link);
	}
	return data.linksOf;
}

// Name of the function from which most of a new one's code came; "" if there is none.
export function originOf(data, f) {
	data.splitOf ??= new Map((data.isSwapped ? [] : data.header.splits ?? [])
		.map(({ name, file, from_name: from }) => [key(name, file), from]));
	const { names, files, file } = data.functions;
	return data.splitOf.get(key(names[f], files[file[f]])) ?? "";
}

// The shift of cost below a node. Nodes are numbered as in the page, so there is none with name
// rules.
function shiftAt(data, node) {
	if (data.original) return null;
	return (data.header.shifts ?? []).find((shift) => shift.node + 1 === node) ?? null;
}

// Is node i a wrapper: "new", "removed", or "". A new wrapper's base is the code that it wraps.
export function wrapperState(tree, i, marks, isSwapped) {
	if (!marks || marks[pageNodeOf(tree, i)] !== WRAPPER) return "";
	const hasBoth = tree.total[BASE][i] > 0 && tree.total[HEAD][i] > 0;
	if (hasBoth) return isSwapped ? "removed" : "new";
	return tree.total[HEAD][i] > 0 ? "new" : "removed";
}

// Flags of functions whose cost only moved, on all their paths; null: none.
export function movedFunctions(data) {
	const { marks, func, self: [base, head], functions } = data;
	if (!marks || data.moved) return data.moved ?? null;
	const moved = (data.moved = new Uint8Array(functions.n));
	const first = marks.indexOf(MOVED, 1);
	if (first < 0) return moved;
	for (let i = first; i > 0; i = marks.indexOf(MOVED, i + 1)) moved[func[i]] = 1;
	for (let i = 1; i < marks.length; i++)
		if (moved[func[i]] !== 0 && marks[i] !== MOVED && (base[i] !== 0 || head[i] !== 0))
			moved[func[i]] = 0;
	return moved;
}

// The shift that a moved node takes part in, with the function below which the cost moved.
export function shiftOf(data, tree, i) {
	let at = pageNodeOf(tree, i);
	while (at > 0 && data.marks[at] === MOVED) {
		const shift = shiftAt(data, data.parent[at]);
		if (shift) return { shift, caller: data.func[data.parent[at]] };
		at = data.parent[at];
	}
	return null;
}
