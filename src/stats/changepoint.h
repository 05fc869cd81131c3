/* SPDX-License-Identifier: MIT */
/* Where a benchmark's history stepped up or down.
 *
 *     log cost    .  . .                 . . .
 *              . . ..  . . .  .  . . . .  . .  .
 *                                ^ at: the first commit of the new level
 *
 * E-divisive change points (Matteson and James 2014) in the form that Hunter (Fleming et al. 2023)
 * gave them, with outliers cut back and with correlated noise taken into account.
 */
#pragma once

#include <stddef.h>

struct fz_changepoint {
	size_t at;            /* first index of the new level */
	double before, after; /* means of the up to 40 values on each side, outliers cut back */
	double p;             /* Welch's test between them */
};

struct fz_changepoint_setup {
	double p_max;     /* least significance: 0.001 */
	double magnitude; /* smallest step: 0.02 in logarithms is 2 % */
};
extern const struct fz_changepoint_setup fz_changepoint_defaults;

/* Change points of series[0..n), by position. The series is the logarithm of a cost, oldest
 * first. *ret has a count as returned and is freed by the caller (NULL when 0). Time O(n^2) in the
 * worst case, memory O(n). */
size_t fz_changepoint_find(const double *series, size_t n, const struct fz_changepoint_setup *setup,
			   struct fz_changepoint **ret);
