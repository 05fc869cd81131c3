// SPDX-License-Identifier: MIT
// Flip between before and after in the same places: each frame of the union layout is filled as far
// as one side spent, so growth and removal are visible as movement.
import { BASE, HEAD } from "./data.js";
import { heatClass } from "./colors.js";
import { ownTime } from "./tree.js";

// Fill of frame i for a side: its colour class, and the part of its width.
export function blinkFill({ tree, w, what }, side, i) {
	const scale = side === BASE ? what.factor : 1;
	const own = what.heat === "total" ? tree.total[side][i] : ownTime(tree, side, i);
	const all = tree.total[side][0] || 1;
	return {
		colour: heatClass(own / all), part: w[i] > 0 ? (tree.total[side][i] * scale) / w[i] : 0,
		share: tree.total[side][i] / all,
	};
}

export const blinkNames = { [BASE]: "Before", [HEAD]: "After" };
