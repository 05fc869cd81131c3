// SPDX-License-Identifier: MIT
// The Waits view: what threads waited for, what ended each wait, and the longest chain, traced
// through the threads from the end of the run to its start.
import { el, endOf, svg, table } from "./dom.js";
import { formatCount, formatShare, formatValue, plural } from "./format.js";
import { showName } from "./labels.js";
import { endsOf, isSampled, keyOf, mostOf, nodesOf, sumOf } from "./waits_data.js";

const MOST = 500; // maximum number of rows in a list
const EDGES = 14; // maximum number of edges drawn
const NOTHING = 0.002; // fraction of the whole below which edges are not drawn
// Colours in style.css of kinds of waits.
const colours = {
	lock: "lock", GIL: "gil", CPU: "cpu", sleep: "rest", child: "rest", signal: "rest",
	stopped: "rest", other: "rest", socket: "net", pipe: "net", poll: "net", event: "net",
	file: "disk", device: "disk", memory: "disk",
};

const time = (ns) => formatValue(ns, "ns");

function styled(element, style) {
	Object.assign(element.style, style);
	return element;
}

function wordsOf(name, file, line) {
	return [el("span", { class: "what" }, showName(name)), file &&
		endOf("place", line ? `${showName(file)}:${line}` : showName(file))].filter(Boolean);
}

export class Waits {
	constructor(model, section) {
		this.model = model;
		this.section = section;
	}

	update() {
		const { header } = this.model.loaded;
		this.known = null; // reset when name rules change
		this.section.replaceChildren(...[
			this.kinds(header.waits), this.graph(header.wait_graph ?? []),
			this.chain(header.longest_chain), this.rows("All waits", header.waits),
		].flat().filter(Boolean));
	}

	// Name of a function, as a link to the flame graph if it is there.
	function(name, file, line) {
		const { acts, data } = this.model;
		const { names, files, file: fileOf, n } = data.functions;
		this.known ??= new Map(Array.from({ length: n },
			(_, f) => [keyOf(names[f], files[fileOf[f]]), f]));
		const f = this.known.get(keyOf(name, file));
		const words = wordsOf(name, file, line);
		return f === undefined ? words : el("button",
			{ class: "pair-link", title: "Find in the flame graph",
				onclick: () => acts.findFunction(f) }, ...words);
	}

	kinds(waits) {
		const all = this.model.loaded.header.head.sum, kinds = {};
		for (const row of waits) kinds[row.for] = (kinds[row.for] ?? 0) + row.ns;
		const part = (kind) => formatShare(kinds[kind] / all);
		return [
			el("h2", {}, `${time(sumOf(waits))} of ${time(all)} are waits` +
				(isSampled(waits) ? ", sampled" : "")),
			el("p", { class: "kinds" }, ...mostOf(kinds).map((kind) => el("span", {},
				el("span", { class: `dot of-${colours[kind]}` }), `${kind} ${part(kind)}`))),
			el("div", { class: "kind-bar", role: "img",
				"aria-label": mostOf(kinds).map((kind) => `${kind} ${part(kind)}`).join(", ") },
				...mostOf(kinds).map((kind) => styled(el("span",
					{ class: `of-${colours[kind]}`, title: `${kind} ${part(kind)}` }),
				{ flexGrow: kinds[kind] / all }))),
		];
	}

	graph(all) {
		if (!all.length) return null;
		const edges = [...all].sort((a, b) => b.ns - a.ns).slice(0, EDGES)
			.filter(({ ns }) => ns >= NOTHING * sumOf(all));
		const left = nodesOf(edges, "in"), right = nodesOf(edges, "by");
		const height = Math.max(left.height, right.height);
		const from = endsOf(left), to = endsOf(right);
		const ribbons = edges.map((edge) => {
			const [a, b] = from.get(edge), [c, d] = to.get(edge), [kind] = mostOf(edge.for);
			return svg("path", { class: `ribbon of-${colours[kind]}`,
				d: `M0 ${a}C50 ${a} 50 ${c} 100 ${c}V${d}C50 ${d} 50 ${b} 0 ${b}Z` },
			svg("title", {}, `${edge.in ?? "?"} waited ${time(edge.ns)} for ${edge.by}: ` +
				mostOf(edge.for).join(", ")));
		});
		const column = ({ list }, side) => el("div", { class: `ends ${side}` },
			...list.map((node) => styled(el("div", {}, ...[
				node.name === undefined ? el("span", { class: "what" }, "(no code)") :
				this.function(node.name, node.file, node.line),
				el("span", { class: "quiet" }, time(node.ns))].flat()), { top: `${node.y}px` })));
		return [
			el("h2", {}, "Who waits for whom"),
			el("p", { class: "quiet" },
				"Left: the function that waited. Right: what ended the wait."),
			styled(el("div", { class: "wait-graph" }, column(left, "waiters"),
				svg("svg", { viewBox: `0 0 100 ${height}`, preserveAspectRatio: "none",
					"aria-hidden": "true" }, ...ribbons),
				column(right, "enders")), { height: `${Math.ceil(height)}px` }),
			all.length > edges.length && el("p", { class: "quiet" },
				`and ${plural(all.length - edges.length, "pair")} more`),
		];
	}

	// Draw how long the chain was in each thread over time.
	lanes({ lanes, cell_ns: cell }) {
		const width = lanes[0].at.length;
		return lanes.map((lane) => el("div", { class: "chain-lane" },
			endOf("what", lane.main ? "main" : lane.name || `thread ${lane.tid}`),
			svg("svg", { viewBox: `0 0 ${width} 1`, preserveAspectRatio: "none", role: "img",
				"aria-label": `${time(lane.ns)} of the chain` },
			...lane.at.map((ns, i) => (ns ? svg("rect", { x: i, width: 1, y: 0, height: 1,
				"fill-opacity": Math.max(0.15, ns / cell).toFixed(2) }) : null))),
			el("span", { class: "quiet" }, time(lane.ns))));
	}

	chain(chain) {
		if (!chain || chain.threads < 2) return null;
		return [
			el("h2", {}, `Longest chain: ${time(chain.ns)}, through ` +
				plural(chain.threads, "thread")),
			el("p", { class: "quiet" },
				"What the end of the main thread depended on, back to the start. ",
				"The run ends sooner only if something in this chain takes less time.",
				chain.unknown_ns > 0 && ` The first ${time(chain.unknown_ns)} are unknown.`),
			el("div", { class: "chain-lanes" }, ...this.lanes(chain)),
			...this.rows(null, chain.rows, chain.ns),
		];
	}

	rows(title, rows, all = this.model.loaded.header.head.sum) {
		const columns = [
			["Time", (row) => time(row.ns)],
			["Share", (row) => formatShare(row.ns / all)],
			...isSampled(rows) ? [["Samples", (row) => formatCount(row.samples)]] : [
				["Times", (row) => (row.runs ? "" : formatCount(row.n))],
				["Longest", (row) => (row.runs ? "" : time(row.longest_ns))],
			],
			["Waiting for", (row) => (row.runs ? "runs" : row.for)],
			["Where", (row) => (row.in === undefined ? "" :
				this.function(row.in, row.in_file, row.in_line))],
			!isSampled(rows) && ["Ended by", (row) => (row.by === undefined ? "" :
				wordsOf(row.by, row.by_file, row.by_line))],
		].filter(Boolean);
		return [
			title && el("h2", {}, title),
			table(columns.map(([heading]) => heading),
				rows.slice(0, MOST).map((row) => columns.map(([, cellOf]) => cellOf(row)))),
			rows.length > MOST && el("p", { class: "quiet" },
				`and ${plural(rows.length - MOST, "row")} more`),
		];
	}
}
