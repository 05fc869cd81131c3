// SPDX-License-Identifier: MIT
// Small PNG files of screenshots, with the 256 most frequent colours. A page has few other than at
// the edges of letters, so no difference is visible.
"use strict";
const zlib = require("node:zlib");

const MOST = 256, FREQUENT = 64; // colours of a palette, and those of them that are just frequent
const SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");

function chunk(kind, data) {
	const body = Buffer.concat([Buffer.from(kind, "latin1"), data]), out = Buffer.alloc(body.length + 8);
	out.writeUInt32BE(data.length);
	body.copy(out, 4);
	out.writeUInt32BE(crcOf(body), body.length + 4);
	return out;
}

function crcOf(bytes) {
	let crc = ~0;
	for (const byte of bytes) {
		crc ^= byte;
		for (let k = 0; k < 8; k++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc >>> 0;
}

const apart = (a, b) => [16, 8, 0].reduce((sum, at) => sum + (((a >> at) & 255) - ((b >> at) & 255)) ** 2, 0);

// The colours that most pixels have, then those that would be missed most; and of each colour which of
// them is nearest.
function paletteOf(pixels) {
	const counts = new Map();
	for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1);
	const colours = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a) || a - b);
	const nearest = new Uint8Array(colours.length), far = new Float64Array(colours.length).fill(Infinity);
	const palette = [];
	while (palette.length < Math.min(MOST, colours.length)) {
		const missed = (k) => (far[k] === 0 ? 0 : palette.length < FREQUENT ? counts.get(colours[k]) : counts.get(colours[k]) * far[k]);
		let next = 0;
		for (let k = 1; k < colours.length; k++) if (missed(k) > missed(next)) next = k;
		colours.forEach((colour, k) => {
			const distance = apart(colour, colours[next]);
			if (distance < far[k]) [far[k], nearest[k]] = [distance, palette.length];
		});
		palette.push(colours[next]);
	}
	return { palette, indexOf: new Map(colours.map((colour, k) => [colour, nearest[k]])) };
}

// rgba: the bytes of an image without transparent places.
function indexedPng(width, height, rgba) {
	const pixels = Array.from({ length: width * height }, (_, i) => rgba.readUIntBE(4 * i, 3));
	const { palette, indexOf } = paletteOf(pixels);
	const rows = Buffer.alloc((width + 1) * height), head = Buffer.alloc(13);
	pixels.forEach((colour, i) => (rows[i + Math.floor(i / width) + 1] = indexOf.get(colour)));
	head.writeUInt32BE(width);
	head.writeUInt32BE(height, 4);
	head.set([8, 3], 8); // eight bits a pixel, by palette
	const colours = Buffer.alloc(3 * palette.length);
	palette.forEach((colour, k) => colours.writeUIntBE(colour, 3 * k, 3));
	return Buffer.concat([SIGNATURE, chunk("IHDR", head), chunk("PLTE", colours),
		chunk("IDAT", zlib.deflateSync(rows, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
}

// The same picture, smaller: a page of the browser decodes and scales it.
async function smaller(context, png) {
	const page = await context.newPage();
	const { width, height, text } = await page.evaluate(async (data) => {
		const image = new Image();
		image.src = `data:image/png;base64,${data}`;
		await image.decode();
		const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
		const ctx = canvas.getContext("2d");
		ctx.drawImage(image, 0, 0);
		const bytes = ctx.getImageData(0, 0, canvas.width, canvas.height).data;
		let binary = "";
		for (let i = 0; i < bytes.length; i += 8192) binary += String.fromCharCode(...bytes.subarray(i, i + 8192));
		return { width: canvas.width, height: canvas.height, text: btoa(binary) };
	}, png.toString("base64"));
	await page.close();
	return indexedPng(width, height, Buffer.from(text, "base64"));
}

module.exports = { smaller };
