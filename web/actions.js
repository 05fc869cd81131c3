// SPDX-License-Identifier: MIT
// Actions on a frame: one table for its context menu and for the phone's sheet.
import { copyText } from "./clipboard.js";
import { isHeap, wordsOfFrames } from "./cost_words.js";
import { chosenEditor } from "./editor.js";
import { capital } from "./format.js";
import { originWord } from "./own_code.js";
import { filePlaceOf } from "./source_places.js";
import { pathOf } from "./tree.js";

async function copy(app, text) {
	app.say(await copyText(text) ? `Copied: ${text}` :
		"Cannot copy: the browser denied access to the clipboard");
}

function zoom(app, { flame, node, isAside }) {
	const path = pathOf(flame.picture.tree, node);
	if (isAside) app.set({ elided: true, zoom: path }, true);
	else app.zoomTo(path);
}

// Relative paths of libraries are not relative to the program's folder.
const canOpen = (app, { f }) => /^\//.test(fileOf(app, f)) ||
	(hasPlace(app, { f }) && originWord(app.data, f) === "" && !/^</.test(fileOf(app, f)));
const isOfPage = (app, { f }) => f >= 0 && f < app.data.functions.n;

function fileOf({ data: { functions } }, f) {
	return functions.files[functions.file[f]] ?? "";
}

function openEditor(app, { f }, anew) {
	app.editor.open(fileOf(app, f), app.data.functions.line[f], anew);
}

const isOnFlame = (app, { flame }) => flame === app.flame;
const hasPlace = (app, { f }) => filePlaceOf(app.data, f) !== "";

// [label, action, condition, whether figures stay open]; a frame is {flame, node, isAside, f}.
const actions = [
	["Zoom to this", zoom, isOnFlame],
	["Zoom to its time", (app) => app.chart.zoomToSelected(),
		(app, { flame }) => flame === app.chart],
	["Only this", (app, { f }) =>
		app.change({ only: f, without: app.state.without.filter((g) => g !== f), zoom: [] }, true),
		isOfPage],
	["Hide", (app, { f }) =>
		app.change({ without: [...app.state.without, f],
			only: app.state.only === f ? -1 : app.state.only, zoom: [] }, true), isOfPage],
	[({ above, below }) => `${capital(above)} and ${below}`,
		(app, { f }) => app.set({ tab: "sandwich", middle: f }, true),
		isOfPage],
	["Source lines", (app, { f }) => app.set({ tab: "source", middle: f }, true),
		(app, frame) => isOfPage(app, frame) && !isHeap(app.data.header)],
	["Copy name", (app, { f }) => copy(app, app.data.functions.names[f]), () => true, true],
	["Copy path:line", (app, { f }) => copy(app, filePlaceOf(app.data, f)), hasPlace, true],
	["Open in editor", (app, frame) => openEditor(app, frame, false), canOpen, true],
	["Choose editor…", (app, frame) => openEditor(app, frame, true),
		(app, frame) => canOpen(app, frame) && chosenEditor().template !== ""],
];

// Actions offered for a frame: [{label, act, stays}].
export function actionsOf(app, frame) {
	return actions.filter(([, , isOffered]) => isOffered(app, frame))
		.map(([label, act, , stays = false]) => ({
			label: typeof label === "string" ? label : label(wordsOfFrames(app.data.header)),
			stays, act: () => act(app, frame),
		}));
}
