// SPDX-License-Identifier: MIT A service's time line, as received from the server, and ranges of
// it. Times are minutes since 1970, UTC; a range is [from, until], without the minute that it ends
// with.
//
//   buckets   0   1   2   3          [1, 3] of buckets are the minutes from where 1 begins to
//   minutes   |---|---|---|---|      where 3 does

const MS = 60000;
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/;

const isoOf = (minute) => new Date(minute * MS).toISOString().slice(0, 16);

export function minuteText(minute) {
	return isoOf(minute).replace("T", " ");
}

// As sides of comparisons are written (src/fleet/sides.h), and back; null: it is none.
export function rangeText([from, until]) {
	return `${isoOf(from)}..${isoOf(until)}`;
}

export function rangeFrom(text) {
	const ends = text?.split("..") ?? [];
	if (ends.length !== 2 || !ends.every((end) => dateTime.test(end))) return null;
	const [from, until] = ends.map((end) => Date.parse(`${end}Z`) / MS);
	return from < until ? [from, until] : null;
}

// Whether there is a minute that both have.
export function meet(a, b) {
	return a[0] < b[1] && b[0] < a[1];
}

// The answer of /api/timeline, as minutes and with what all versions cost together.
export function timelineOf(answer) {
	const { buckets } = answer;
	const sums = new Float64Array(buckets), cells = new Float64Array(buckets);
	const bands = answer.versions.map(({ version, older, first, points }) => {
		const pieces = points.map(([at, cost, n]) => {
			const low = sums[at];
			sums[at] += cost;
			cells[at] += n;
			return { at, low, high: sums[at] };
		});
		return { version, older, first: first / 60, pieces };
	});
	return {
		buckets, bands, sums, cells, unit: answer.unit, metric: answer.metric,
		first: answer.first / 60, minutes: answer.seconds / 60, alarms: answer.alarms,
		most: sums.reduce((a, b) => Math.max(a, b), 0),
	};
}

export function minuteAt(t, bucket) {
	return t.first + bucket * t.minutes;
}

// Where a minute lies, in buckets.
export function placeOf(t, minute) {
	return (minute - t.first) / t.minutes;
}

export function rangeOf(t, range) {
	return range && range.map((bucket) => minuteAt(t, bucket));
}

// The buckets that a range is nearest to; null where it lies outside.
export function bucketsOf(t, range) {
	if (!range) return null;
	const [from, until] = range.map((minute) =>
		Math.max(0, Math.min(t.buckets, Math.round(placeOf(t, minute)))));
	if (from < until) return [from, until];
	const at = Math.floor(placeOf(t, range[0]));
	return at >= 0 && at < t.buckets ? [at, at + 1] : null;
}

// Versions that began in the time that is shown; whatever ran first did not begin to run then.
export function deploysOf(t) {
	return t.bands.filter(({ older, first }, i) =>
		!older && i > 0 && first > t.first && first < minuteAt(t, t.buckets));
}

// The time from the deploy before to this one, and from there to the next.
export function aroundDeploy(t, { first }) {
	const turns = deploysOf(t).map((band) => band.first).filter((at) => at !== first);
	const before = turns.filter((at) => at < first), after = turns.filter((at) => at > first);
	return {
		before: [Math.max(t.first, ...before), first],
		after: [first, Math.min(minuteAt(t, t.buckets), ...after)],
	};
}
