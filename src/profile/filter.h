/* SPDX-License-Identifier: MIT */
/* Filters the samples of a profile. */
#pragma once

#include "profile/profile.h"

/* Keeps the samples that pass all tests that are set. */
struct fz_filter {
	const bool *threads;    /* thread_count flags; NULL: all */
	const bool *functions;  /* function_count flags: one of them must be on the stack; NULL */
	const bool *hidden;     /* function_count flags: none of them may be on it; NULL */
	uint32_t run;           /* FZ_NONE: all */
	int64_t from_ns, to_ns; /* from_ns <= time < to_ns, for timed samples */
	uint8_t status_all;     /* status bits that must be set */
	bool no_idle;           /* drop samples of waiting threads (idle.h) */
};

#define FZ_FILTER_DEFAULTS ((struct fz_filter){ .run = FZ_NONE, .to_ns = INT64_MAX })

/* Drops the samples that do not pass; tables do not change. Returns the number of remaining
 * samples, including the counts of rows. */
uint64_t fz_profile_filter(struct fz_profile *p, const struct fz_filter *filter);
/* Cuts every stack to start at its first frame of a flagged function (function_count flags), and
 * drops samples without one. Returns the number of remaining samples. */
uint64_t fz_profile_root_at(struct fz_profile *p, const bool *functions);
/* Whether a function is the marker of unreadable samples. */
bool fz_function_is_unreadable(const struct fz_profile *p, const struct fz_function *f);
/* Drops the samples that the recorder could not read, charged to [unreadable]. */
void fz_profile_drop_unreadable(struct fz_profile *p);
/* Flags of the functions whose name or file matches; function_count entries, freed by the caller.
 */
bool *fz_filter_functions(const struct fz_profile *p, const regex_t *regex);
