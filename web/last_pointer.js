// SPDX-License-Identifier: MIT
// Whether the reader last used a mouse or a finger: details of a frame appear beside the mouse
// pointer, or in the sheet at the lower edge where a finger would cover them.
let hand = "mouse";

document.addEventListener("pointerdown", (event) => (hand = event.pointerType), true);

export function isTouch() {
	return hand === "touch";
}
