// SPDX-License-Identifier: MIT
// The page's data with rewritten names: the reader's name rules, applied to both sides.
//
//   rules [[pattern, text]...] -> functions renamed -> equal names merged -> call tree with
//   siblings of one function merged
//
// A frame whose name becomes empty is removed: its callees and its own time go to its caller.
// Nothing is judged again: a function merged from several, or with another's time added, has no
// verdict (`unjudged`); all others keep theirs. Instructions are dropped, because they belong to
// single nodes.
import { BASE, HEAD } from "./data.js";
import { addFolds } from "./fold_functions.js";
import { mapTime } from "./strip_data.js";

const GONE = -1;
const NO_VERDICT = 0, AS_FUNCTION = 3;

// The expression of a rule's pattern, or null.
export function expressionOf(pattern) {
	try {
		return pattern ? new RegExp(pattern, "gu") : null;
	} catch {
		return null;
	}
}

function rename({ functions }, rules) {
	const used = rules.map(([pattern, text]) => [expressionOf(pattern), text])
		.filter(([expression]) => expression);
	const apply = (name) => used.reduce((s, [expression, text]) => s.replace(expression, text),
		name);
	return { names: functions.names.map(apply), files: functions.files.map(apply) };
}

// New functions, with `map` from old ones and their origins. A function that kept its name remains
// separate; a renamed one joins the first with that name and file.
function regroup({ functions }, { names, files }) {
	const map = new Int32Array(functions.n).fill(GONE), origins = [], byName = new Map();
	const key = (f) => `${names[f]}\n${files[functions.file[f]]}`;
	const isSame = (f) => names[f] === functions.names[f] &&
		files[functions.file[f]] === functions.files[functions.file[f]];
	for (const wantSame of [true, false])
		for (let f = 0; f < functions.n; f++) {
			if (isSame(f) !== wantSame || names[f] === "") continue;
			const known = byName.get(key(f));
			if (!wantSame && known !== undefined) {
				origins[known].push(f);
				map[f] = known;
				continue;
			}
			map[f] = origins.push([f]) - 1;
			if (known === undefined) byName.set(key(f), map[f]);
		}
	return { map, origins };
}

// Nodes by (caller, function), in an open hash table; a Map of that many pairs takes ten times as
// long.
export class Children {
	constructor(capacity) {
		const size = 2 ** Math.ceil(Math.log2(capacity * 2 + 2));
		this.mask = size - 1;
		this.slots = new Int32Array(size);
		this.n = 1;
		this.func = new Int32Array(capacity);
		this.parent = new Int32Array(capacity);
		this.origin = new Int32Array(capacity);
		this.func[0] = -1;
	}
	// The callee of node `up` for function f; a new one has `origin`.
	find(up, f, origin) {
		let at = (Math.imul(up, 0x9e3779b1) ^ Math.imul(f + 1, 0x85ebca6b)) >>> 4 & this.mask;
		for (let node; (node = this.slots[at]) !== 0; at = (at + 1) & this.mask)
			if (this.parent[node] === up && this.func[node] === f) {
				this.origin[node] = 0;
				return node;
			}
		return (this.slots[at] = this.add(up, f, origin));
	}
	// Add a callee that is known to be new and is not needed by find().
	add(up, f, origin) {
		const node = this.n++;
		this.func[node] = f;
		this.parent[node] = up;
		this.origin[node] = origin;
		return node;
	}
	finish() {
		const [func, parent, origin] = [this.func, this.parent,
			this.origin].map((values) => values.subarray(0, this.n));
		return { func, parent, origin };
	}
}

// The merged tree in order of creation, callers before callees. nodeOf[i]: the new node of i;
// origin: the single node of a merged one, 0 if there are several.
function mergeNodes(data, map) {
	const nodeOf = new Int32Array(data.n), children = new Children(data.n);
	for (let i = 1; i < data.n; i++) {
		const up = nodeOf[data.parent[i]], f = map[data.func[i]];
		nodeOf[i] = f === GONE ? up : children.find(up, f, i);
	}
	return { nodeOf, ...children.finish() };
}

function heaviestFirst(data, { nodeOf, parent }) {
	const n = parent.length, weight = [new Float64Array(n), new Float64Array(n)];
	for (let i = 1; i < data.n; i++)
		for (const side of [BASE, HEAD]) weight[side][nodeOf[i]] += data.self[side][i];
	for (let i = n - 1; i > 0; i--)
		for (const side of [BASE, HEAD]) weight[side][parent[i]] += weight[side][i];
	return Float64Array.from(weight[HEAD],
		(head, i) => Math.max(head, weight[BASE][i] * data.factor));
}

// Preorder number of each merged node, siblings in order of creation.
export function inOrder({ parent }) {
	const n = parent.length, size = new Int32Array(n).fill(1);
	for (let i = n - 1; i > 0; i--) size[parent[i]] += size[i];
	const place = new Int32Array(n), next = new Int32Array(n).fill(1);
	for (let i = 1; i < n; i++) {
		const p = parent[i];
		place[i] = next[p];
		next[p] += size[i];
		next[i] = place[i] + 1;
	}
	return place;
}

// The same with siblings by weight, the heaviest first.
function byWeight({ func, parent }, weight) {
	const n = func.length, place = new Int32Array(n);
	const first = new Int32Array(n + 1), next = new Int32Array(n), children = new Int32Array(n);
	for (let i = 1; i < n; i++) first[parent[i] + 1]++;
	for (let i = 0; i < n; i++) next[i] = first[i + 1] += first[i];
	// The heaviest is popped first, so the lightest is pushed first.
	for (let i = n - 1; i > 0; i--) children[--next[parent[i]]] = i;
	const pending = new Int32Array(n);
	let depth = 1;
	for (let number = 0; depth > 0; number++) {
		const i = pending[--depth];
		place[i] = number;
		const below = children.subarray(first[i], first[i + 1]);
		if (below.length > 1) below.sort((a, b) => weight[a] - weight[b] || b - a);
		pending.set(below, depth);
		depth += below.length;
	}
	return place;
}

// A merged tree in preorder.
export function layOut(merged, place) {
	const n = merged.func.length;
	const out = {
		n, func: new Int32Array(n), parent: new Int32Array(n), end: new Uint32Array(n),
		depth: new Uint32Array(n), deepest: 0, origin: new Int32Array(n),
	};
	for (let i = 0; i < n; i++) {
		const at = place[i];
		out.func[at] = merged.func[i];
		out.parent[at] = i === 0 ? -1 : place[merged.parent[i]];
		out.origin[at] = merged.origin[i];
	}
	for (let i = 1; i < n; i++) {
		out.depth[i] = out.depth[out.parent[i]] + 1;
		out.deepest = Math.max(out.deepest, out.depth[i]);
	}
	for (let i = n - 1; i >= 0; i--) {
		out.end[i] = Math.max(out.end[i], i + 1);
		if (i > 0) out.end[out.parent[i]] = Math.max(out.end[out.parent[i]], out.end[i]);
	}
	return out;
}

// Functions without a verdict: merged from several, or with added time of removed frames.
function findUnjudged(data, map, origins) {
	const unjudged = Uint8Array.from(origins, (list) => (list.length > 1 ? 1 : 0));
	for (let i = 1; i < data.n; i++) {
		if (map[data.func[i]] !== GONE) continue;
		let up = data.parent[i];
		while (up > 0 && map[data.func[up]] === GONE) up = data.parent[up];
		if (up > 0 && (data.self[BASE][i] || data.self[HEAD][i])) unjudged[map[data.func[up]]] = 1;
	}
	return unjudged;
}

function functionsOf({ functions }, { names, files }, origins) {
	const first = origins.map(([f]) => f);
	const pick = (values) => values.constructor.from(first, (f) => values[f]);
	const alone = (values) => values.constructor.from(origins,
		(list) => (list.length > 1 ? 0 : values[list[0]]));
	return addFolds({
		n: origins.length, names: first.map((f) => names[f]), files,
		file: pick(functions.file), line: pick(functions.line), kind: pick(functions.kind),
		origin: pick(functions.origin), loads: pick(functions.loads),
		ran: functions.ran.map((has) => Uint8Array.from(origins,
			(list) => (list.some((f) => has[f]) ? 1 : 0))),
		presence: alone(functions.presence), movedImport: alone(functions.movedImport),
		source: functions.source.map(alone),
	});
}

function linesOf({ lines }, origins) {
	const pick = (values) => Uint32Array.from(origins,
		(list) => (list.length > 1 ? 0 : values[list[0]]));
	return { ...lines, first: pick(lines.first), end: pick(lines.end) };
}

// Places of functions that no longer exist are in no file.
const placesOf = ({ shared, spans }, map) => {
	const moved = (list) => ({ ...list, func: list.func.map((f) => map[f]) });
	return { shared: moved(shared), spans: moved(spans) };
};

function verdictsOf({ verdicts }, origins, unjudged, tree) {
	if (!verdicts) return null;
	const of = ({ key, word, below, above, surprise, path }) => {
		const pick = (values, none) =>
			values.constructor.from(origins, ([f], g) => (unjudged[g] ? none : values[f]));
		return {
			key, word: pick(word, NO_VERDICT), below: pick(below, -1),
			above: pick(above, -1), surprise: pick(surprise, -1),
			path: path && Uint8Array.from(tree.origin,
				(i, at) => (i > 0 && !unjudged[tree.func[at]] ? path[i] : AS_FUNCTION)),
		};
	};
	return { self: of(verdicts.self), total: of(verdicts.total) };
}

function addUp(data, nodeOf, n) {
	const self = [new Float64Array(n), new Float64Array(n)];
	for (const side of [BASE, HEAD])
		for (let i = 0; i < data.n; i++) self[side][nodeOf[i]] += data.self[side][i];
	return self;
}

// The page's data with rules applied; without a valid rule, the data itself.
export function transform(data, rules) {
	if (!rules.some(([pattern]) => expressionOf(pattern))) return data;
	const renamed = rename(data, rules);
	const { map, origins } = regroup(data, renamed);
	const merged = mergeNodes(data, map);
	const place = byWeight(merged, heaviestFirst(data, merged)), tree = layOut(merged, place);
	const nodeOf = merged.nodeOf.map((i) => place[i]);
	const unjudged = findUnjudged(data, map, origins);
	return {
		...data, ...tree, unjudged, origins, opcodes: null, calls: null, callColumns: null,
		functionHashes: undefined,
		own: undefined, linksOf: undefined, splitOf: undefined, moved: undefined, original: data,
		alignedOf: undefined, wholeTotals: undefined, fileGroups: undefined, fileList: undefined,
		...placesOf(data, map),
		functions: functionsOf(data, renamed, origins),
		self: addUp(data, nodeOf, tree.n),
		cells: data.cells && { ...data.cells, node: data.cells.node.map((i) => nodeOf[i]) },
		time: mapTime(data.time, nodeOf),
		lines: linesOf(data, origins),
		verdicts: verdictsOf(data, origins, unjudged, tree),
		marks: data.marks && Uint8Array.from(tree.origin, (i) => (i > 0 ? data.marks[i] : 0)),
	};
}
