// SPDX-License-Identifier: MIT
// Mouse, pen and touch on the flame graph: hovering shows the tooltip, a click zooms, a touch opens
// the sheet, a second touch zooms. Drags, pinches and the wheel move the window.
import { bindPointers, bindWheel } from "./gestures.js";
import { isTouch } from "./last_pointer.js";
import { pathOf } from "./tree.js";

const TWICE = 350; // maximum ms between the touches of a double tap
const NEAR = 24; // maximum pixels between them

export function bindPointer(app, canvas) {
	const { flame } = app;
	const inside = ({ clientX, clientY }) => {
		const box = canvas.getBoundingClientRect();
		return [clientX - box.left, clientY - box.top];
	};
	const frameAt = (event) => {
		const [px, py] = inside(event);
		const node = flame.hit(px, py), isAside = flame.isAside(px);
		return { flame, node, isAside, f: flame.picture.tree.func[node] };
	};
	const quiet = () => {
		flame.hover(-1);
		app.tooltip.hide();
	};
	const zoom = ({ node, isAside }) => {
		const path = pathOf(flame.picture.tree, node);
		if (isAside) {
			app.set({ elided: true, zoom: path }, true);
			return;
		}
		flame.selected = node;
		app.zoomTo(path);
		flame.draw();
	};
	let last = { time: -Infinity };
	const touch = (event, frame) => {
		const { clientX: x, clientY: y, timeStamp: time } = event;
		const isSecond = time - last.time < TWICE && Math.hypot(x - last.x, y - last.y) < NEAR;
		const first = last.frame;
		last = isSecond ? { time: -Infinity } : { x, y, time, frame };
		if (isSecond) {
			app.sheet.hide();
			if (first.node >= 0) zoom(first);
		} else if (frame.node > 0) {
			if (!frame.isAside) app.selection.select(frame.node, flame);
			else app.sheet.show(frame);
		} else {
			app.sheet.hide();
		}
	};
	const on = {
		hover(event) {
			const frame = frameAt(event);
			canvas.style.cursor = frame.node >= 0 ? "pointer" : "";
			flame.hover(frame.node, frame.isAside);
			if (frame.node > 0)
				app.tooltip.show(frame.node, { x: event.clientX, y: event.clientY }, frame.isAside);
			else app.tooltip.hide();
		},
		leave: quiet,
		tap(event) {
			const frame = frameAt(event);
			if (isTouch()) touch(event, frame);
			// The first click of a double click has already zoomed.
			else if (frame.node >= 0 && event.detail < 2) zoom(frame);
		},
		pan(dx, dy) {
			quiet();
			if (dy) flame.scroller.scrollTop -= dy;
			return flame.panBy(dx);
		},
		zoom(x, y, factor) {
			quiet();
			flame.zoomAt(inside({ clientX: x, clientY: y })[0], factor);
		},
		end: () => app.keepWindow(),
	};
	bindPointers(canvas, on);
	canvas.addEventListener("contextmenu", (event) => {
		const frame = frameAt(event);
		if (frame.node <= 0) return;
		event.preventDefault();
		app.openMenu(frame, { x: event.clientX, y: event.clientY });
	});
	bindWheel(flame.scroller, on);
	flame.scroller.addEventListener("scroll", () => {
		app.tooltip.hide();
		flame.draw();
	});
	new ResizeObserver(() => {
		if (flame.resize()) flame.draw();
	}).observe(flame.scroller);
}
