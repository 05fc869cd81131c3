// SPDX-License-Identifier: MIT
// Making elements. Text always becomes text nodes; nothing here, or anywhere in the viewer, parses
// markup that could come from a profile.

// el("button", {class: "x", onclick: f}, "text", child, ...)
export function el(name, attributes = {}, ...children) {
	const element = document.createElement(name);
	for (const [key, value] of Object.entries(attributes)) {
		if (value === undefined || value === null || value === false) continue;
		if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
		else element.setAttribute(key, value === true ? "" : value);
	}
	element.append(...children.filter((c) => c !== null && c !== undefined && c !== false));
	return element;
}

// A line of parts with dots between them. A wrapped line has no dot at its start or end.
export function dotted(kind, ...parts) {
	return el("p", { class: `${kind} dotted` },
		el("span", {}, ...parts.filter(Boolean).map((part, i) =>
			el("span", { class: "part" }, i > 0 && el("span", { class: "dot" }, " · "), part))));
}

// A text that is cut at its beginning if there is no room, because its end matters most.
export function endOf(kind, text, title = text) {
	return el("span", { class: `${kind} ending`, title }, el("bdi", { dir: "ltr" }, text));
}

// A text of two parts; the first is cut if there is no room.
export function twoParts(kind, [head, tail], title = head + tail) {
	return el("span", { class: `${kind} parts`, title }, head && el("span", {}, head),
		el("span", {}, tail));
}

// A name that is preferably broken after its separators.
export function breakable(text) {
	return text.split(/(?<=[^\p{L}\p{N}\s])(?=[\p{L}\p{N}])/u)
		.flatMap((part) => [part, el("wbr")]).slice(0, -1);
}

// A foldable section of the sidebar; null without content.
export function section(id, title, ...children) {
	const content = children.filter(Boolean);
	if (!content.length) return null;
	return el("details", { class: "section", id: `section-${id}`, open: true },
		el("summary", {}, title), ...content);
}

// An initially folded section; its content is made when it is opened.
export function foldedSection(id, title, contentOf) {
	const box = el("details", {
		class: "section", id: `section-${id}`, ontoggle: () => {
			if (box.open && box.children.length === 1) box.append(...contentOf().filter(Boolean));
		},
	}, el("summary", {}, title));
	return box;
}

// A scrollable table with these headings. A cell is a text, or a list of parts.
export function table(headings, rows) {
	return el("div", { class: "listing", tabindex: "0", role: "group" },
		el("table", { class: "pairs" },
			el("tr", {}, ...headings.map((h) => el("th", { scope: "col" }, h))),
			...rows.map((cells) => el("tr", {},
				...cells.map((c) => el("td", {}, ...[c].flat()))))));
}

const SVG = "http://www.w3.org/2000/svg";

// The same as el, for SVG elements.
export function svg(name, attributes = {}, ...children) {
	const element = document.createElementNS(SVG, name);
	for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
	element.append(...children.filter((c) => c !== null));
	return element;
}

// A 20 x 20 line icon from its path.
export function icon(path) {
	return svg("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, svg("path", { d: path }));
}

// A line through points [x, y] in a box of that size, stretched to the available width.
export function line(points, width, height, label) {
	return svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img",
		"aria-label": label, class: "line" },
	svg("polyline", { points: points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" "),
		"vector-effect": "non-scaling-stroke" }));
}

// Buttons of which one is pressed; choices: [[value, label, title]].
export function segments(container, choices, current, choose) {
	container.replaceChildren(...choices.map(([value, label, title]) =>
		el("button", {
			"data-value": value, title, "aria-pressed": String(value === current),
			onclick: () => choose(value),
		}, label)));
}

// If there is no room for all buttons, scroll to the pressed one.
export function pressSegment(container, current) {
	for (const button of container.children) {
		const isPressed = button.dataset.value === current;
		button.setAttribute("aria-pressed", String(isPressed));
		if (!isPressed || container.scrollWidth <= container.clientWidth) continue;
		container.scrollLeft = Math.min(button.offsetLeft - container.offsetLeft,
			Math.max(container.scrollLeft, button.offsetLeft - container.offsetLeft +
				button.offsetWidth - container.clientWidth));
	}
}

// A labelled switch.
export function toggle(label, title, on, change, id) {
	return el("button", {
		class: "toggle", role: "switch", id, title, "aria-checked": String(on),
		onclick: (event) => change(event.currentTarget.getAttribute("aria-checked") !== "true"),
	}, el("span", { class: "knob" }), label);
}
