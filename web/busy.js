// SPDX-License-Identifier: MIT
// An indicator for work that takes longer than 0.3 s. Work blocks drawing, so the indicator is
// added before the work and appears late by a CSS animation (style.css), which the browser runs by
// itself.
export class Busy {
	// isLarge: returns whether work on this page can take that long.
	constructor(box, isLarge) {
		this.box = box;
		this.isLarge = isLarge;
		box.hidden = true;
	}

	// Do `work`, on large pages after the indicator was added.
	during(work) {
		if (!this.isLarge) {
			work();
			return;
		}
		this.box.hidden = false;
		requestAnimationFrame(() => setTimeout(() => {
			try {
				work();
			} finally {
				this.box.hidden = true;
			}
		}));
	}
}
