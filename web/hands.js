// SPDX-License-Identifier: MIT
// What the reader pointed with last: figures of a frame stand beside a mouse's pointer, and in a
// sheet at the lower edge where a finger would cover them.
let hand = "mouse";

document.addEventListener("pointerdown", (event) => (hand = event.pointerType), true);

export function isTouch() {
	return hand === "touch";
}
