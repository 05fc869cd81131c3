// SPDX-License-Identifier: MIT
// How different two colours look, to normal and to colour-blind eyes.
//
//   #rrggbb -> linear RGB -> what a dichromat sees (Machado, Oliveira and Fernandes 2009,
//   severity 1) -> CIE Lab (D65) -> CIEDE2000
"use strict";

const kinds = {
	normal: [1, 0, 0, 0, 1, 0, 0, 0, 1],
	protan: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
	deutan: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
	tritan: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};

function linear(v) {
	return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
}

function channels(hex) {
	return [1, 3, 5].map((k) => linear(parseInt(hex.slice(k, k + 2), 16) / 255));
}

function toLab([r, g, b]) {
	const t = (v) => (v > 216 / 24389 ? Math.cbrt(v) : (24389 / 27 * v + 16) / 116);
	const x = t((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
	const y = t(0.2126729 * r + 0.7151522 * g + 0.072175 * b);
	const z = t((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883);
	return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

// Lab of a colour as eyes of a kind see it.
function seen(hex, kind) {
	const m = kinds[kind], c = channels(hex);
	return toLab([0, 3, 6].map((k) => Math.max(0, Math.min(1, m[k] * c[0] + m[k + 1] * c[1] + m[k + 2] * c[2]))));
}

const degree = Math.PI / 180;

function hue(a, b) {
	return a === 0 && b === 0 ? 0 : (Math.atan2(b, a) / degree + 360) % 360;
}

// CIEDE2000 with kL = kC = kH = 1, step by step as Sharma, Wu and Dalal 2005 write it.
function ciede2000([l1, a1, b1], [l2, a2, b2]) {
	const mean = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
	const g = (1 - Math.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7))) / 2;
	const p1 = (1 + g) * a1, p2 = (1 + g) * a2;
	const c1 = Math.hypot(p1, b1), c2 = Math.hypot(p2, b2);
	const h1 = hue(p1, b1), h2 = hue(p2, b2);
	let dh = 0, h = h1 + h2;
	if (c1 * c2 !== 0) {
		dh = h2 - h1;
		if (Math.abs(dh) > 180) dh -= Math.sign(dh) * 360;
		if (Math.abs(h1 - h2) > 180) h += h < 360 ? 360 : -360;
		h /= 2;
	}
	const dH = 2 * Math.sqrt(c1 * c2) * Math.sin((dh * degree) / 2);
	const l = (l1 + l2) / 2, c = (c1 + c2) / 2;
	const cos = (angle) => Math.cos(angle * degree);
	const t = 1 - 0.17 * cos(h - 30) + 0.24 * cos(2 * h) + 0.32 * cos(3 * h + 6) - 0.2 * cos(4 * h - 63);
	const sl = 1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2);
	const sc = 1 + 0.045 * c, sh = 1 + 0.015 * c * t;
	const turn = 60 * Math.exp(-(((h - 275) / 25) ** 2)) * degree;
	const rt = -2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)) * Math.sin(turn);
	const x = (l2 - l1) / sl, y = (c2 - c1) / sc, z = dH / sh;
	return Math.sqrt(x * x + y * y + z * z + rt * y * z);
}

function apart(a, b, kind) {
	return ciede2000(seen(a, kind), seen(b, kind));
}

// WCAG 2 contrast.
function contrast(a, b) {
	const [hi, lo] = [a, b].map((hex) => {
		const [r, g, c] = channels(hex);
		return 0.2126 * r + 0.7152 * g + 0.0722 * c;
	}).sort((x, y) => y - x);
	return (hi + 0.05) / (lo + 0.05);
}

module.exports = { apart, ciede2000, contrast, kinds: Object.keys(kinds) };
