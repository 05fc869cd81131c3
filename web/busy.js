// SPDX-License-Identifier: MIT
// A sign for what takes longer than 0.3 s. Work of a page stops it from drawing, so the sign is
// there before the work and appears by itself, late: its animation (style.css) is not the page's to
// draw.
export class Busy {
	// isLarge: whether anything here can take so long.
	constructor(box, isLarge) {
		this.box = box;
		this.isLarge = isLarge;
		box.hidden = true;
	}

	// Do `work`, where it may take long once the sign is on its way.
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
