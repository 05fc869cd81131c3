// SPDX-License-Identifier: MIT
// Saving the flame graph, the chart or the sandwich as a picture: all rows, with title, verdict,
// legend and list of changes.
import { el } from "./dom.js";
import { fitText } from "./labels.js";
import { FONT, FONT_FAMILY, FONT_SIZE } from "./paint.js";
import { Pen } from "./svg_context.js";

const $ = (id) => document.getElementById(id);
const MARGIN = 14;
const LINE = 19;
const LONGEST = 16000; // maximum height of a picture, pixels; the rest is left out
const SHARPNESS = 2; // of a PNG: pixels per screen pixel
const PIXELS_MOST = 1.2e8; // maximum of a PNG, because browsers reject larger ones
const SWATCH = 12;

function flamesOf({ state, flame, chart, sandwich }) {
	return { flame: [flame], chart: [chart], sandwich: sandwich.shown }[state.tab] ?? null;
}

// The legend below the view: [{text, boxes: [{fill, edge, lines}]}].
function legendOf() {
	return [...$("legend").children].map((key) => ({
		text: key.textContent,
		boxes: [...key.querySelectorAll("i")].map((box) => {
			const {
				backgroundColor, backgroundImage, borderTopColor, borderTopWidth, color,
			} = getComputedStyle(box);
			const isClear = backgroundColor === "rgba(0, 0, 0, 0)";
			return {
				fill: isClear ? "none" : backgroundColor,
				edge: parseFloat(borderTopWidth) ? borderTopColor : null,
				lines: backgroundImage === "none" ? null : color,
			};
		}),
	}));
}

// Positions of the legend's keys, row by row: [{x, row, ...key}].
function placeLegend(ctx, width) {
	let x = MARGIN, row = 0;
	return legendOf().map((key) => {
		const needed = key.boxes.length * SWATCH + 6 + ctx.measureText(key.text).width + MARGIN;
		if (x + needed > width && x > MARGIN) {
			x = MARGIN;
			row++;
		}
		const at = { ...key, x, row };
		x += needed;
		return at;
	});
}

// The drawing: its size, and a function that draws it.
function drawingOf(app, ruler) {
	const flames = flamesOf(app);
	ruler.font = FONT;
	const width = Math.max(...flames.map((flame) => flame.full));
	const parts = flames.map((flame) => ({ flame, height: Math.min(flame.needed, LONGEST) }));
	const legend = placeLegend(ruler, width);
	const answer = $("band").hidden ? [] :
		[...document.querySelectorAll("#band p")].map((p) => p.textContent);
	const lines = [$("title").textContent, $("subtitle").textContent, ...answer].filter(Boolean);
	const changes = app.band.lines ?? [];
	const top = MARGIN + lines.length * LINE;
	const tall = parts.reduce((sum, { height }) => sum + height, 0);
	const rows = legend.length ? legend.at(-1).row + 1 : 0;
	return {
		parts, legend, lines, changes, rows, width, top, bottom: top + tall,
		height: top + tall + (rows + changes.length) * LINE + MARGIN, palette: app.flame.palette,
	};
}

function paintSwatch(ctx, x, top, { fill, edge, lines }) {
	ctx.fillStyle = fill;
	if (fill !== "none") ctx.fillRect(x, top, SWATCH, SWATCH);
	if (lines) {
		ctx.strokeStyle = lines;
		ctx.lineWidth = 1;
		ctx.beginPath();
		for (let far = SWATCH / 3; far <= SWATCH; far += SWATCH / 3) {
			ctx.moveTo(x, top + far);
			ctx.lineTo(x + far, top);
		}
		ctx.stroke();
	}
	ctx.strokeStyle = edge;
	if (edge) ctx.strokeRect(x + 0.5, top + 0.5, SWATCH - 1, SWATCH - 1);
}

function paint(ctx, drawing) {
	const { parts, legend, lines, changes, rows, width, top, bottom, height, palette } = drawing;
	ctx.fillStyle = palette.page;
	ctx.fillRect(0, 0, width, height);
	ctx.save();
	ctx.translate(0, top);
	for (const part of parts) {
		part.flame.paintAll(ctx, part.height);
		ctx.translate(0, part.height);
	}
	ctx.restore();
	// Clear what exceeds the maximum height.
	ctx.fillStyle = palette.page;
	ctx.fillRect(0, bottom, width, height - bottom);
	ctx.font = FONT;
	ctx.textBaseline = "middle";
	lines.forEach((line, k) => {
		ctx.fillStyle = palette.ink;
		ctx.fillText(fitText(ctx, line, width - 2 * MARGIN), MARGIN, MARGIN / 2 + (k + 0.5) * LINE);
	});
	ctx.fillStyle = palette.ink;
	changes.forEach((line, k) =>
		ctx.fillText(fitText(ctx, line, width - 2 * MARGIN), MARGIN,
			bottom + (rows + k + 0.5) * LINE));
	for (const key of legend) {
		const y = bottom + (key.row + 0.5) * LINE;
		key.boxes.forEach((box, k) => paintSwatch(ctx, key.x + k * SWATCH, y - SWATCH / 2, box));
		ctx.fillStyle = palette.ink;
		ctx.fillText(key.text, key.x + key.boxes.length * SWATCH + 6, y);
	}
}

function newContext() {
	return document.createElement("canvas").getContext("2d");
}

export function svgText(app) {
	const ruler = newContext();
	const drawing = drawingOf(app, ruler);
	const pen = new Pen(ruler, FONT_SIZE);
	paint(pen, drawing);
	return pen.document(drawing.width, drawing.height, document.title, FONT_FAMILY);
}

export function pngCanvas(app) {
	const ctx = newContext();
	const drawing = drawingOf(app, ctx);
	const { width, height } = drawing;
	const sharpness = Math.min(SHARPNESS, Math.sqrt(PIXELS_MOST / (width * height)));
	ctx.canvas.width = Math.round(width * sharpness);
	ctx.canvas.height = Math.round(height * sharpness);
	ctx.scale(sharpness, sharpness);
	paint(ctx, drawing);
	return ctx.canvas;
}

function download(blob, name) {
	const url = URL.createObjectURL(blob);
	el("a", { href: url, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(url), 10000);
}

const kinds = {
	svg: async (app) => new Blob([svgText(app)], { type: "image/svg+xml" }),
	png: (app) => new Promise((done) => pngCanvas(app).toBlob(done, "image/png")),
};

export async function savePicture(app, kind) {
	if (!flamesOf(app)) {
		app.say("Only the flame graph, the chart and the sandwich can be saved as a picture");
		return;
	}
	const name = `${$("title").textContent.toLowerCase().replace(/[^a-z]+/g, "-")}.${kind}`;
	const blob = await kinds[kind](app);
	if (!blob) {
		app.say("The browser cannot make an image this large");
		return;
	}
	download(blob, name);
	app.say(`Saved ${name}`);
}

export function openSave() {
	$("save").showModal();
}

export function bindSave(app) {
	const choice = (kind, title, text) => el("button", {
		class: "choice-row", value: kind, onclick: () => savePicture(app, kind),
	},
		el("strong", {}, title), el("span", { class: "quiet" }, text));
	$("save").replaceChildren(el("form", { method: "dialog", class: "choices" },
		el("h2", { id: "save-title" }, "Save image"),
		choice("svg", "SVG", "sharp at any size, selectable text"),
		choice("png", "PNG", "for chats and slides"),
		el("button", { class: "choice-row", value: "" }, "Cancel")));
	$("save-open").addEventListener("click", openSave);
}
