// SPDX-License-Identifier: MIT
// What the comparison inferred, as the page's header lists it, by the functions and nodes it is
// about.
import { BASE, HEAD } from "./data.js";
import { pageNodeOf } from "./tree.js";

export const howWords = {
	body: "same body", scope: "in a renamed class, function or file", moved: "moved",
	name: "unique name", neighbourhood: "same callers and callees", mapped: "mapped",
};

// By what the other side's code says of a function that only one side ran: nothing, not there,
// there.
const stateWords = {
	new: ["new or newly called", "new", "newly called"],
	removed: ["gone or no longer called", "gone", "no longer called"],
};

// What a function is that has that state, "new" or "removed".
export function stateWord({ functions }, f, state) {
	return stateWords[state][functions.presence?.[f] ?? 0];
}

// The same in place of a percentage: the words only where they are known.
export function stateRatio({ functions }, f, state) {
	return functions.presence?.[f] === 1 ? stateWords[state][1] : state === "new" ? "from 0" :
		"to 0";
}

const key = (name, file) => `${name}\n${file}`;

// Links by the page's function; under rules for names those of functions that kept theirs. A page
// names functions as the head does; swapped, that is `from`.
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

// Shifts by the node below which the cost moved. Nodes have the page's numbers, so none under rules
// for names.
export function shiftAt(data, node) {
	if (data.original) return null;
	return (data.header.shifts ?? []).find((shift) => shift.node + 1 === node) ?? null;
}

// Which wrapper node i is: "new", "removed", "" when it is none. A new wrapper's base is what it
// wraps.
export function wrapperState(tree, i, marks, isSwapped) {
	if (!marks || marks[pageNodeOf(tree, i)] !== 2) return "";
	const hasBoth = tree.total[BASE][i] > 0 && tree.total[HEAD][i] > 0;
	if (hasBoth) return isSwapped ? "removed" : "new";
	return tree.total[HEAD][i] > 0 ? "new" : "removed";
}

// Flags of functions whose cost only moved, wherever they are called; null: there are none.
export function movedFunctions(data) {
	const { marks, func, self, functions } = data;
	if (!marks || data.moved) return data.moved ?? null;
	const moved = new Uint8Array(functions.n);
	for (let i = 1; i < marks.length; i++) if (marks[i] === 1) moved[func[i]] = 1;
	for (let i = 1; i < marks.length; i++) if (marks[i] !== 1 && (self[BASE][i] || self[HEAD][i]))
		moved[func[i]] = 0;
	return (data.moved = moved);
}

// The shift that a moved node takes part in, with the function below which the cost moved.
export function shiftOf(data, tree, i) {
	let at = pageNodeOf(tree, i);
	while (at > 0 && data.marks[at] === 1) {
		const shift = shiftAt(data, data.parent[at]);
		if (shift) return { shift, caller: data.func[data.parent[at]] };
		at = data.parent[at];
	}
	return null;
}
