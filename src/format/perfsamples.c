/* SPDX-License-Identifier: MIT */
/* Converts samples of perf's events to those of a profile. */
#include "perfsamples.h"

#include "import.h"

int fz_perf_samples_add(struct fz_perf_samples *s, struct fz_profile *p,
			const struct fz_perf_sample *sample, uint64_t bytes, const char *name,
			struct fz_error *err)
{
	if (s->n >= p->limits->free_samples + 64 * bytes || s->n >= p->limits->samples)
		return fz_fail(err, FZ_ELIMIT, "%s: too many samples", name);
	fz_profile_push(p, s->list, s->n, s->cap, *sample);
	return 0;
}

double fz_perf_add_event(struct fz_profile *p, struct fz_str event, bool has_period)
{
	struct fz_import_metric m = { event.n ? event : FZ_STR("unknown"), FZ_STR("count"), 1 };

	if (has_period)
		m = fz_import_metric(event, FZ_STR(""));
	fz_import_add_metric(p, &m, 0, true);
	return m.scale;
}

/* Sets the interval if a clock has the same period in all samples. */
static void find_interval(const struct fz_perf_samples *s, struct fz_profile *p)
{
	int64_t period = s->n ? s->list[0].period : 0;

	for (size_t i = 1; i < s->n; i++)
		if (s->list[i].period != period)
			return;
	if (period > 1 && strcmp(p->metrics[0].unit, "ns") == 0)
		p->recording.interval_ns = fz_import_scaled_int(period, 1);
}

/* Which event has the first sample is chance, and may differ between two recordings of a command.
 */
static void prefer_time(struct fz_profile *p)
{
	for (uint32_t i = p->metric_count; i-- > 0;)
		if (strcmp(p->metrics[i].unit, "ns") == 0)
			p->default_metric = i;
}

void fz_perf_samples_finish(const struct fz_perf_samples *s, struct fz_profile *p,
			    const uint32_t *metric_of, const double *scale, bool timed)
{
	const struct fz_import_metric samples = { FZ_STR("samples"), FZ_STR("count"), 1 };
	int64_t weights[FZ_METRICS_MAX] = { 0 }, first = INT64_MAX;

	prefer_time(p);
	fz_import_add_metric(p, &samples, 1, false);
	find_interval(s, p);
	p->samples.timed = p->samples.ordered = timed;
	for (size_t i = 0; i < s->n; i++)
		first = FZ_MIN(first, s->list[i].time);
	for (size_t i = 0; i < s->n; i++) {
		const struct fz_perf_sample *e = &s->list[i];
		struct fz_sample sample = { .thread = e->thread,
					    .stack = e->stack,
					    .time = e->time - first,
					    .status = FZ_STATUS_UNKNOWN };
		uint32_t m = metric_of[e->event];
		weights[m] = fz_import_scaled_int(e->period, scale[m]);
		fz_profile_add_sample(p, &sample, weights);
		weights[m] = 0;
	}
}

void fz_perf_samples_release(struct fz_perf_samples *s)
{
	free(s->list);
}
