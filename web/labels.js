// SPDX-License-Identifier: MIT
// Names as one line, and cut to the room there is.

const odd = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

// A name fit for one line.
export function showName(name) {
	if (!name) return "(no name)";
	return (name.length > 400 ? `${name.slice(0, 400)}…` : name).replace(odd, "\ufffd");
}

// Text of a known width, shortened until it fits; "" when less than two letters would stay.
export function cutText(ctx, text, width, room) {
	let keep = Math.floor((room / width) * text.length);
	for (; keep >= 2; keep--) {
		const cut = `${text.slice(0, keep)}…`;
		if (ctx.measureText(cut).width <= room) return cut;
	}
	return "";
}

export function fitText(ctx, text, room) {
	const { width } = ctx.measureText(text);
	return width <= room ? text : cutText(ctx, text, width, room);
}

// Names of functions with their widths, each measured once.
export class Labels {
	constructor(functions) {
		this.names = new Array(functions.n);
		this.widths = new Float32Array(functions.n);
		this.source = functions.names;
	}
	name(f) {
		return (this.names[f] ??= showName(this.source[f]));
	}
	width(ctx, f) {
		return (this.widths[f] ||= ctx.measureText(this.name(f)).width);
	}
	// The name, cut to fit.
	fit(ctx, f, room) {
		const name = this.name(f), width = this.width(ctx, f);
		if (width <= room) return name;
		return cutText(ctx, name, width, room);
	}
}
