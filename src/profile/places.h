/* SPDX-License-Identifier: MIT */
/* Costs of places: functions, lines of functions, lines of files, or exact positions.
 *
 * A place is a set of frames that are not distinguished further; its total counts a sample once
 * despite recursion. The two ends of a call can be different kinds of places: a line can call a
 * function.
 */
#pragma once

#include "profile/profile.h"

/* Properties that distinguish places; the file always does. */
enum fz_place_by {
	FZ_PLACE_FILE = 0,
	FZ_PLACE_BY_NAME = 1,
	FZ_PLACE_BY_START = 2, /* the line that represents the function */
	FZ_PLACE_BY_LINE = 4,
	FZ_PLACE_BY_SPAN = 8, /* end line and columns */
	FZ_PLACE_BY_OPCODE = 16,

	FZ_PLACE_FUNCTION = FZ_PLACE_BY_NAME | FZ_PLACE_BY_START,
	FZ_PLACE_FUNCTION_LINE = FZ_PLACE_BY_NAME | FZ_PLACE_BY_LINE,
	FZ_PLACE_LINE = FZ_PLACE_BY_LINE,
	FZ_PLACE_SPAN = FZ_PLACE_FUNCTION_LINE | FZ_PLACE_BY_SPAN,
};

struct fz_place {
	uint32_t frame; /* its first frame */
	int32_t line;   /* 0: unknown; of a function, the one that represents it */
	uint64_t self_samples, total_samples;
	int64_t self, total; /* weight */
};

struct fz_places {
	struct fz_place *list; /* in order of frames; some may have no cost */
	uint32_t n;
	uint32_t *of_frame; /* place of a frame */
	uint64_t samples;   /* samples with a stack */
	int64_t sum;        /* their weight */
};

/* Calls from one place to another, over all samples. */
struct fz_place_call {
	uint32_t caller, callee;
	uint64_t self_samples, total_samples; /* with the callee innermost, or anywhere */
	int64_t self, total;
};

/* by: enum fz_place_by; metric: index or FZ_METRIC_SAMPLES. */
void fz_places_init(struct fz_places *places, const struct fz_profile *p, unsigned by,
		    uint32_t metric);
void fz_places_release(struct fz_places *places);

/* Returns the calls from `callers` to `callees`, by caller, then callee; freed by the caller. Both
 * must be of profile p. once: count a sample once in a call's total even if the call recurs on its
 * stack; else each time, like CPython. */
struct fz_place_call *fz_places_calls(const struct fz_profile *p, const struct fz_places *callers,
				      const struct fz_places *callees, uint32_t metric, bool once,
				      size_t *ret_n);

static inline const struct fz_function *fz_place_function(const struct fz_profile *p,
							  const struct fz_place *place)
{
	return &p->functions[p->frames[place->frame].function];
}

/* The file of a function; its module if there is none, and "~" for markers, like CPython. */
struct fz_str fz_place_file(const struct fz_profile *p, const struct fz_function *f);
