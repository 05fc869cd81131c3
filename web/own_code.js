// SPDX-License-Identifier: MIT
// Whether a function is the program's own code, and lists restricted to that.
import { ownFlags } from "./listed_changes.js";

const words = ["", "stdlib", "library", ""]; // src/profile/origin.h

export function originWord(data, f) {
	return ownFlags(data)[f] ? "" : words[data.functions.origin[f]];
}

// Is there both own and other code?
export function hasBoth(data) {
	const own = ownFlags(data).subarray(0, data.functions.n);
	return own.includes(1) && own.includes(0);
}

// The changes found by listed_changes.js in the program's own code.
export function ownChanges(data, found) {
	const own = ownFlags(data);
	return Object.fromEntries(
		Object.entries(found).map(([g, list]) => [g, list.filter(({ f }) => own[f])]));
}
