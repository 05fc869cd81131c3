/* SPDX-License-Identifier: MIT */
/* Finds steps up or down in a benchmark's history.
 *
 *     log cost    .  . .                 . . .
 *              . . ..  . . .  .  . . . .  . .  .
 *                                ^ at: the first commit of the new level
 *
 * A step is reported if the series cannot be explained without it. Noise may be autocorrelated
 * (arma.h), have outliers, and have two modes (modes.h).
 */
#pragma once

#include <stddef.h>

struct fz_changepoint {
	size_t at;            /* first index of the new level */
	double before, after; /* means of up to 40 values on each side, with outliers clipped and
				 modes removed */
};

struct fz_changepoint_setup {
	double magnitude; /* smallest step of the logarithm: 0.02 is 2 % */
};
extern const struct fz_changepoint_setup fz_changepoint_defaults;

/* Finds the change points of series[0..n), by position. The series is the logarithm of a cost,
 * oldest first; the negated series has the same points. Returns the length of *ret, which the
 * caller frees (NULL if 0). Time and memory O(n). */
size_t fz_changepoint_find(const double *series, size_t n, const struct fz_changepoint_setup *setup,
			   struct fz_changepoint **ret);
