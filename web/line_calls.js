// SPDX-License-Identifier: MIT
// What the lines of a function call, and the lines that call it: in the whole recording, as the
// costs of lines are. A recursive call counts each sample once.
import { knowsCalls, planCalls } from "./call_lines.js";
import { BASE, HEAD } from "./data.js";
import { compare } from "./format.js";
import { straightTree } from "./tree.js";

// Adds call i of the tree unless it is part of an earlier one of the same kind.
function add(map, key, start, i, { end, total }) {
	if (!map.has(key)) map.set(key, { ...start, cost: [0, 0], openUntil: 0 });
	const call = map.get(key);
	if (i < call.openUntil) return;
	call.openUntil = end[i];
	for (const side of [BASE, HEAD]) call.cost[side] += total[side][i];
}

// In a diff the largest change first, else the costliest.
function sorted(data, calls) {
	const size = ({ cost: [base, head] }) =>
		(data.isDiff ? Math.abs(compare(base, head, data.factor).delta) : head);
	const sum = ({ cost: [base, head] }) => base + head;
	return [...calls].filter((call) => sum(call) > 0)
		.sort((a, b) => size(b) - size(a) || sum(b) - sum(a));
}

// {callees: line -> [{f, cost}], callers: [{f, line, cost}]}; lines are those of the calls
// (call_lines.js). null: the page does not know calls.
export function callsOfFunction(data, f) {
	if (!knowsCalls(data)) return null;
	const plan = planCalls(data), { n, func, parent, end, line } = plan.tree;
	const { total } = plan.sum(plan, straightTree(data, null, null));
	const callees = new Map(), callers = new Map();
	for (let i = 1; i < n; i++) {
		if (parent[i] <= 0 || line[i] === 0) continue;
		const caller = func[parent[i]];
		if (caller === f)
			add(callees, `${line[i]} ${func[i]}`, { f: func[i], line: line[i] }, i, { end, total });
		if (func[i] === f)
			add(callers, `${line[i]} ${caller}`, { f: caller, line: line[i] }, i, { end, total });
	}
	const ofLine = new Map();
	for (const call of sorted(data, callees.values()))
		ofLine.set(call.line, [...ofLine.get(call.line) ?? [], call]);
	return { callees: ofLine, callers: sorted(data, callers.values()) };
}

// Number that calls have for a row of aligned lines of a function: that of the head, or of an
// edited line of the base the negative one.
export function callLineOf({ isSwapped, functions }, f, { a, b }) {
	const [base, head] = isSwapped ? [b, a] : [a, b];
	return head?.number ??
		(functions.ran[isSwapped ? BASE : HEAD][f] ? -base.number : base.number);
}
