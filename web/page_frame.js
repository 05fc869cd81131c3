// SPDX-License-Identifier: MIT
// The parts around the views: the sidebar and its width, the help dialog, and printing.
import { makePalette } from "./colors.js";
import { showLegend } from "./controls.js";
import { forcePalette } from "./forced_colors.js";

const $ = (id) => document.getElementById(id);
const NARROW = 900; // narrower windows show the sidebar over the picture
const PAPER_WIDTH = 1040;
const PAPER_LONGEST = 4000;
const SIDE_LEAST = 200, SIDE_MOST = 640, SIDE_STEP = 16;

export function openHelp() {
	$("help").showModal();
}

export function toggleSidebar(app, on) {
	const root = $("app");
	const show = on ?? root.classList.contains("no-side");
	root.classList.toggle("no-side", !show);
	$("side-toggle").setAttribute("aria-expanded", String(show));
	if (show && innerWidth < NARROW) app.sheet.hide();
	if (app.flame.picture) app.flame.settle();
}

// Show the picture if the sidebar covers it.
export function uncover(app) {
	if (innerWidth < NARROW && !$("app").classList.contains("no-side")) toggleSidebar(app, false);
}

export function scrollPage({ state, flame, chart }, key) {
	const { scroller } = state.tab === "chart" ? chart : flame;
	scroller.scrollTop += (key === "PageDown" ? 1 : -1) * scroller.clientHeight * 0.85;
}

function bindResizer() {
	const resizer = $("resizer");
	const tell = (width) => resizer.setAttribute("aria-valuenow", String(Math.round(width)));
	const setWidth = (px) => {
		const width = Math.max(SIDE_LEAST, Math.min(px, innerWidth * 0.6, SIDE_MOST));
		document.documentElement.style.setProperty("--side", `${width}px`);
		tell(width);
	};
	resizer.setAttribute("aria-valuemin", String(SIDE_LEAST));
	resizer.setAttribute("aria-valuemax", String(SIDE_MOST));
	resizer.addEventListener("pointerdown", (event) => {
		resizer.setPointerCapture(event.pointerId);
		const move = (e) => setWidth(e.clientX);
		resizer.addEventListener("pointermove", move);
		resizer.addEventListener("pointerup",
			() => resizer.removeEventListener("pointermove", move), { once: true });
	});
	resizer.addEventListener("keydown", (event) => {
		const step = { ArrowLeft: -SIDE_STEP, ArrowRight: SIDE_STEP }[event.key];
		if (step) setWidth($("sidebar").offsetWidth + step);
	});
}

// Paper is white and does not scroll: draw in the light theme, all rows.
function print(app, isOn) {
	const theme = isOn ? "light" : app.theme.current;
	document.documentElement.dataset.theme = theme;
	app.flame.palette = isOn ? makePalette(app.data.header.palette, theme) :
		forcePalette(makePalette(app.data.header.palette, theme));
	showLegend(app, app.model.describe());
	app.flame.setPaper(isOn ? PAPER_WIDTH : 0, PAPER_LONGEST);
}

// What has the focus in a view.
const inside = {
	flame: "#grid", chart: "#chart canvas", table: "#table .scroller", sandwich: "#sandwich .twin",
	source: "#source :is(.listing, .file-list)", matches: "#matches button",
	waits: "#waits .listing", benchmarks: "#benchmarks button",
};

// Move the focus to the view, where keys work.
export function focusView({ state }) {
	[...document.querySelectorAll(inside[state.tab])].find((e) => e.offsetParent)
		?.focus({ preventScroll: true });
}

export function bindPageFrame(app) {
	$("skip").addEventListener("click", (event) => {
		event.preventDefault();
		focusView(app);
	});
	$("help-open").addEventListener("click", openHelp);
	$("side-toggle").addEventListener("click", () => toggleSidebar(app));
	addEventListener("beforeprint", () => print(app, true));
	addEventListener("afterprint", () => print(app, false));
	if (innerWidth < NARROW) toggleSidebar(app, false);
	document.querySelector("main").addEventListener("pointerdown", () => uncover(app));
	bindResizer();
}
