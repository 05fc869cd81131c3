/* SPDX-License-Identifier: MIT */
/* Order statistics. */
#pragma once

#include <stddef.h>

/* Median; the mean of the two middle values for an even n. NaN for n = 0. Reorders the values;
 * linear time on average. */
double fz_median(double *values, size_t n);

/* The median with an interval that holds the true one 95 times of 100, whatever the distribution:
 * two of the values. Fewer than 6 can't promise that; then it is all of them. NaN for n = 0.
 * Sorts the values. */
double fz_median_interval(double *values, size_t n, double *ret_low, double *ret_high);

struct fz_weighted {
	double value, weight; /* weight > 0 */
};

/* The value that half of the weight lies below; the mean of two neighbours when the halves are
 * exactly equal. NaN for n = 0. Sorts the items by value. */
double fz_weighted_median(struct fz_weighted *items, size_t n);
