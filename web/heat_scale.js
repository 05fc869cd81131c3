// SPDX-License-Identifier: MIT
// The colours of lines by cost in the Source view, and formatting of costs.
//
// Heat is logarithmic, because the hottest line often costs a thousand times as much as a line that
// still matters: 0 for no cost, 1 to 8 up to the hottest. A difference has 1 to 4 steps in either
// direction, negative for lower cost.
import { ratioOfState } from "./cost_words.js";
import { compare, formatChange, formatRatio, formatValue } from "./format.js";

const STEPS = 8, DIFF_STEPS = 4, DECADES = 3;

export function heatStep(value, most) {
	if (!(value > 0) || !(most > 0)) return 0;
	const level = 1 + Math.log10(value / most) / DECADES;
	return Math.max(1, Math.ceil(level * STEPS));
}

export function changeStep(delta, most) {
	if (!delta || !(most > 0)) return 0;
	const step = Math.max(1, Math.ceil(Math.sqrt(Math.abs(delta) / most) * DIFF_STEPS));
	return delta > 0 ? step : -step;
}

// The scale of a profile, or of a diff, whose base values are multiplied by `factor`.
export class Scale {
	constructor({ unit, factor, isDiff }) {
		this.unit = unit;
		this.factor = factor;
		this.isDiff = isDiff;
	}
	value(v) {
		return v ? formatValue(v, this.unit) : "";
	}
	compare(base, head) {
		return compare(base, head, this.factor);
	}
	change(c) {
		return c.delta ? `${c.delta > 0 ? "▲" : "▼"} ${formatChange(c.delta, this.unit)}` : "";
	}
	// CSS class of a change; none for noise.
	tone(c, real) {
		return !real || !c.delta ? "" : c.delta > 0 ? "more" : "less";
	}
	// Relative change; of code that only one side has, words.
	percent(c, { state, presence } = {}) {
		if (state === "new" || state === "removed") return ratioOfState(state, presence);
		return c.base || c.head ? formatRatio(c) : "";
	}
	// Value that decides a colour: the cost, or its increase.
	weight(costs) {
		const [base, head] = costs;
		return this.isDiff ? head - this.factor * base : head;
	}
	step(weight, most) {
		return this.isDiff ? changeStep(weight, most) : heatStep(weight, most);
	}
	// CSS class of a step: h3, or m2 for more and l2 for less.
	name(step) {
		return !step ? "" : !this.isDiff ? `h${step}` : step > 0 ? `m${step}` : `l${-step}`;
	}
}

