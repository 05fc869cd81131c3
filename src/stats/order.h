/* SPDX-License-Identifier: MIT */
/* Order statistics. */
#pragma once

#include <stddef.h>

/* Median; the mean of the two middle values for an even n. NaN for n = 0. Reorders the values;
 * linear time on average. */
double fz_median(double *values, size_t n);

/* The median with the interval of the sign test, which misses the true one with a probability of at
 * most alpha, whatever the distribution: two of the values. Too few can't promise that (fewer than
 * 6 for 0.05), and have none: NaN. Sorts the values. */
double fz_median_interval(double *values, size_t n, double alpha, double *ret_low,
			  double *ret_high);

/* How far from the median of x[0..n) a value may lie before it is an outlier: 4 robust standard
 * deviations (1.4826 times the median of the distances). work: n numbers. *ret_median is set. */
double fz_fence(const double *x, size_t n, double *work, double *ret_median);

struct fz_weighted {
	double value, weight; /* weight > 0 */
};

/* The value that half of the weight lies below; the mean of two neighbours when the halves are
 * exactly equal. NaN for n = 0. Sorts the items by value. */
double fz_weighted_median(struct fz_weighted *items, size_t n);
