// SPDX-License-Identifier: MIT
// The page of one service: its timeline, two ranges of it, and what changed between them. The
// address contains the choices:
//
//   /service?name=shop&before=2026-11-23T06:15..2026-11-23T06:45&after=...&time=...
//
// `time` is the range of the timeline; label and metric are part of every request.
import { showChanges } from "./changed_functions.js";
import { el } from "./dom.js";
import { Timeline } from "./timeline.js";
import {
	aroundDeploy, deploysOf, meet, rangeFrom, rangeText, timelineOf,
} from "./timeline_data.js";

const CALM = 250; // ms without a change before the server is queried
const timeBox = document.getElementById("time"), changesBox = document.getElementById("changes");
const words = new URLSearchParams(location.search);
const service = words.get("name");
const passed = [...words].filter(([key]) => key === "label" || key === "metric");
const chosen = Object.fromEntries(["before", "after", "time"].map((key) =>
	[key, rangeFrom(words.get(key))]));
let timeline = null, asked = null, timer = 0;

async function ask(path, more, signal) {
	const answer = await fetch(`${path}?${new URLSearchParams([...more, ...passed])}`, { signal });
	if (!answer.ok) throw new Error((await answer.text()).trim());
	return answer.json();
}

function keepAddress() {
	const kept = Object.entries(chosen).filter(([, range]) => range)
		.map(([key, range]) => `${key}=${rangeText(range)}`);
	const names = new URLSearchParams([["name", service], ...passed]);
	history.replaceState(null, "", `/service?${[names, ...kept].join("&")}`);
}

// ---- what changed ----

function sides() {
	return [["base", chosen.before], ["head", chosen.after]]
		.map(([side, range]) => [side, `${service}@${rangeText(range)}`]);
}

// What to do without ranges.
function advice() {
	if (timeline.lanes.length)
		return ["Select a range before and one after, or a deploy, to see what changed."];
	const [base, head] = timeline.t.bands.filter(({ older }) => !older).slice(-2)
		.map(({ version }) => version);
	const of = [["base", `${service}@${base}`], ["head", `${service}@${head}`], ...passed];
	return ["One minute has no two ranges to compare.", ...(head ? [" ",
		el("a", { href: `/diff?${new URLSearchParams(of)}` }, `Compare ${base} with ${head}`)] :
		[])];
}

async function compare() {
	asked?.abort();
	asked = new AbortController();
	const { signal } = asked;
	changesBox.hidden = false;
	if (!chosen.before || !chosen.after) {
		changesBox.replaceChildren(el("p", { class: "empty" }, ...advice()));
		return;
	}
	changesBox.classList.add("busy");
	changesBox.setAttribute("aria-busy", "true");
	try {
		const of = sides();
		const answer = await ask("/api/diff", of, signal);
		if (meet(chosen.before, chosen.after))
			answer.warnings.push("The two ranges overlap; samples in both cannot differ.");
		showChanges(changesBox, answer, `/diff?${new URLSearchParams([...of, ...passed])}`);
	} catch (error) {
		if (signal.aborted) return;
		changesBox.replaceChildren(el("p", { role: "alert" }, error.message));
	}
	changesBox.classList.remove("busy");
	changesBox.removeAttribute("aria-busy");
}

// ---- the choices ----

function choose(ranges, isDone) {
	Object.assign(chosen, ranges);
	timeline.show(chosen);
	if (!isDone) return;
	keepAddress();
	clearTimeout(timer);
	timer = setTimeout(compare, CALM);
}

function zoom(isIn) {
	const { before, after } = chosen;
	chosen.time = isIn ? [Math.min(before[0], after[0]), Math.max(before[1], after[1])] : null;
	keepAddress();
	load();
}

async function load() {
	const time = chosen.time ?
		[["since", chosen.time[0] * 60], ["until", chosen.time[1] * 60]] : [];
	try {
		const answer = await ask("/api/timeline", [["service", service], ...time]);
		const t = timelineOf(answer);
		timeline = new Timeline(timeBox, t, { choose, zoom });
		if (answer.missing)
			timeBox.prepend(el("p", { role: "alert" },
				`${answer.missing} does not respond; its data is missing.`));
		const last = deploysOf(t).at(-1);
		if (!chosen.before && !chosen.after && last) Object.assign(chosen, aroundDeploy(t, last));
		keepAddress();
		timeline.show(chosen);
		await compare();
	} catch (error) {
		timeBox.replaceChildren(el("p", { role: "alert" }, error.message));
	}
	document.documentElement.dataset.ready = "";
}

if (passed.length) {
	const only = passed.map(([key, value]) => (key === "label" ? value : `metric ${value}`));
	document.querySelector("header p").append(`, only ${only.join(", ")}`);
}
load();
