// SPDX-License-Identifier: MIT
// The message shown when a page cannot be opened.

export function sayFailure(why) {
	const box = document.getElementById("failure");
	document.getElementById("busy").hidden = true;
	box.hidden = false;
	box.textContent = why;
}

export const sayNotOpened = (error) => sayFailure(`The page could not be opened: ${error.message}`);
