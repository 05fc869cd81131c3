// SPDX-License-Identifier: MIT
// The pointer on the flame graph: what is under it is told, a click zooms.
import { pathOf } from "./tree.js";

export function bindPointer(app, canvas) {
	const { flame } = app;
	const at = (event) => {
		const box = canvas.getBoundingClientRect();
		const px = event.clientX - box.left;
		return { node: flame.hit(px, event.clientY - box.top), isAside: flame.isAside(px) };
	};
	canvas.addEventListener("pointermove", (event) => {
		const { node, isAside } = at(event);
		canvas.style.cursor = node >= 0 ? "pointer" : "";
		if (node !== flame.hovered) {
			flame.hovered = node;
			flame.draw();
		}
		if (node > 0) app.tooltip.show(node, { x: event.clientX, y: event.clientY }, isAside);
		else app.tooltip.hide();
	});
	canvas.addEventListener("pointerleave", () => {
		flame.hovered = -1;
		flame.draw();
		app.tooltip.hide();
	});
	canvas.addEventListener("click", (event) => {
		const { node, isAside } = at(event);
		if (node < 0) return;
		const path = pathOf(flame.picture.tree, node);
		if (isAside) {
			app.set({ elided: true, zoom: path }, true);
			return;
		}
		flame.selected = node;
		app.zoomTo(path);
		flame.draw();
	});
	flame.scroller.addEventListener("scroll", () => {
		app.tooltip.hide();
		flame.draw();
	});
	new ResizeObserver(() => {
		if (flame.resize()) flame.draw();
	}).observe(flame.scroller);
}
