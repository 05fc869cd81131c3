/* SPDX-License-Identifier: MIT */
/* Idle samples: threads that only waited for an event. A thread that waits for the GIL has work to
 * do and is not idle. */
#pragma once

#include "profile/profile.h"

struct fz_idle {
	const struct fz_profile *profile;
	bool *waits;             /* of each function: threads wait in it, according to its name */
	bool states;             /* samples have thread states */
	bool timed;              /* samples are of time; counts are always work */
	const int64_t *runnable; /* above 0: the thread was runnable without a processor; or NULL */
};

void fz_idle_init(struct fz_idle *idle, const struct fz_profile *p);
void fz_idle_release(struct fz_idle *idle);
/* Whether the thread waited in this row: by its recorded state or, without one, by the name of the
 * innermost function. */
bool fz_idle_sample(const struct fz_idle *idle, size_t row);
/* Whether threads waited in all rows. */
bool fz_idle_all(const struct fz_profile *p);
/* Flags the functions that mostly wait: in more than 90 % of the samples where they are innermost.
 * function_count entries, freed by the caller. */
bool *fz_idle_functions(const struct fz_profile *p);
