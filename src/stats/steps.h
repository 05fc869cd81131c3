/* SPDX-License-Identifier: MIT */
/* Where a benchmark's counts stepped up or down in the course of its commits.
 *
 *   exact    ____|~~~~     one value against the one before it
 *   gradual  __---~~~~     no value on its own, but together since the last step
 *   noisy    .-._.~"~^     the values scatter by as much: change points (changepoint.h)
 *
 * Counts are exact, so one commit is enough to see a step, where a time needs several on each
 * side. Only a benchmark whose counts scatter (threads) is judged as times are.
 */
#pragma once

#include <stddef.h>

enum fz_step_kind { FZ_STEP_EXACT, FZ_STEP_GRADUAL, FZ_STEP_NOISY, FZ_STEP_KINDS };
extern const char *const fz_step_names[FZ_STEP_KINDS]; /* "exact", "gradual", "noisy" */

struct fz_step {
	enum fz_step_kind kind;
	size_t at;            /* first index of the new level */
	size_t since;         /* index of the old one that it is compared with */
	double before, after; /* noisy: means of the levels */
};

/* Steps of cost[0..n), all at least 0, by position; `least` is the smallest relative change that
 * counts. *ret has a count as returned and is freed by the caller (NULL when 0). */
size_t fz_steps_find(const double *cost, size_t n, double least, struct fz_step **ret);
/* after relative to before: 0.5 is half as much again; infinite where before is 0. */
double fz_step_change(const struct fz_step *s);
