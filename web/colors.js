// SPDX-License-Identifier: MIT
// Colour classes of frames (frame_colour.js assigns them) and the palettes.
//
// In a diff: red costs more, blue costs less, grey did not change, purple is new (dotted edge) or
// removed (hollow; filled in CPython's palette). A glyph shows the same without colour. A plain
// tree is coloured by share.

// Colour classes. Four steps of more, four of less; HEAT and above are shares.
export const SAME = 0;
export const MORE = 1;
export const LESS = 5;
export const NEW = 9;
export const REMOVED = 10;
export const ABOVE_REMOVED = 11;
const HEAT = 12;

// Verdicts, as in the page's columns.
export const UNKNOWN = 0;
export const UNCHANGED = 1;
export const CHANGED = 2;

// Shares at which a plain tree's colour becomes one step deeper.
export const heatSteps = [0, 0.01, 0.03, 0.06, 0.12, 0.18, 0.35, 0.6];

// After the shares: unsure; new, but unsure (neutral with purple lines, because not everybody can
// tell a pale purple from blue); new, but the cost was another callee's before; removed, but
// another callee has the cost now.
export const UNSURE = HEAT + heatSteps.length;
export const NEW_UNSURE = UNSURE + 1;
export const MOVED = UNSURE + 2;
export const MOVED_AWAY = UNSURE + 3;
// In a plain tree: a task of asyncio, not code.
export const TASK = UNSURE + 4;
// Added to a step or to NEW: certain only together with the function's other paths. The same
// colour, hatched.
const TOGETHER = TASK + 1;
export const togetherOf = (colour) => TOGETHER + colour - MORE;
export const isTogether = (colour) => colour >= TOGETHER;
export const solidOf = (colour) => (isTogether(colour) ? colour - TOGETHER + MORE : colour);

export function heatClass(share) {
	let step = 0;
	while (step + 1 < heatSteps.length && share >= heatSteps[step + 1]) step++;
	return HEAT + step;
}

const glyphs = { [NEW]: "+", [NEW_UNSURE]: "+", [REMOVED]: "−", [MOVED]: "⇄", [MOVED_AWAY]: "⇄" };
export function glyphOf(shown) {
	const colour = solidOf(shown);
	if (colour >= MORE && colour < LESS) return "▲";
	if (colour >= LESS && colour < NEW) return "▼";
	return glyphs[colour] ?? "";
}

const palettes = {
	fizeau: {
		light: {
			same: "#e7ebf2", more: ["#ffd7cf", "#f1a59a", "#e2685c", "#b0201f"],
			less: ["#c5d9fd", "#93b8fc", "#4c90f2", "#1c53b4"],
			added: "#b36db3", removed: "#7446c2",
		},
		dark: {
			same: "#3c4049", more: ["#552d2c", "#913f3a", "#d45a50", "#ff8b7f"],
			less: ["#1e3557", "#315680", "#5d9aff", "#98c5ff"],
			added: "#983fe0", removed: "#b598f2",
		},
	},
	tachyon: {
		light: {
			same: "#bdbdbd", more: ["#ffcdd2", "#ef9a9a", "#e57373", "#d32f2f"],
			less: ["#90caf9", "#64b5f6", "#42a5f5", "#1976d2"],
			added: "#9575cd", removed: "#b39ddb",
		},
		dark: {
			same: "#757575", more: ["#ffcdd2", "#ef9a9a", "#e57373", "#ef5350"],
			less: ["#bbdefb", "#90caf9", "#64b5f6", "#42a5f5"],
			added: "#b39ddb", removed: "#ce93d8",
		},
	},
};

const heat = {
	light: ["#f4eddf", "#f7e3bf", "#f8d394", "#f6bc68", "#f09f49", "#e4803a", "#cf5d2e", "#b03a24"],
	dark: ["#37332c", "#4a3f2d", "#63502d", "#83622c", "#b07c30", "#c98632", "#e99c43", "#ffbb66"],
};

const surfaces = {
	light: {
		page: "#ffffff", ink: "#1b1e25", quiet: "#c3c8d2", select: "#1b1e25", match: "#0b7a5c",
		root: "#f3f4f7", task: "#c9dde6",
	},
	dark: {
		page: "#16181d", ink: "#eceef2", quiet: "#4a505c", select: "#ffffff", match: "#4fd8a8",
		root: "#22252c", task: "#2b4c5e",
	},
};

function channel(v) {
	const c = v / 255;
	return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}

function luminance(hex) {
	const v = parseInt(hex.slice(1), 16);
	return 0.2126 * channel(v >> 16) + 0.7152 * channel((v >> 8) & 255) + 0.0722 * channel(v & 255);
}

export function contrast(a, b) {
	const [hi, lo] = [luminance(a), luminance(b)].sort((x, y) => y - x);
	return (hi + 0.05) / (lo + 0.05);
}

function inkOn(fill) {
	return contrast(fill, "#14161a") >= contrast(fill, "#ffffff") ? "#14161a" : "#ffffff";
}

// Fraction of its colour that a frame of foreign code keeps; the same for a frame above the zoomed
// one; opacity of lines over a colour.
const PALE = 0.5, ABOVE = 0.62, LINES = 0.6;

function mix(a, b, share) {
	const parts = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
	const [from, to] = [parts(b), parts(a)];
	const mixed = from.map((v, k) => Math.round(v + (to[k] - v) * share));
	return `#${mixed.map((v) => v.toString(16).padStart(2, "0")).join("")}`;
}

// Adds legible ink and visible lines for each colour.
function withInks(colours) {
	const inks = colours.fill.map(inkOn), paleInks = colours.pale.map(inkOn);
	const linesOn = (fills, on) => fills.map((fill, c) => mix(on[c], fill, LINES));
	const lines = linesOn(colours.fill, inks), paleLines = linesOn(colours.pale, paleInks);
	return {
		...colours, inkOf: (c, isPale = false) => (isPale ? paleInks : inks)[c],
		linesOf: (c, isPale = false) => (isPale ? paleLines : lines)[c],
	};
}

// The same palette, blended with the page's colour.
function dimmed({ fill, pale, quiet, root, removed, ...others }, { page }) {
	const dim = (colour) => mix(colour, page, ABOVE);
	return withInks({
		...others, fill: fill.map(dim), pale: pale.map(dim), quiet: dim(quiet), root: dim(root),
		removed,
	});
}

// Colours of a theme as {fill: [by class], pale: [by class, of foreign code], inkOf(class, isPale),
// linesOf(class, isPale), removed, surface..., above: the same of frames above what is zoomed to}.
export function makePalette(name, theme) {
	const p = palettes[name][theme];
	const surface = surfaces[theme];
	const fill = [p.same, ...p.more, ...p.less, p.added, p.removed, surface.page, ...heat[theme],
		p.same, p.same, p.same, surface.page, surface.task, ...p.more, ...p.less, p.added];
	const pale = name === "tachyon" ? fill : fill.map((colour) => mix(colour, surface.page, PALE));
	const palette = withInks(
		{ ...surface, fill, pale, removed: p.removed, isHollow: name !== "tachyon" });
	return { ...palette, above: dimmed(palette, surface) };
}
