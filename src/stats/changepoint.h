/* SPDX-License-Identifier: MIT */
/* Where a benchmark's history stepped up or down.
 *
 *     log cost    .  . .                 . . .
 *              . . ..  . . .  .  . . . .  . .  .
 *                                ^ at: the first commit of the new level
 *
 * The steps are those that the series cannot be explained without, given what noise there is:
 * noise may remember (arma.h), have outliers, and know two modes (modes.h).
 */
#pragma once

#include <stddef.h>

struct fz_changepoint {
	size_t at;            /* first index of the new level */
	double before, after; /* means of the up to 40 values on each side, outliers cut back and
			       * modes taken out */
};

struct fz_changepoint_setup {
	double magnitude; /* smallest step: 0.02 in logarithms is 2 % */
};
extern const struct fz_changepoint_setup fz_changepoint_defaults;

/* Change points of series[0..n), by position. The series is the logarithm of a cost, oldest
 * first; the negated series has the same points. *ret has a count as returned and is freed by the
 * caller (NULL when 0). Time and memory O(n). */
size_t fz_changepoint_find(const double *series, size_t n, const struct fz_changepoint_setup *setup,
			   struct fz_changepoint **ret);
