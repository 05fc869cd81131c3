// SPDX-License-Identifier: MIT
// The tree with a frame for each line that calls a function, as the switch *Call lines* draws it.
//
//   main (line 5) -> work            main -> work (main:5)
//   main (line 9) -> work    is      main -> work (main:9)
//
// The page has the line of each call, and the costs of each call of a node that several lines call.
// With a filter, the calls keep the shares of such a node that they have in the whole recording.
// Filters by thread and by time select samples within a node, whose lines the page does not have,
// so there are no call lines with these filters, nor in the chart. Verdicts are of the page's
// nodes, whose paths were tested. One of several calls of a node is only certain together with the
// others: if the node's change is certain and the call changed in the same direction.

// In a path, the second call of a function by the same caller is the function plus STEP, the third
// is the function plus 2 STEP, and so on.
const STEP = 2 ** 32;

export const functionOfStep = (step) => step % STEP;
export const ordinalOfStep = (step) => Math.floor(step / STEP);

// The lines of calls. A line is stored as its difference from that of the caller's last call of the
// same function or, if there is none, of any.
function readCallLines(columns, { n, node, parent }, func, functionCount) {
	const line = columns.numbers("call.line", Int32Array, n - 1, 1);
	const ofCaller = new Int32Array(functionCount + 1), ofBoth = new Map();
	for (let i = 1; i < n; i++) {
		const caller = func[node[parent[i]]] + 1, both = caller * STEP + func[node[i]];
		line[i] += ofBoth.get(both) ?? ofCaller[caller];
		ofCaller[caller] = line[i];
		ofBoth.set(both, line[i]);
	}
	return line;
}

// {n, node, line, parent, end, depth, deepest, several, self}, callers first; index 0 stands for
// everything, as in the page's nodes. A call is as deep as its node.
function readCalls(columns, data) {
	const count = columns.count("call.node"), n = count + 1;
	const step = columns.numbers("call.node", Int32Array, count);
	const selfOf = (side) => columns.numbers(`call.self.${side}`, Float64Array, count, 1);
	const calls = {
		n, deepest: 0, node: new Int32Array(n), parent: new Int32Array(n),
		end: new Uint32Array(n), depth: new Uint32Array(n), several: new Uint8Array(data.n),
		self: ["base", "head"].map(selfOf),
	};
	const { node, parent, end, depth, several } = calls, last = [0];
	let above = 0;
	parent[0] = -1;
	for (let i = 1; i < n; i++) {
		// The page's node 0 is not in the file.
		node[i] = i === 1 ? step[0] + 1 : node[i - 1] + 1 + step[i - 1];
		const d = depth[i] = data.depth[node[i]];
		for (; above >= d; above--) end[last[above]] = i;
		parent[i] = last[d - 1];
		last[d] = i;
		above = d;
		several[node[i]] = Math.min(2, several[node[i]] + 1);
		calls.deepest = Math.max(calls.deepest, d);
	}
	for (; above >= 0; above--) end[last[above]] = n;
	calls.line = readCallLines(columns, calls, data.func, data.functions.n);
	return calls;
}

// These columns are read on first use.
function callsOf(data) {
	if (!data.calls) {
		data.calls = readCalls(data.callColumns, data);
		if (data.isSwapped) data.calls.self.reverse();
	}
	return data.calls;
}

// Does the page have any line of a call?
export const knowsCalls = ({ callColumns }) => Boolean(callColumns);

// Can the state be drawn with call lines, and is it?
export const canSplitCalls = ({ data, state }) =>
	knowsCalls(data) && !state.inverted && !state.threads && !state.range &&
	state.tab !== "chart";
export const splitsCalls = (model) => canSplitCalls(model) && model.state.calls;

// Steps of paths: the function of each call, plus k steps for the k-th of the same caller.
function stepsOf({ n, parent }, func) {
	const steps = new Float64Array(n), seen = new Map();
	for (let i = 1; i < n; i++) {
		const key = parent[i] * STEP + func[i], k = seen.get(key) ?? 0;
		seen.set(key, k + 1);
		steps[i] = func[i] + k * STEP;
	}
	return steps;
}

// Like planFolds (folds.js): {tree, nodeOf, sum}.
export function planCalls(data) {
	const calls = callsOf(data);
	if (!calls.plan) {
		const { n, node, parent, end, depth, deepest, line } = calls;
		const func = Int32Array.from(node, (at) => data.func[at]);
		const nodeOf = new Int32Array(data.n);
		for (let i = n - 1; i >= 0; i--) nodeOf[node[i]] = i;
		calls.plan = {
			tree: {
				n, func, parent, end, depth, deepest, pageNode: node, line,
				step: stepsOf(calls, func),
			},
			nodeOf, calls, sum: sumCalls,
			splitOf: (tree, straight) => compareParts(calls, data, tree, straight),
		};
	}
	return calls.plan;
}

// Finds which nodes of a tree are one of several calls of a page's node, and whether the cost of
// such a call ("self" or "total") changed in the same direction as that of the node.
function compareParts({ node, several }, data, tree, straight) {
	const way = ([base, head], i) => Math.sign(head[i] - data.factor * base[i]);
	return {
		isPart: Uint8Array.from(node, (at) => (several[at] > 1 ? 1 : 0)),
		isAsWhole: (i, key) => way(tree[key], i) === way(straight[key], node[i]),
	};
}

// Values of the page's nodes, shared by the calls of each.
function sumCalls({ calls, nodeOf }, straight) {
	const { n, node, parent, several } = calls;
	const self = straight.self.map((own, side) => {
		const ofCalls = calls.self[side];
		const all = new Float64Array(own.length), out = new Float64Array(n);
		for (let i = 1; i < n; i++) all[node[i]] += ofCalls[i];
		for (let i = 1; i < n; i++) {
			const at = node[i];
			if (several[at] < 2) out[i] = own[at];
			else if (all[at]) out[i] = own[at] * ofCalls[i] / all[at];
			else if (nodeOf[at] === i) out[i] = own[at];
		}
		return out;
	});
	const total = self.map((values, side) => {
		const sums = values.slice();
		for (let i = n - 1; i > 0; i--) sums[parent[i]] += sums[i];
		sums[0] = straight.total[side][0];
		return sums;
	});
	return { self, total };
}
