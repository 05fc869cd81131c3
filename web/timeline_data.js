// SPDX-License-Identifier: MIT
// A service's timeline, as received from the server, and ranges of it. Times are minutes since
// 1970, UTC; a range is [from, until], excluding the minute `until`.
//
//   buckets   0   1   2   3          [1, 3] of buckets are the minutes from where 1 begins to
//   minutes   |---|---|---|---|      where 3 does

const MS = 60000;
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/;

const isoOf = (minute) => new Date(minute * MS).toISOString().slice(0, 16);

export function minuteText(minute) {
	return isoOf(minute).replace("T", " ");
}

// Text of a range, as in sides of comparisons (src/fleet/sides.h), and back; null if it is not a
// range.
export function rangeText([from, until]) {
	return `${isoOf(from)}..${isoOf(until)}`;
}

export function rangeFrom(text) {
	const ends = text?.split("..") ?? [];
	if (ends.length !== 2 || !ends.every((end) => dateTime.test(end))) return null;
	const [from, until] = ends.map((end) => Date.parse(`${end}Z`) / MS);
	return from < until ? [from, until] : null;
}

// Do two ranges overlap?
export function meet(a, b) {
	return a[0] < b[1] && b[0] < a[1];
}

// The response of /api/timeline, in minutes and with the cost of all versions together.
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

// Position of a minute, in buckets.
export function placeOf(t, minute) {
	return (minute - t.first) / t.minutes;
}

export function rangeOf(t, range) {
	return range && range.map((bucket) => minuteAt(t, bucket));
}

// The buckets nearest to a range; null if it is outside.
export function bucketsOf(t, range) {
	if (!range) return null;
	const [from, until] = range.map((minute) =>
		Math.max(0, Math.min(t.buckets, Math.round(placeOf(t, minute)))));
	if (from < until) return [from, until];
	const at = Math.floor(placeOf(t, range[0]));
	return at >= 0 && at < t.buckets ? [at, at + 1] : null;
}

// Versions that started within the shown time, without the first one.
export function deploysOf(t) {
	return t.bands.filter(({ older, first }, i) =>
		!older && i > 0 && first > t.first && first < minuteAt(t, t.buckets));
}

// The times from the previous deploy to this one, and from it to the next.
export function aroundDeploy(t, { first }) {
	const turns = deploysOf(t).map((band) => band.first).filter((at) => at !== first);
	const before = turns.filter((at) => at < first), after = turns.filter((at) => at > first);
	return {
		before: [Math.max(t.first, ...before), first],
		after: [first, Math.min(minuteAt(t, t.buckets), ...after)],
	};
}
