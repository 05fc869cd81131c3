// SPDX-License-Identifier: MIT
// Numbers formatted as on the pages (web/format.js), and the heat of a cost (web/heat_scale.js).
"use strict";

const scales = {
	ns: [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]],
	bytes: [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]],
};

const formatCount = (v) => String(Math.round(v)).replace(/\B(?=(\d{3})+$)/g, ",");

// Three significant digits, never an exponent.
function short(v) {
	const a = Math.abs(v);
	if (a >= 100 || a === 0) return formatCount(v);
	return v.toFixed(a >= 10 ? 1 : 2);
}

function formatValue(v, unit) {
	const scale = scales[unit];
	if (!scale) return formatCount(v);
	if (v === 0) return `0 ${unit === "ns" ? "s" : "B"}`;
	const [size, name] = scale.find(([s]) => Math.abs(v) >= s) ?? scale.at(-1);
	return `${short(v / size)} ${name}`;
}

function formatChange(v, unit) {
	return v === 0 ? "±0" : (v > 0 ? "+" : "−") + formatValue(Math.abs(v), unit);
}

function formatShare(f) {
	if (!Number.isFinite(f)) return "–";
	const p = f * 100;
	return p !== 0 && Math.abs(p) < 0.05 ? "< 0.1 %" : `${p.toFixed(1)} %`;
}

const STEPS = 8, CHANGE_STEPS = 4, DECADES = 3;

// 1 to 8, logarithmic: the hottest line often costs a thousand times as much as one that matters.
function heatStep(value, most) {
	if (!(value > 0) || !(most > 0)) return 0;
	return Math.max(1, Math.ceil((1 + Math.log10(value / most) / DECADES) * STEPS));
}

// 1 to 4, negative if cost was saved.
function changeStep(delta, most) {
	if (!delta || !(most > 0)) return 0;
	const step = Math.max(1, Math.ceil(Math.sqrt(Math.abs(delta) / most) * CHANGE_STEPS));
	return delta > 0 ? Math.min(step, CHANGE_STEPS) : -Math.min(step, CHANGE_STEPS);
}

module.exports = { changeStep, formatChange, formatShare, formatValue, heatStep };
