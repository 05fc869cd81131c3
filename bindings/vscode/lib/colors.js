// SPDX-License-Identifier: MIT
// The colours of lines, from web/tokens.css: [light, dark].
"use strict";

const colors = {
	h1: ["#fdf0cd", "#4d4026"], h2: ["#fde3a7", "#695126"], h3: ["#fdd17f", "#8a6326"], h4: ["#fcb95c", "#ad7428"],
	h5: ["#f99b45", "#d0832d"], h6: ["#f27a3a", "#ea8437"], h7: ["#e45634", "#f97449"], h8: ["#cf2f2f", "#ff5a52"],
	m1: ["#f7cfca", "#5e3334"], m2: ["#ee9a92", "#93423f"], m3: ["#e0605a", "#cf5750"], m4: ["#c62828", "#ff6f66"],
	l1: ["#cbdff8", "#2c4363"], l2: ["#93bdf0", "#35639f"], l3: ["#5293e0", "#4a8ade"], l4: ["#1c5fc0", "#76b1ff"],
	hatch: ["#8a92a0", "#8a92a0"],
};

// Their opacity behind text, in percent.
const wash = [42, 34];

module.exports = { colors, wash };
