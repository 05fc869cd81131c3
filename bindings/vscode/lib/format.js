// SPDX-License-Identifier: MIT
// Numbers formatted as on the pages (web/format.js), and the heat of a cost (web/heat_scale.js).
"use strict";

const scales = {
	ns: [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]],
	bytes: [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]],
};

// A number with grouped digits; an exact half is rounded to the even digit.
function decimal(v, digits) {
	const power = 10 ** digits, isHalf = Math.abs(v * 2 ** (digits + 1)) % 2 === 1;
	return (isHalf ? (2 * Math.round((v * power) / 2)) / power : v).toFixed(digits)
		.replace(/\B(?=(\d{3})+(\.|$))/g, ",").replace(/^-(?=[0.]+$)/, "");
}

// Three significant digits, never an exponent.
function formatValue(v, unit) {
	const scale = scales[unit], size = Math.abs(v);
	if (v === 0 && unit === "ns") return "0 s";
	if (!scale) return decimal(v, Number.isInteger(v) || size >= 100 ? 0 : 1);
	const [step, name] = scale.find(([s]) => size >= s * 0.9995) ?? scale.at(-1);
	const digits = step === 1 || size / step >= 99.95 ? 0 : size / step >= 9.995 ? 1 : 2;
	return `${decimal(v / step, digits)} ${name}`;
}

function formatChange(v, unit) {
	return v === 0 ? "±0" : (v > 0 ? "+" : "−") + formatValue(Math.abs(v), unit);
}

function formatShare(f) {
	if (!Number.isFinite(f)) return "–";
	const p = f * 100;
	return p !== 0 && Math.abs(p) < 0.05 ? "< 0.1 %" : `${decimal(p, p < 999.5 ? 1 : 0)} %`;
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
