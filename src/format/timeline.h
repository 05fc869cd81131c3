/* SPDX-License-Identifier: MIT */
/* Converts calls and returns to samples: the time between two events goes to the innermost open
 * call.
 *
 *   open a at 0, open b at 3, close at 5, close at 9   ->   a 3, a;b 2, a 4
 *
 * A track is one thread. Its rows go to a list of spans first, because a profile needs its metrics
 * before its first sample.
 */
#pragma once

#include "profile/profile.h"

struct fz_span {
	uint32_t thread, stack; /* stack FZ_NONE: nothing was open */
	double start, length;
};

struct fz_spans {
	struct fz_span *list;
	size_t n, cap;
};

struct fz_track {
	uint32_t thread;
	double now;     /* of the last event */
	uint32_t *open; /* stacks, the outermost first */
	double *ends;   /* known end of each open one, or INFINITY */
	uint32_t depth, cap, ends_cap;
	bool started;
};

enum { FZ_TRACK_DEPTH_MAX = 1 << 16 };

void fz_track_release(struct fz_track *t);
/* Advances the time to `at`, closing frames with a known end before it. */
void fz_track_advance(struct fz_track *t, double at, struct fz_spans *spans);
/* Opens a frame; false if too many are open. */
bool fz_track_open(struct fz_track *t, struct fz_profile *p, uint32_t frame, double ends);
/* The innermost open frame, or FZ_NONE. */
uint32_t fz_track_top(const struct fz_track *t, const struct fz_profile *p);
void fz_track_close(struct fz_track *t);
/* Adds the metric "wall" with the spans as its samples, in order of thread and time. Times are
 * relative to the earliest start. */
void fz_spans_add(const struct fz_spans *spans, struct fz_profile *p);
void fz_spans_release(struct fz_spans *spans);
