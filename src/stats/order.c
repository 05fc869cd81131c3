/* SPDX-License-Identifier: MIT */
/* Medians: quickselect for plain values, one sort for weighted ones. Both are symmetric: the
 * median of the negated values is the negated median, which the tests rely on to give mirrored
 * answers when the sides of a comparison are swapped. */
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

static int compare_weighted(const void *a, const void *b)
{
	const struct fz_weighted *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
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
		/* Rounding of the sums must not decide between one value and the mean of two. */
		if (fabs(2 * below - sum) <= 1e-12 * sum)
			return (items[i].value + items[i + 1].value) / 2;
		if (2 * below > sum)
			return items[i].value;
	}
	return items[n - 1].value;
}
