/* SPDX-License-Identifier: MIT */
/* Samples of perf's events, from its recordings or its text output.
 *
 * Every event is a metric, in periods. A profile needs its metrics before its first sample, but the
 * events with samples are only known at the end, so samples are stored in a list until then.
 */
#pragma once

#include "profile/profile.h"

enum { FZ_PERF_EVENTS_MAX = FZ_METRICS_MAX - 1 /* plus the number of samples */ };

struct fz_perf_sample {
	uint32_t thread, stack;
	uint32_t event; /* the reader's number; FZ_NONE: unknown */
	int64_t time;   /* ns */
	int64_t period;
};

struct fz_perf_samples {
	struct fz_perf_sample *list; /* owned */
	size_t n, cap;
};

/* bytes: of the input so far; name: of the file. FZ_ELIMIT if there are more samples than the bytes
 * allow. */
int fz_perf_samples_add(struct fz_perf_samples *s, struct fz_profile *p,
			const struct fz_perf_sample *sample, uint64_t bytes, const char *name,
			struct fz_error *err);
/* Adds a metric for an event, a count if it has no periods. Returns the metric's units per
 * period. */
double fz_perf_add_event(struct fz_profile *p, struct fz_str event, bool has_period);
/* Call after adding events: adds the number of samples as a metric, the requested interval and all
 * samples. metric_of: metric of each event, scale: of each metric. */
void fz_perf_samples_finish(const struct fz_perf_samples *s, struct fz_profile *p,
			    const uint32_t *metric_of, const double *scale, bool timed);
void fz_perf_samples_release(struct fz_perf_samples *s);
