// SPDX-License-Identifier: MIT
// Frames too narrow to draw, as grey columns of one pixel.
export class Silhouette {
	constructor(width) {
		this.n = Math.ceil(width) + 1;
		this.cover = new Float32Array(this.n);
		this.first = new Uint32Array(this.n).fill(0xffffffff);
		this.last = new Uint32Array(this.n);
	}
	add(left, px, row, below) {
		const c = Math.max(0, Math.floor(left));
		if (c >= this.n) return;
		this.cover[c] += px;
		if (row < this.first[c]) this.first[c] = row;
		if (row + below > this.last[c]) this.last[c] = row + below;
	}
	paint(ctx, palette, alpha, top, up, rowHeight) {
		ctx.fillStyle = palette.quiet;
		ctx.globalAlpha = alpha;
		for (let c = 0; c < this.n;) {
			let e = c + 1;
			if (this.cover[c] < 0.2) {
				c = e;
				continue;
			}
			while (e < this.n && this.cover[e] >= 0.2 && this.first[e] === this.first[c] &&
				this.last[e] === this.last[c]) e++;
			const a = top(up ? this.last[c] : this.first[c]);
			const b = top(up ? this.first[c] : this.last[c]) + rowHeight - 1;
			ctx.fillRect(c, a, e - c, b - a);
			c = e;
		}
		ctx.globalAlpha = 1;
	}
}
