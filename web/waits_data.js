// SPDX-License-Identifier: MIT
// The waits in the page's header, and the layout of the wait graph.

const HEIGHT = 300, LEAST = 22, GAP = 5; // of nodes, px

export const hasWaits = ({ header }) => Boolean(header.waits);

// Sampled waits: what ended a wait and how many there were is unknown.
export const isSampled = (rows) => rows[0]?.samples !== undefined;

export const sumOf = (list) => list.reduce((sum, { ns }) => sum + ns, 0);
export const keyOf = (name, file) => `${name}\n${file}`;
export const mostOf = (kinds) => Object.keys(kinds).sort((a, b) => kinds[b] - kinds[a]);

// Nodes of one side of the graph with their positions, most time first.
export function nodesOf(edges, side) {
	const nodes = new Map();
	for (const edge of edges) {
		const key = keyOf(edge[side] ?? "", edge[`${side}_file`] ?? "");
		if (!nodes.has(key))
			nodes.set(key, { name: edge[side], file: edge[`${side}_file`],
				line: edge[`${side}_line`], ns: 0, edges: [] });
		nodes.get(key).ns += edge.ns;
		nodes.get(key).edges.push(edge);
	}
	const list = [...nodes.values()].sort((a, b) => b.ns - a.ns), all = sumOf(list);
	let y = 0;
	for (const node of list) {
		node.y = y;
		node.height = Math.max(LEAST, (node.ns / all) * HEIGHT);
		y += node.height + GAP;
	}
	return { list, height: y - GAP };
}

// Start or end of each edge at its node: [from, to].
export function endsOf(nodes) {
	const ends = new Map();
	for (const node of nodes.list) {
		let y = node.y;
		for (const edge of node.edges) {
			const part = (edge.ns / node.ns) * node.height;
			ends.set(edge, [y, y + part]);
			y += part;
		}
	}
	return ends;
}
