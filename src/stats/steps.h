/* SPDX-License-Identifier: MIT */
/* Finds steps up or down in a benchmark's counts over its commits.
 *
 *   exact    ____|~~~~     one value against the one before it
 *   gradual  __---~~~~     no single value, but all together since the last step
 *   noisy    .-._.~"~^     values scatter by as much: change points (changepoint.h)
 *
 * Counts are exact, so one commit is enough to detect a step; times need several on each side. Only
 * counts that scatter (threads) are treated like times.
 */
#pragma once

#include <stddef.h>

enum fz_step_kind { FZ_STEP_EXACT, FZ_STEP_GRADUAL, FZ_STEP_NOISY, FZ_STEP_KINDS };
extern const char *const fz_step_names[FZ_STEP_KINDS]; /* "exact", "gradual", "noisy" */

struct fz_step {
	enum fz_step_kind kind;
	size_t at;            /* first index of the new level */
	size_t since;         /* index in the old level that it is compared with */
	double before, after; /* noisy: means of the levels */
};

/* Finds the steps of cost[0..n), all >= 0, by position; `least` is the smallest relative change
 * that counts. Returns the length of *ret, which the caller frees (NULL if 0). */
size_t fz_steps_find(const double *cost, size_t n, double least, struct fz_step **ret);
/* Relative change: 0.5 is 50 % more; infinite if before is 0. */
double fz_step_change(const struct fz_step *s);
