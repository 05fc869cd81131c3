/* SPDX-License-Identifier: MIT */
/* Order statistics. */
#pragma once

#include <stddef.h>

/* Median; the mean of the two middle values for an even n. NaN for n = 0. Reorders the values;
 * linear time on average. */
double fz_median(double *values, size_t n);

/* Returns the median and sets the interval of the sign test, which misses the true median with a
 * probability of at most alpha, whatever the distribution. Its ends are two of the values, or NaN
 * if there are too few (fewer than 6 for 0.05). Sorts the values. */
double fz_median_interval(double *values, size_t n, double alpha, double *ret_low,
			  double *ret_high);

/* Returns the distance from the median of x[0..n) beyond which a value is an outlier: 4 robust
 * standard deviations (1.4826 times the median distance). Sets *ret_median. work: n numbers. */
double fz_fence(const double *x, size_t n, double *work, double *ret_median);

struct fz_weighted {
	double value, weight; /* weight > 0 */
};

/* The value that splits the weight in halves; the mean of two neighbours if the split falls exactly
 * between them. NaN for n = 0. Sorts the items by value. */
double fz_weighted_median(struct fz_weighted *items, size_t n);
