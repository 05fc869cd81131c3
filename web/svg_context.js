// SPDX-License-Identifier: MIT
// A drawing context that writes SVG. It supports what paint.js uses, so a saved picture has exactly
// the frames of the canvas. Lengths are in pixels.

const round = (v) => String(Math.round(v * 100) / 100);

const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

// Escapes text for XML, without characters that XML forbids.
function escapeXml(text) {
	return text.replace(/[&<>"]/g, (c) => entities[c])
		.replace(/(?![\t\n\r\u007f-\u009f])\p{Cc}|[\ufffe\uffff]/gu, "\ufffd");
}

export class Pen {
	// `ruler` is a canvas's context, to measure text; `fontSize`: that of most text.
	constructor(ruler, fontSize) {
		this.ruler = ruler;
		this.fontSize = fontSize;
		this.parts = [];
		this.path = "";
		this.dash = [];
		this.saved = [];
		this.dx = this.dy = 0;
		Object.assign(this, {
			fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1,
		});
	}

	set font(font) {
		this.ruler.font = font;
	}
	get font() {
		return this.ruler.font;
	}
	set textBaseline(line) {
		this.ruler.textBaseline = line;
	}
	measureText(text) {
		return this.ruler.measureText(text);
	}

	save() {
		const { dx, dy, globalAlpha } = this;
		this.saved.push({ dx, dy, globalAlpha });
	}
	restore() {
		Object.assign(this, this.saved.pop());
	}
	translate(dx, dy) {
		this.dx += dx;
		this.dy += dy;
	}
	setLineDash(dash) {
		this.dash = dash;
	}

	// Everything drawn until leave() is a group with a title.
	enter(title) {
		this.parts.push(`<g><title>${escapeXml(title)}</title>`);
	}
	leave() {
		this.parts.push("</g>\n");
	}

	get opacity() {
		return this.globalAlpha < 1 ? ` opacity="${round(this.globalAlpha)}"` : "";
	}
	get stroked() {
		const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
		const line = `stroke="${this.strokeStyle}" stroke-width="${round(this.lineWidth)}"`;
		return ` fill="none" ${line}${dash}${this.opacity}`;
	}
	at(x, y) {
		return `x="${round(x + this.dx)}" y="${round(y + this.dy)}"`;
	}
	box(x, y, width, height) {
		return `<rect ${this.at(x, y)} width="${round(width)}" height="${round(height)}"`;
	}

	fillRect(x, y, width, height) {
		this.parts.push(
			`${this.box(x, y, width, height)} fill="${this.fillStyle}"${this.opacity}/>`);
	}
	strokeRect(x, y, width, height) {
		this.parts.push(`${this.box(x, y, width, height)}${this.stroked}/>`);
	}
	beginPath() {
		this.path = "";
		this.rounded = "";
	}
	roundRect(x, y, width, height, radius) {
		this.rounded = `${this.box(x, y, width, height)} rx="${radius}"`;
	}
	moveTo(x, y) {
		this.path += `M${round(x + this.dx)} ${round(y + this.dy)}`;
	}
	lineTo(x, y) {
		this.path += `L${round(x + this.dx)} ${round(y + this.dy)}`;
	}
	shape() {
		return this.rounded || (this.path ? `<path d="${this.path}"` : "");
	}
	fill() {
		if (this.shape())
			this.parts.push(`${this.shape()} fill="${this.fillStyle}"${this.opacity}/>`);
	}
	stroke() {
		if (this.shape()) this.parts.push(`${this.shape()}${this.stroked}/>`);
	}
	// The base line is that of the ruler, because SVG has other names for base lines.
	fillText(text, x, y) {
		if (!text) return;
		const base = y - (this.ruler.measureText("x").alphabeticBaseline ?? -4);
		const size = parseFloat(this.ruler.font);
		const other = size === this.fontSize ? "" : ` font-size="${round(size)}"`;
		const how = `fill="${this.fillStyle}"${other}${this.opacity}`;
		this.parts.push(`<text ${this.at(x, base)} ${how}>${escapeXml(text)}</text>`);
	}

	document(width, height, title, fontFamily) {
		const w = round(width), h = round(height);
		return `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" ` +
			`viewBox="0 0 ${w} ${h}" role="img" xml:space="preserve" ` +
			`font-size="${this.fontSize}" font-family="${escapeXml(fontFamily)}">\n` +
			`<title>${escapeXml(title)}</title>\n${this.parts.join("")}</svg>\n`;
	}
}
