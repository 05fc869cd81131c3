// SPDX-License-Identifier: MIT
// Formatting of durations, counts and shares, as on the command line.

// A number with grouped digits, rounded as on the command line: an exact half to the even digit.
// Intl is not used, because its first use takes as long as reading a small page.
function decimal(v, digits) {
	const power = 10 ** digits, isHalf = Math.abs(v * 2 ** (digits + 1)) % 2 === 1;
	return (isHalf ? (2 * Math.round((v * power) / 2)) / power : v).toFixed(digits)
		.replace(/\B(?=(\d{3})+(\.|$))/g, ",").replace(/^-(?=[0.]+$)/, "");
}

export const formatCount = (v) => decimal(v, 0);

const scales = {
	ns: [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]],
	bytes: [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]],
};

// A value in the metric's unit: three significant digits, never an exponent.
export function formatValue(v, unit) {
	const scale = scales[unit], size = Math.abs(v);
	if (v === 0 && unit === "ns") return "0 s";
	if (!scale) return decimal(v, Number.isInteger(v) || size >= 100 ? 0 : 1);
	const [step, name] = scale.find(([s]) => size >= s * 0.9995) ?? scale.at(-1);
	const digits = step === 1 || size / step >= 99.95 ? 0 : size / step >= 9.995 ? 1 : 2;
	return `${decimal(v / step, digits)} ${name}`;
}

export function formatChange(v, unit) {
	return v === 0 ? "±0" : (v > 0 ? "+" : "−") + formatValue(Math.abs(v), unit);
}

// Round times in [from, to], in ns, at least `wanted` apart: [{ns, text}], in the unit of `to` and
// with enough digits to tell them apart.
export function ticksOf(from, to, wanted) {
	const least = Math.max(wanted, to / 1e12, 1e-3); // steps that a number can count
	const power = 10 ** Math.floor(Math.log10(least));
	const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= least) ?? 10 * power;
	const [size, unit] = scales.ns.find(([s]) => to >= s) ?? scales.ns.at(-1);
	const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9)), ticks = [];
	for (let k = Math.ceil(from / step); k * step <= to; k++)
		ticks.push({
			ns: k * step,
			text: k === 0 ? `0 ${unit}` : `${(k * step / size).toFixed(digits)} ${unit}`,
		});
	return ticks;
}

// An end of an interval of changes.
export function formatEnd(v, unit) {
	return v === 0 ? "0" : formatChange(v, unit);
}

const percentDigits = (size) => decimal(size, size < 999.5 ? 1 : 0);

// A fraction as a percentage.
export function formatShare(f) {
	if (!Number.isFinite(f)) return "–";
	const p = f * 100;
	if (p !== 0 && Math.abs(p) < 0.05) return "< 0.1 %";
	return `${percentDigits(p)} %`;
}

// A signed part of a whole.
export function formatPart(f) {
	const p = f * 100;
	if (!Number.isFinite(p) || Math.abs(p) < 0.005) return "0 %";
	const size = Math.abs(p), digits = size < 1 ? decimal(size, 2) : percentDigits(size);
	return `${p > 0 ? "+" : "−"}${digits} %`;
}

// Relative change; null if there is nothing to compare with.
export function formatPercentChange(ratio) {
	if (ratio === null || !Number.isFinite(ratio)) return "–";
	const p = ratio * 100;
	if (Math.abs(p) < 0.05) return "±0 %";
	return `${p > 0 ? "+" : "−"}${percentDigits(Math.abs(p))} %`;
}

// Relative change of a result of compare, also of one that grew from nothing; a very large one as a
// factor.
export function formatRatio({ ratio, delta }) {
	if (ratio >= 99.995) return `${formatCount(1 + ratio)} x`;
	return ratio === null && delta > 0 ? "from 0" : formatPercentChange(ratio);
}

// A sentence from words.
export const capital = (words) => `${words[0].toUpperCase()}${words.slice(1)}`;

export function plural(n, noun) {
	return `${formatCount(n)} ${noun}${n === 1 ? "" : "s"}`;
}

// Name of a page's costs.
export function metricName({ metric }) {
	return {
		wall: "wall-clock time", cpu: "CPU time", gil: "GIL time",
		exception: "time in exceptions",
	}[metric] ?? metric;
}

// Compares both sides' costs with the expected one, factor * base; ratio is null if there was no
// base.
export function compare(base, head, factor) {
	const expected = base * factor;
	const delta = head - expected;
	return { base, expected, head, delta, ratio: expected === 0 ? null : delta / expected };
}

// Whether to show a scale: one that rounds to 1.00 changes no value by more than its rounding.
export const showsScale = (factor) => Math.abs(factor - 1) >= 0.005;

// "1.20 s → 1.60 s", and the expected value if the base is scaled.
export function formatPair(c, unit) {
	const expected = c.base === 0 || !showsScale(c.expected / c.base) ? "" :
		` (expected ${formatValue(c.expected, unit)})`;
	return `${formatValue(c.base, unit)} → ${formatValue(c.head, unit)}${expected}`;
}

// Explains why a change differs from after − before; "" if it does not.
export function scaleHint(factor, mode) {
	if (!showsScale(factor)) return "";
	const how = mode === "share" ? ", by share" : "";
	return `After − expected; expected is before × ${Number(factor.toPrecision(4))}${how}`;
}
