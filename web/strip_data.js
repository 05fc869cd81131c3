// SPDX-License-Identifier: MIT
// The recording's time in the page: activity of tracks by slot, and slices: self values of nodes by
// thread and bucket of time. A range is [first bucket, first bucket after the last].

import { readRuns } from "./chart_data.js";

export function readTime(header, columns) {
	const { time } = header;
	if (!time) return null;
	const { end_ns: end, tracks, states, slots } = time;
	let slices = null, runs = null;
	return {
		...time, end,
		// Track t, state s and slot i are at (t * states + s) * slots + i: fractions of a
		// slot's length.
		activity: columns.numbers("time.activity", Float64Array,
			tracks.length * states.length * slots),
		missed: columns.numbers("time.missed", Float64Array, slots),
		// Track + 1 of each thread; 0: no sample.
		trackOf: columns.numbers("time.track", Uint32Array, header.threads.length),
		// Read on first use, for ranges.
		slices: () => (slices ??= readSlices(columns)),
		// Read on first use, for the chart.
		runs: () => (runs ??= readRuns(time, header.threads.length, columns)),
	};
}

// Does the page have runs over time?
export function hasChart({ time }) {
	return Boolean(time?.levels.length);
}

function readSlices(columns) {
	const node = columns.numbers("slice.node", Uint32Array, 0);
	const n = node.length;
	for (let i = 0, at = 1; i < n; i++) node[i] = at += node[i];
	return {
		n, node,
		thread: columns.numbers("slice.thread", Uint32Array, n),
		bucket: columns.numbers("slice.bucket", Uint32Array, n),
		self: columns.numbers("slice.self", Float64Array, n),
	};
}

// The same data for merged nodes: nodeOf[i] is the new node of i.
export function mapTime(time, nodeOf) {
	let slices = null, runs = null;
	return time && {
		...time,
		slices() {
			if (!slices) {
				const all = time.slices();
				slices = { ...all, node: all.node.map((i) => nodeOf[i]) };
			}
			return slices;
		},
		runs() {
			runs ??= { ...time.runs(), node: time.runs().node.map((i) => nodeOf[i]) };
			return runs;
		},
	};
}

// Adds the self values of a range to `self`.
export function addRange(time, threads, [from, to], self) {
	const { n, node, thread, bucket, self: values } = time.slices();
	for (let i = 0; i < n; i++)
		if (bucket[i] >= from && bucket[i] < to && (!threads || threads[thread[i]]))
			self[node[i]] += values[i];
}

// Start of bucket i in ns: the same integer as on the command line.
export function edgeOf(time, i) {
	return Number((BigInt(time.end) * BigInt(i)) / BigInt(time.buckets));
}

// Range of "1200-3400" (ns) in a link; null if it is not a range of this recording.
export function rangeOfText(time, text) {
	const found = /^(\d{1,18})-(\d{1,18})$/.exec(text ?? "");
	if (!time || !found) return null;
	const [from, to] = found.slice(1)
		.map((ns) => Math.min(time.buckets, Math.round((Number(ns) / time.end) * time.buckets)));
	return from < to && (from > 0 || to < time.buckets) ? [from, to] : null;
}

export function textOfRange(time, range) {
	return range.map((i) => edgeOf(time, i)).join("-");
}
