// SPDX-License-Identifier: MIT
// Lists of modules, processes or threads to choose from, with their shares of the cost.
import { el } from "./dom.js";
import { formatShare } from "./format.js";
import { showName } from "./labels.js";

// An item: {label, box, element}. kind: "thread"; attributes: of the box; only(): chooses just this
// item.
export function checkItem(kind, label, share, attributes, only) {
	const shown = showName(label);
	const box = el("input", { type: "checkbox", checked: true, ...attributes });
	const button = el("button", {
		class: "link only", title: `Only this ${kind}`, "aria-label": `only ${shown}`,
		onclick: only,
	}, "only");
	return { label, box, element: el("li", {},
		el("label", {}, box, el("span", {}, shown)), button,
		el("span", { class: "quiet" }, formatShare(share))) };
}

// [field, list]; a short list has no field to filter it. kinds: "threads".
export function checklist(kinds, items) {
	const field = items.length > 8 && el("input", {
		type: "search", class: "find", placeholder: `Filter ${kinds}`,
		"aria-label": `Filter ${kinds}`,
		oninput: (e) =>
			items.forEach((i) =>
				(i.element.hidden = !i.label.toLowerCase()
					.includes(e.target.value.toLowerCase()))),
	});
	return [field, el("ul", { class: "threads" }, ...items.map((i) => i.element))];
}
