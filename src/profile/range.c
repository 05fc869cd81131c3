/* SPDX-License-Identifier: MIT */
/* Runs and speed measurements are shifted along with samples. Data of the whole recording is
 * dropped: use of the processors, missed instants. */
#include "profile/range.h"

#include "base/text.h"
#include "profile/filter.h"
#include "profile/mark.h"
#include "profile/waits.h"

#include <math.h>
#include <stdio.h>

static int64_t add(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* The end of the last sample of each run; run_count + 1 entries, at least one run. */
static int64_t *last_samples(const struct fz_profile *p)
{
	int64_t *last = fz_calloc(p->run_count + 1ul, sizeof(*last));

	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t run = p->samples.run ? p->samples.run[row] : 0;

		last[FZ_MIN(run, p->run_count)] =
			FZ_MAX(last[FZ_MIN(run, p->run_count)], fz_sample_end(p, row));
	}
	return last;
}

static int64_t end_of_run(const struct fz_profile *p, const int64_t *last, uint32_t run)
{
	return run < p->run_count ? FZ_MAX(p->runs[run].duration_ns, last[run]) : last[run];
}

int64_t fz_profile_end(const struct fz_profile *p)
{
	fz_auto(fz_free_ptr) int64_t *last = last_samples(p);
	int64_t end = p->run_count > 1 ? 0 : p->recording.duration_ns;

	for (uint32_t run = 0; run <= p->run_count; run++)
		end = FZ_MAX(end, end_of_run(p, last, run));
	return end;
}

uint64_t fz_profile_times(const struct fz_profile *p)
{
	const struct fz_samples *s = &p->samples;

	return s->timed && s->n ? fz_hash_bytes(s->time, s->n * sizeof(*s->time)) : 0;
}

/* Limits all weights of a wait to its length within the range. */
static void shorten(struct fz_profile *p, size_t row, int64_t ns)
{
	for (uint32_t m = 0; m < p->metric_count; m++)
		if (p->metrics[m].column && strcmp(p->metrics[m].unit, "ns") == 0)
			p->metrics[m].column[row] = FZ_MIN(p->metrics[m].column[row], ns);
}

/* Clips waits, whose samples are at their ends. The sample of a wait that extends beyond the range
 * moves to the last instant of the range. */
static void clip_waits(struct fz_profile *p, const struct fz_filter *range)
{
	struct fz_wait_places places;

	if (!(p->recording.features & FZ_FEATURE_WAITS) || !fz_wait_places_init(&places, p))
		return;
	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t stack = p->samples.stack[row];
		int64_t to = p->samples.time[row];
		int64_t from = to - fz_sample_weight(p, p->default_metric, row);

		if (stack == FZ_NONE || from >= range->to_ns ||
		    fz_wait_place_of(&places, stack)->kind == FZ_WAIT_KINDS)
			continue;
		/* A wait that ended at the start of the range was before it. */
		p->samples.time[row] = to <= range->from_ns ? to - 1 : FZ_MIN(to, range->to_ns - 1);
		shorten(p, row, FZ_MIN(to, range->to_ns) - FZ_MAX(from, range->from_ns));
	}
	fz_wait_places_release(&places);
}

/* Clips samples with a duration; those outside of the range are unchanged. */
static void clip(struct fz_profile *p, const struct fz_filter *range)
{
	for (size_t row = 0; row < p->samples.n; row++) {
		int64_t from = FZ_MAX(p->samples.time[row], range->from_ns);
		int64_t to = FZ_MIN(fz_sample_end(p, row), range->to_ns);

		if (fz_sample_span(p, row) == 0 || from >= to)
			continue;
		p->samples.time[row] = from;
		p->metrics[0].column[row] = to - from;
	}
}

static void move_runs(struct fz_profile *p, const struct fz_range *range, const int64_t *last)
{
	for (uint32_t run = 0; run < p->run_count; run++) {
		struct fz_run *r = &p->runs[run];
		int64_t end = FZ_MIN(end_of_run(p, last, run), range->to_ns);

		if (r->start_unix_ns)
			r->start_unix_ns = add(r->start_unix_ns, range->from_ns);
		*r = (struct fz_run){ .start_unix_ns = r->start_unix_ns,
				      .duration_ns = FZ_MAX(end - range->from_ns, 0) };
	}
}

static void move_probes(struct fz_speed_track *track, const struct fz_range *range)
{
	size_t kept = 0;

	for (size_t i = 0; i < track->n; i++) {
		struct fz_speed_probe probe = track->probes[i];

		if (probe.time < range->from_ns || probe.time >= range->to_ns)
			continue;
		probe.time -= range->from_ns;
		track->probes[kept++] = probe;
	}
	track->n = kept;
}

/* Percentage of unreadable samples; ours are those charged to [unreadable]. */
static double error_rate(const struct fz_profile *p)
{
	uint64_t unreadable = 0, all = fz_profile_sample_total(p);

	for (size_t row = 0; row < p->samples.n; row++)
		if (p->samples.stack[row] != FZ_NONE &&
		    fz_function_is_unreadable(p,
					      fz_profile_stack_function(p, p->samples.stack[row])))
			unreadable += fz_sample_count(p, row);
	return all ? 100 * (double)unreadable / (double)all : NAN;
}

static void forget_quality(struct fz_profile *p)
{
	p->recording.error_rate = p->quality.known ? error_rate(p) : NAN;
	p->recording.missed_rate = p->recording.achieved_hz = NAN;
	p->quality = (struct fz_quality){ .dropped_bytes = p->quality.dropped_bytes };
}

static void set_durations(struct fz_profile *p, const struct fz_range *range)
{
	int64_t sum = 0;

	for (uint32_t run = 0; run < p->run_count; run++)
		sum = add(sum, p->runs[run].duration_ns);
	p->recording.duration_ns = p->run_count ? sum : range->to_ns - range->from_ns;
	p->recording.complete = false;
}

static void name_range(struct fz_profile *p, const struct fz_range *range)
{
	char from[FZ_NUMBER_SIZE], to[FZ_NUMBER_SIZE], text[2 * FZ_NUMBER_SIZE + 8];

	snprintf(text, sizeof(text), "%s to %s",
		 fz_format_value((double)range->from_ns, "ns", from),
		 fz_format_value((double)range->to_ns, "ns", to));
	fz_profile_set_fact(p, FZ_RANGE_FACT, fz_str_of(text));
}

uint64_t fz_profile_keep_range(struct fz_profile *p, const struct fz_range *range)
{
	struct fz_filter filter = FZ_FILTER_DEFAULTS;
	fz_auto(fz_free_ptr) int64_t *last = last_samples(p);
	int64_t end = fz_profile_end(p);
	struct fz_range r = { FZ_MAX(range->from_ns, 0), FZ_MIN(range->to_ns, end) };

	fz_assert(r.from_ns < r.to_ns && p->samples.timed);
	p->range_of = fz_profile_times(p);
	/* Samples before the start or at the end belong to the first and last range. */
	filter.from_ns = r.from_ns > 0 ? r.from_ns : INT64_MIN;
	filter.to_ns = r.to_ns < end ? r.to_ns : INT64_MAX;
	clip(p, &filter);
	clip_waits(p, &filter);
	size_t wakes = p->wakes.n; /* filtering drops them */
	uint64_t kept = fz_profile_filter(p, &filter);
	p->wakes.n = wakes;
	fz_wakes_keep_range(&p->wakes, r.from_ns, r.to_ns);
	for (size_t row = 0; row < p->samples.n; row++)
		p->samples.time[row] -= r.from_ns;
	move_runs(p, &r, last);
	move_probes(&p->speed, &r);
	fz_profile_move_marks(p, r.from_ns, r.to_ns < end ? r.to_ns : INT64_MAX);
	set_durations(p, &r);
	forget_quality(p);
	name_range(p, &r);
	return kept;
}
