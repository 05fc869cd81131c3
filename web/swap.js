// SPDX-License-Identifier: MIT
// Swapping the sides of a diff: the head becomes the base. All views are computed from these
// arrays, so the page is mirrored. Verdicts on functions are unchanged; the run's interval becomes
// that of the inverse ratio (interval_text.js does so for functions).

const mirrored = { slower: "faster", faster: "slower" };

// The run's verdict is relative to its base: (head - base) / base. The smallest detectable change
// is a difference of logarithms.
function swapVerdict(v) {
	if (!v || v.change_pct === null) return;
	const turn = (p) => (p === null ? null : (1 / (1 + p / 100) - 1) * 100);
	v.word = mirrored[v.word] ?? v.word;
	[v.low, v.high] = [turn(v.high), turn(v.low)];
	v.change_pct = turn(v.change_pct);
}

function swapInferred({ links = [], shifts = [], name_rules = [] }) {
	for (const link of links) {
		[link.from_name, link.name] = [link.name, link.from_name];
		[link.from_file, link.file] = [link.file, link.from_file];
	}
	for (const shift of shifts) {
		[shift.base_callees, shift.head_callees] = [shift.head_callees, shift.base_callees];
		[shift.base_total, shift.head_total] = [shift.head_total, shift.base_total];
	}
	for (const rule of name_rules)
		[rule.base_functions, rule.head_functions] = [rule.head_functions, rule.base_functions];
}

export function swapSides(data) {
	const { header } = data;
	for (const pair of [data.self, data.cells?.self, data.lines.self, data.lines.total,
		data.functions.source, data.functions.ran, data.wrappers.total,
		data.opcodes?.self, data.opcodes?.total, data.calls?.self]) pair?.reverse();
	for (const both of [header, ...header.threads]) [both.base, both.head] = [both.head, both.base];
	data.factor = 1 / data.factor;
	swapVerdict(header.verdict);
	swapInferred(header);
	if (header.moved_imports) header.moved_imports.net *= -data.factor;
	data.isSwapped = !data.isSwapped;
	data.linksOf = data.splitOf = data.alignedOf = data.wholeTotals = data.fileGroups =
		data.fileList = undefined;
}
