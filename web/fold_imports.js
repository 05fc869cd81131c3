// SPDX-License-Identifier: MIT
// Folding imports: one frame per import, at the place where it happened.
//
//   main                                main
//     _find_and_load                      import json         what ran the module's code
//       _load_unlocked                      ...
//         ...                             finding modules     all other time below such frames
//           <module> json/__init__.py
//
// The interpreter's start-up (imports without a caller) is one frame. The program's own code never
// counts as import machinery.
import { FINDING, STARTUP } from "./fold_functions.js";
import { NOBODY, standing } from "./fold_noise.js";
import { moduleOf } from "./search.js";
import { Children, inOrder, layOut } from "./transform.js";

const OWN = 0, LIBRARY = 2; // src/profile/origin.h

export function hasImports({ functions }) {
	return functions.loads.includes(1);
}

// For each node its part in an import: 0 none, or one plus the fold that its own time goes to.
export function findImports(data) {
	const { n, func, parent, functions } = data;
	const part = new Uint8Array(n);
	const isModule = (f) => functions.names[f] === "<module>";
	for (let i = 1; i < n; i++) {
		const f = func[i], above = part[parent[i]];
		if (functions.loads[f]) part[i] = above || (parent[i] === 0 ? STARTUP : FINDING) + 1;
		else if (!above || functions.origin[f] === OWN) part[i] = 0;
		else if (above === STARTUP + 1) part[i] = functions.origin[f] === LIBRARY ? 0 : above;
		else part[i] = isModule(f) ? 0 : above;
	}
	return part;
}

// The tree without import machinery: {tree, nodeOf}, callees in the page's order. `folded`: the
// frames already folded (fold_noise.js), or null.
export function liftImports(data, imports, folded) {
	const { n, parent, functions } = data, func = folded?.func ?? data.func;
	const nodeOf = new Int32Array(n), children = new Children(n);
	const stands = folded && standing(n, folded);
	const isModule = functions.names.map((name) => name === "<module>");
	const caller = new Int32Array(n); // new caller of a node's callees
	const isLifted = new Uint8Array(n); // or below such a node: may be merged with others
	const isCode = new Uint8Array(n); // by new node: the code of an imported module
	for (let i = 1; i < n; i++) {
		const p = parent[i], up = caller[p], f = func[i];
		if (f === NOBODY) nodeOf[i] = nodeOf[stands[i]];
		else if (imports[i]) {
			nodeOf[i] = children.find(up, functions.n + imports[i] - 1, i);
			caller[i] = up;
		} else {
			isLifted[i] = imports[p] || isLifted[p] ? 1 : 0;
			nodeOf[i] = caller[i] = isLifted[i] || f >= functions.n ? children.find(up, f, i) :
				children.add(up, f, i);
			if (imports[p]) isCode[nodeOf[i]] = isModule[data.func[i]] ? 1 : 0;
		}
	}
	const merged = children.finish(), place = inOrder(merged), tree = layOut(merged, place);
	const modules = new Uint8Array(tree.n), paths = new Uint32Array(tree.n);
	place.forEach((at, i) => (modules[at] = isCode[i]));
	for (let i = 1; i < n; i++) nodeOf[i] = place[nodeOf[i]];
	folded?.paths.forEach((count, i) => (paths[nodeOf[i]] += count));
	return { tree: { ...tree, pageNode: tree.origin, paths, modules }, nodeOf };
}

// Values of the tree with lifted nodes: {self, total}.
export function sumLifted({ tree: { n, parent }, nodeOf }, straight) {
	const self = straight.self.map((values) => {
		const own = new Float64Array(n);
		for (let i = 1; i < values.length; i++) if (values[i] !== 0) own[nodeOf[i]] += values[i];
		return own;
	});
	const total = self.map((own, side) => {
		const all = own.slice();
		for (let i = n - 1; i > 0; i--) all[parent[i]] += all[i];
		// Samples without any frame.
		all[0] = straight.total[side][0];
		return all;
	});
	return { self, total };
}

// Dotted name of a file below a folder of modules, which recordings cut off: the path after the
// last folder that is not a valid package name.
function moduleName(file) {
	if (!/^[^/<].*\/.*\.py$/.test(file)) return moduleOf(file);
	const path = file.replace(/^(lib\/python[\d.]+|(site|dist)-packages)\//, "")
		.replace(/(\/__init__)?\.py$/, "").split("/");
	const last = path.slice(0, -1).findLastIndex((name) => !/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name));
	return path.slice(last + 1).join(".");
}

// Name of a module's code where it is imported.
export function importName({ functions }, f) {
	return `import ${moduleName(functions.files[functions.file[f]])}`;
}
