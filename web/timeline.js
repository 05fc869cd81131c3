// SPDX-License-Identifier: MIT
// A service over time: its cost, a band for each version, releases and alarms; below it two lanes
// to select the ranges before and after.
import { el, svg } from "./dom.js";
import { formatCount, formatValue, plural } from "./format.js";
import { Brush } from "./strip_brush.js";
import {
	aroundDeploy, bucketsOf, deploysOf, minuteAt, minuteText, placeOf, rangeOf,
} from "./timeline_data.js";

const HEIGHT = 100;
const sides = [["before", "Before"], ["after", "After"]];

// acts: choose({before, after}, isDone), zoom(isIn).
export class Timeline {
	constructor(box, t, acts) {
		Object.assign(this, { box, t, acts, deploys: deploysOf(t) });
		this.readout = el("output", {});
		this.shades = sides.map(() => el("div", { class: "shade", hidden: true }));
		this.plot = el("div", { class: "plot" }, ...this.shades, this.picture(),
			...this.turns(), ...this.alarms());
		// A single bucket does not have two ranges.
		this.lanes = t.buckets > 1 ? sides.map(([side, title]) => this.lane(side, title)) : [];
		this.closer = el("button", { onclick: () => acts.zoom(true) }, "Show these ranges only");
		this.all = el("button", { onclick: () => acts.zoom(false) }, "Show the whole time line");
		this.buttons = el("div", { class: "acts" }, this.closer, this.all);
		box.replaceChildren(
			el("div", { class: "head" }, el("h2", {}, this.title()), this.readout),
			el("div", { class: "chart" }, this.axis(), this.plot,
				...this.lanes.flatMap(({ name, area }) => [name, area]), this.ends()),
			this.buttons,
			...this.lists());
		this.plot.addEventListener("pointermove", (e) => this.point(e));
		this.plot.addEventListener("pointerleave", () => this.tell(-1));
		this.tell(-1);
	}

	// Cost of a bucket per minute.
	rate(cost) {
		return formatValue(cost / this.t.minutes, this.t.unit);
	}

	title() {
		return this.t.unit === "ns" ? "CPU time per minute" : "Samples per minute";
	}

	at(minute) {
		return `${(100 * placeOf(this.t, minute)) / this.t.buckets}%`;
	}

	// ---- the picture ----

	picture() {
		const { t } = this;
		const scale = HEIGHT / (t.most || 1);
		const y = (cost) => (HEIGHT - cost * scale).toFixed(2);
		const [from, until] = [0, t.buckets].map((i) => minuteText(minuteAt(t, i)));
		const label = `${this.title()} from ${from} to ${until}, ` +
			`${plural(t.bands.length, "version")}, at most ${this.rate(t.most)}`;
		return svg("svg", {
			viewBox: `0 0 ${t.buckets} ${HEIGHT}`, preserveAspectRatio: "none", role: "img",
			"aria-label": label,
		}, ...t.bands.map(({ older, pieces }, i) => svg("path", {
			class: `band ${older ? "older" : i % 2 ? "odd" : "even"}`,
			d: pieces.map(({ at, low, high }) => `M${at} ${y(low)}V${y(high)}h1V${y(low)}z`)
				.join(""),
		})));
	}

	axis() {
		return el("div", { class: "axis", "aria-hidden": "true" },
			el("span", {}, this.rate(this.t.most)), el("span", {}, "0"));
	}

	ends() {
		const { t } = this;
		const [from, until] = [0, t.buckets].map((i) => minuteText(minuteAt(t, i)));
		const day = from.slice(0, 11);
		return el("div", { class: "ends" }, el("span", {}, from),
			el("span", {}, `${until.startsWith(day) ? until.slice(11) : until} UTC`));
	}

	turns() {
		return this.deploys.map((band) => {
			const turn = el("div", { class: "turn" });
			turn.style.left = this.at(band.first);
			return turn;
		});
	}

	// One mark for all alarms that lead to the same comparison.
	alarms() {
		const { t } = this;
		const end = minuteAt(t, t.buckets), byPage = new Map();
		for (const a of t.alarms)
			if (a.first_seen / 60 >= t.first && a.first_seen / 60 <= end)
				byPage.set(a.page, [...(byPage.get(a.page) ?? []), a]);
		return [...byPage.values()].map(([a, ...others]) => {
			const more = others.length ? `, and ${plural(others.length, "function")} more` : "";
			const text = this.alarmText(a) + more;
			const mark = el("a", {
				class: "alarm", href: a.page, title: text, "aria-label": `Alarm: ${text}`,
			}, "▲");
			mark.style.left = this.at(a.first_seen / 60);
			return mark;
		});
	}

	alarmText(a) {
		return `${a.function} costs more in ${a.head} than in ${a.base}`;
	}

	// ---- ranges ----

	lane(side, title) {
		const { t } = this;
		const name = el("span", { class: "lane-name", id: `lane-${side}` }, title);
		const area = el("div", { class: "lane", role: "group", "aria-labelledby": `lane-${side}` });
		const brush = new Brush(area, {
			count: t.buckets, textOf: (i) => minuteText(minuteAt(t, i)),
			chosen: (range, isDone) => this.acts.choose({ [side]: rangeOf(t, range) }, isDone),
		});
		return { side, name, area, brush };
	}

	// Show the chosen ranges; null: none.
	show(chosen) {
		this.lanes.forEach(({ side, brush }, k) => {
			const range = bucketsOf(this.t, chosen[side]);
			brush.show(range);
			this.shades[k].hidden = !range;
			if (!range) return;
			const [from, until] = range.map((i) => (100 * i) / this.t.buckets);
			Object.assign(this.shades[k].style, { left: `${from}%`, width: `${until - from}%` });
		});
		this.closer.hidden = !chosen.before || !chosen.after || this.t.minutes === 1;
		this.all.hidden = !chosen.time;
		this.buttons.hidden = this.closer.hidden && this.all.hidden;
	}

	// ---- below the picture ----

	lists() {
		const deploys = [...this.deploys].reverse().map((band) => el("li", {},
			el("button", {
				title: "Compare before and after this deploy",
				onclick: () => this.acts.choose(aroundDeploy(this.t, band), true),
			}, band.version), ` began ${minuteText(band.first)}`));
		const alarms = this.t.alarms.map((a) => el("li", {},
			el("span", { class: "more" }, "▲ "), el("a", { href: a.page }, this.alarmText(a)),
			` since ${minuteText(a.first_seen / 60)}`));
		return [[alarms, "Alarms"], [deploys, "Deploys"]].filter(([items]) => items.length)
			.map(([items, title]) => el("ul", { class: "list", "aria-label": title }, ...items));
	}

	// ---- pointing ----

	point(event) {
		const { left, width } = this.plot.getBoundingClientRect();
		this.tell(Math.floor(((event.clientX - left) / width) * this.t.buckets));
	}

	tell(bucket) {
		const { t } = this;
		if (bucket < 0 || bucket >= t.buckets) {
			const [n, unit] = t.minutes % 1440 ? [t.minutes, "minute"] : [t.minutes / 1440, "day"];
			this.readout.textContent = `by ${n === 1 ? unit : plural(n, unit)}`;
			return;
		}
		const there = t.bands.filter(({ pieces }) => pieces.some(({ at }) => at === bucket))
			.map(({ version, older }) => version ?? `${formatCount(older)} older versions`);
		this.readout.textContent = [minuteText(minuteAt(t, bucket)),
			there.length ? this.rate(t.sums[bucket]) : "no data", ...there.slice(0, 4),
		].join(" · ");
	}
}
