// SPDX-License-Identifier: MIT
// Calls of functions by line: what each line calls, and which lines call the functions. They are of
// the whole recording, like the costs of lines. A recursive call counts each sample once.
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

function listed(data, calls, keyOf) {
	const lists = new Map();
	for (const call of sorted(data, calls))
		lists.set(keyOf(call), [...lists.get(keyOf(call)) ?? [], call]);
	return lists;
}

// Of some functions, {calleesOf(f, line): [{f, cost}], callersOf(f): [{f, line, cost}]}; lines are
// those of the calls (call_lines.js). null: the page does not know calls.
export function callsOfFunctions(data, functions) {
	if (!knowsCalls(data)) return null;
	const wanted = new Set(functions);
	const plan = planCalls(data), { n, func, parent, end, line } = plan.tree;
	const { total } = plan.sum(plan, straightTree(data, null, null));
	const callees = new Map(), callers = new Map();
	for (let i = 1; i < n; i++) {
		if (parent[i] <= 0 || line[i] === 0) continue;
		const by = func[parent[i]], f = func[i], call = { by, line: line[i] };
		if (wanted.has(by))
			add(callees, `${by} ${line[i]} ${f}`, { f, ...call }, i, { end, total });
		if (wanted.has(f))
			add(callers, `${f} ${line[i]} ${by}`, { f: by, ...call, of: f }, i, { end, total });
	}
	const called = listed(data, callees.values(), ({ by, line: at }) => `${by} ${at}`);
	const calling = listed(data, callers.values(), ({ of }) => of);
	return {
		calleesOf: (f, at) => called.get(`${f} ${at}`) ?? [],
		callersOf: (f) => calling.get(f) ?? [],
	};
}

// The line number that calls use for a row of a function's aligned lines: that of the head, or the
// negative number of an edited line of the base.
export function callLineOf({ isSwapped, functions }, f, { a, b }) {
	const [base, head] = isSwapped ? [b, a] : [a, b];
	return head?.number ??
		(functions.ran[isSwapped ? BASE : HEAD][f] ? -base.number : base.number);
}
