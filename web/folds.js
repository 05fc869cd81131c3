// SPDX-License-Identifier: MIT
// A simplified call tree: noise (fold_noise.js) and import machinery (fold_imports.js) are folded.
// Costs stay exact, since folded frames are added up.
//
// A folded frame has a placeholder function, numbered after those of the page (fold_functions.js).
// Tables, lists and searches use the tree without folding.
import { plural } from "./format.js";
import { findImports, hasImports, importName, liftImports, sumLifted } from "./fold_imports.js";
import { foldNoise, sumNoise, treeOfNoise } from "./fold_noise.js";
import { treeOf } from "./tree.js";

// A folded frame of a single node keeps that node's name. placeOf: returns the new node.
function nameSingles({ func }, { self: [base, head] }, tree, { runs }, placeOf) {
	for (let k = 0; k < runs.length; k += 3) {
		const i = placeOf(runs[k]);
		if (tree.paths[i] !== 1) continue;
		const node = tree.pageNode?.[i] ?? i;
		if (!base[node] && !head[node]) continue;
		tree.func[i] = func[node];
		tree.paths[i] = 0;
	}
}

// How the tree is folded: {tree, nodeOf, sum}; nodeOf returns the new node of a page's node, sum
// computes the values of the new tree. null: nothing is folded. `whole` is the unfiltered tree.
export function planFolds(data, whole, { noise, imports }) {
	const part = imports && hasImports(data) ? findImports(data) : null;
	const folded = noise && data.verdicts ? foldNoise(data, whole, part) : null;
	if (!part && !folded) return null;
	const plan = part ? liftImports(data, part, folded) : treeOfNoise(data, folded);
	if (folded)
		nameSingles(data, whole, plan.tree, folded, (i) => (part ? plan.nodeOf[i] : i));
	return Object.assign(plan, { sum: part ? sumLifted : sumNoise });
}

// A tree of the page's nodes, folded.
export function foldTree(plan, straight) {
	const { self, total } = plan.sum(plan, straight), tree = treeOf(plan.tree, self, total);
	if (plan.splitOf) tree.split = plan.splitOf(tree, straight);
	return tree;
}

// Name of a frame; `name` is its function's.
export function frameName(data, { func, modules, paths, line, parent }, i, name) {
	if (line?.[i]) return `${name} (${data.functions.names[func[parent[i]]]}:${Math.abs(line[i])})`;
	if (paths?.[i]) return `${name} (${plural(paths[i], "path")})`;
	return modules?.[i] ? importName(data, func[i]) : name;
}
