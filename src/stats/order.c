/* SPDX-License-Identifier: MIT */
/* Medians: quickselect for plain values, one sort for weighted ones. Both are symmetric: the median
 * of the negated values is the negated median. Because of this, tests give mirrored results if the
 * sides of a comparison are swapped. */
#include "order.h"

#include <math.h>

#include "base/base.h"

static void swap(double *a, double *b)
{
	double t = *a;

	*a = *b;
	*b = t;
}

/* Put the k-th smallest value at v[k], smaller ones before and larger ones after it. */
static void select_kth(double *v, size_t n, size_t k)
{
	size_t low = 0, high = n - 1;

	while (low < high) {
		double pivot = v[low + (high - low) / 2];
		size_t i = low, j = high;

		for (;;) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			swap(&v[i++], &v[j--]);
		}
		/* Now v[low..j] <= pivot <= v[j+1..high]. */
		if (k <= j)
			high = j;
		else
			low = j + 1;
	}
}

double fz_median(double *values, size_t n)
{
	size_t middle = n / 2;
	double below;

	if (n == 0)
		return NAN;
	select_kth(values, n, middle);
	if (n % 2)
		return values[middle];
	below = values[0];
	for (size_t i = 1; i < middle; i++)
		below = FZ_MAX(below, values[i]);
	return (below + values[middle]) / 2;
}

double fz_fence(const double *x, size_t n, double *work, double *ret_median)
{
	double median;

	memcpy(work, x, n * sizeof(*x));
	median = fz_median(work, n);
	for (size_t i = 0; i < n; i++)
		work[i] = fabs(x[i] - median);
	*ret_median = median;
	return 4 * 1.4826 * fz_median(work, n);
}

static int compare_weighted(const void *a, const void *b)
{
	const struct fz_weighted *x = a, *y = b;

	return FZ_CMP(x->value, y->value);
}

double fz_weighted_median(struct fz_weighted *items, size_t n)
{
	double sum = 0, below = 0;

	if (n == 0)
		return NAN;
	qsort(items, n, sizeof(*items), compare_weighted);
	for (size_t i = 0; i < n; i++)
		sum += items[i].weight;
	for (size_t i = 0; i + 1 < n; i++) {
		below += items[i].weight;
		/* Rounding errors of the sums must not decide between one value and the mean of
		 * two. */
		if (fabs(2 * below - sum) <= 1e-12 * sum)
			return (items[i].value + items[i + 1].value) / 2;
		if (2 * below > sum)
			return items[i].value;
	}
	return items[n - 1].value;
}

static int compare_values(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return FZ_CMP(x, y);
}

/* How many values may be omitted at each end: the largest k for which fewer than k heads in n
 * tosses of a coin have a probability of at most alpha / 2. */
static size_t values_to_leave(size_t n, double alpha)
{
	double log_probability = -(double)n * log(2), sum = 0;

	for (size_t k = 0; k < n; k++) {
		sum += exp(log_probability);
		if (2 * sum > alpha)
			return k;
		log_probability += log((double)(n - k)) - log((double)(k + 1));
	}
	return 0;
}

double fz_median_interval(double *values, size_t n, double alpha, double *ret_low, double *ret_high)
{
	fz_assert(alpha > 0 && alpha < 1);
	*ret_low = *ret_high = NAN;
	if (n == 0)
		return NAN;
	qsort(values, n, sizeof(*values), compare_values);
	size_t k = values_to_leave(n, alpha);
	if (k) {
		*ret_low = values[k - 1];
		*ret_high = values[n - k];
	}
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}
