/* SPDX-License-Identifier: MIT */
/* What places cost: functions, lines of functions, lines of files, or exact positions.
 *
 * A place is where frames stand that shall be told apart no further; its total counts a sample
 * once however often the place recurs in it. Who calls whom is asked of two kinds of places, so
 * that a line can be the caller and a function the callee.
 */
#pragma once

#include "profile/profile.h"

/* What tells places apart; files always do. */
enum fz_place_by {
	FZ_PLACE_FILE = 0,
	FZ_PLACE_BY_NAME = 1,
	FZ_PLACE_BY_START = 2, /* the line that stands for the function */
	FZ_PLACE_BY_LINE = 4,
	FZ_PLACE_BY_SPAN = 8, /* end line and columns */
	FZ_PLACE_BY_OPCODE = 16,

	FZ_PLACE_FUNCTION = FZ_PLACE_BY_NAME | FZ_PLACE_BY_START,
	FZ_PLACE_FUNCTION_LINE = FZ_PLACE_BY_NAME | FZ_PLACE_BY_LINE,
	FZ_PLACE_LINE = FZ_PLACE_BY_LINE,
	FZ_PLACE_SPAN = FZ_PLACE_FUNCTION_LINE | FZ_PLACE_BY_SPAN,
};

struct fz_place {
	uint32_t frame; /* the first that stands there */
	int32_t line;   /* 0: unknown; of a function the one that stands for it */
	uint64_t self_samples, total_samples;
	int64_t self, total; /* weight */
};

struct fz_places {
	struct fz_place *list; /* in order of frames; not all need to have a cost */
	uint32_t n;
	uint32_t *of_frame; /* place of a frame */
	uint64_t samples;   /* those with a stack */
	int64_t sum;        /* their weight */
};

/* From one place to the other, all samples together. */
struct fz_place_call {
	uint32_t caller, callee;
	uint64_t self_samples, total_samples; /* the callee being the innermost, or anywhere */
	int64_t self, total;
};

/* by: enum fz_place_by; metric: index or FZ_METRIC_SAMPLES. */
void fz_places_init(struct fz_places *places, const struct fz_profile *p, unsigned by,
		    uint32_t metric);
void fz_places_release(struct fz_places *places);

/* Calls from places of `callers` to those of `callees`, by caller, then callee; freed by the
 * caller. Both must be of the same profile. once: a sample counts once in a call's total, however
 * often the call recurs on its stack; else each time, as CPython has it. */
struct fz_place_call *fz_places_calls(const struct fz_profile *p, const struct fz_places *callers,
				      const struct fz_places *callees, uint32_t metric, bool once,
				      size_t *ret_n);

static inline const struct fz_function *fz_place_function(const struct fz_profile *p,
							  const struct fz_place *place)
{
	return &p->functions[p->frames[place->frame].function];
}

/* The file of a function; code without one has its module's name, and markers CPython's "~". */
struct fz_str fz_place_file(const struct fz_profile *p, const struct fz_function *f);
