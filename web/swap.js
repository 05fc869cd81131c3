// SPDX-License-Identifier: MIT
// A diff the other way round: the head becomes the base. Everything that is shown is computed from
// these arrays, so exchanging them mirrors the page.

export function swapSides(data) {
	const { header } = data;
	for (const pair of [data.self, data.cells?.self, data.lines.self, data.lines.total, data.functions.source]) pair?.reverse();
	for (const both of [header, ...header.threads]) [both.base, both.head] = [both.head, both.base];
	data.factor = 1 / data.factor;
	for (const { margin } of data.verdicts ? [data.verdicts.self, data.verdicts.total] : [])
		for (let f = 0; f < margin.length; f++) if (margin[f] > 0) margin[f] *= data.factor;
	data.isSwapped = !data.isSwapped;
}
