// SPDX-License-Identifier: MIT
// Pointer and wheel events of an element, translated to gestures:
//
//   wheel                       the browser scrolls
//   Ctrl or ⌘ and wheel         zoom around the pointer (also a pinch on a touch pad)
//   Shift and wheel, sideways   pan
//   drag                        pan; with a mouse also vertically (for touch the browser scrolls)
//   two fingers                 zoom around their middle, and pan
//
// on: {hover(event), leave(), tap(event), pan(dx, dy), zoom(x, y, factor), end()}, in pixels of the
// window. pan and zoom return whether anything moved; end() is called when input has stopped.
const SLOP = 5; // pixels that a press may move and still be a tap
const REST = 160; // ms without wheel events after which input has stopped
const LINE = 16, TURN_MOST = 50,
	PER_PIXEL = 0.01; // magnification by the wheel: exp(0.01 per pixel)

function turnOf(event, size) {
	const unit = [1, LINE, size][event.deltaMode];
	return { x: event.deltaX * unit, y: event.deltaY * unit };
}

export function bindWheel(element, on) {
	let resting = 0;
	element.addEventListener("wheel", (event) => {
		const { x, y } = turnOf(event, element.clientHeight);
		let isUsed;
		if (event.ctrlKey || event.metaKey) {
			on.zoom(event.clientX, event.clientY,
				Math.exp(-PER_PIXEL * Math.max(-TURN_MOST, Math.min(TURN_MOST, y))));
			isUsed = true;
		} else {
			if (!event.shiftKey && Math.abs(x) <= Math.abs(y)) return;
			isUsed = on.pan(-(x || y), 0);
		}
		if (!isUsed) return;
		event.preventDefault();
		clearTimeout(resting);
		resting = setTimeout(on.end, REST);
	}, { passive: false });
}

export function bindPointers(element, on) {
	const down = new Map();
	let isMoved = false;

	const middle = () => {
		const [a, b = a] = [...down.values()];
		return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.hypot(a.x - b.x, a.y - b.y) };
	};
	const move = (event) => {
		const was = middle(), at = down.get(event.pointerId);
		Object.assign(at, { x: event.clientX, y: event.clientY });
		const now = middle();
		if (!isMoved && down.size === 1) {
			if (Math.hypot(at.x - at.fromX, at.y - at.fromY) < SLOP) return;
			was.x = at.fromX;
			was.y = at.fromY;
		}
		if (!isMoved) element.setPointerCapture(event.pointerId);
		isMoved = true;
		if (down.size === 2 && was.apart > 0 && now.apart > 0)
			on.zoom(now.x, now.y, now.apart / was.apart);
		on.pan(now.x - was.x, event.pointerType === "touch" ? 0 : now.y - was.y);
	};
	const up = (event) => {
		if (!down.delete(event.pointerId) || down.size > 0) return;
		if (isMoved) on.end();
	};

	element.addEventListener("pointerdown", (event) => {
		if (event.button !== 0 || down.size === 2) return;
		if (down.size === 0) isMoved = false;
		down.set(event.pointerId, {
			x: event.clientX, y: event.clientY, fromX: event.clientX, fromY: event.clientY,
		});
	});
	element.addEventListener("pointermove", (event) => {
		if (down.has(event.pointerId)) move(event);
		else if (event.pointerType !== "touch") on.hover(event);
	});
	element.addEventListener("pointerup", up);
	element.addEventListener("pointercancel", up);
	element.addEventListener("pointerleave", () => on.leave());
	element.addEventListener("click", (event) => !isMoved && on.tap(event));
}
