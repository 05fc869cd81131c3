/* SPDX-License-Identifier: MIT */
/* Samples of perf's events, whether they come from its recording or from what it printed.
 *
 * Every event is a metric, in periods. A profile must know its metrics before its first sample, and
 * which events have samples is known at the end, so samples are kept in a list until then.
 */
#pragma once

#include "profile/profile.h"

enum { FZ_PERF_EVENTS_MAX = FZ_METRICS_MAX - 1 /* beside the number of samples */ };

struct fz_perf_sample {
	uint32_t thread, stack;
	uint32_t event; /* number that the reader gave it; FZ_NONE: not known */
	int64_t time;   /* ns */
	int64_t period;
};

struct fz_perf_samples {
	struct fz_perf_sample *list; /* owned */
	size_t n, cap;
};

/* bytes: of the input until here; name: of the file. FZ_ELIMIT: more than bytes account for. */
int fz_perf_samples_add(struct fz_perf_samples *s, struct fz_profile *p,
			const struct fz_perf_sample *sample, uint64_t bytes, const char *name,
			struct fz_error *err);
/* Make an event the next metric; without periods it is a count. Returns what one of its periods is
 * in the metric's unit. */
double fz_perf_add_event(struct fz_profile *p, struct fz_str event, bool has_period);
/* After the events: the number of samples as a metric, the interval that was asked for, all
 * samples. metric_of: each event's metric, scale: of each metric. */
void fz_perf_samples_finish(const struct fz_perf_samples *s, struct fz_profile *p,
			    const uint32_t *metric_of, const double *scale, bool timed);
void fz_perf_samples_release(struct fz_perf_samples *s);
