/* SPDX-License-Identifier: MIT */
/* Two modes, by description length (changepoint.c): each boundary between neighbours of the sorted
 * values defines two modes, whose levels are their medians. Residuals cost n log(variance). A
 * sequence of n modes with k changes costs, in the same unit of -2 log likelihood,
 *
 *     2 log(n (n-1 over k))
 *
 * for the number of changes and their positions. Unlike a step, a change of mode needs no new
 * level, so levels that come back are cheaper as modes than as steps.
 */
#include "modes.h"

#include <math.h>

#include "base/base.h"
#include "order.h"

enum { MODE_MIN = 2 }; /* values of a mode */

static double log_factorial(size_t n)
{
	int sign;

	return lgamma_r((double)n + 1, &sign);
}

static double code_length(size_t n, size_t changes)
{
	return 2 * (log((double)n) + log_factorial(n - 1) - log_factorial(changes) -
		    log_factorial(n - 1 - changes));
}

static size_t count_changes(const double *x, size_t n, double boundary)
{
	size_t changes = 0;

	for (size_t t = 1; t < n; t++)
		changes += (x[t] > boundary) != (x[t - 1] > boundary);
	return changes;
}

/* Variance around the levels, with clipped outliers. work: 2 n numbers. */
static double variance_within(const double *x, size_t n, const struct fz_modes *m, double lower,
			      double *work)
{
	double squares = 0, median, fence;

	for (size_t t = 0; t < n; t++)
		work[t] = x[t] - lower - (x[t] > m->boundary ? m->gap : 0);
	fence = fz_fence(work, n, work + n, &median);
	for (size_t t = 0; t < n; t++) {
		double cut = FZ_MIN(fabs(work[t] - median), fence);
		squares += cut * cut;
	}
	return squares / (double)n;
}

static int ascending(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return FZ_CMP(a, b);
}

static double middle(const double *sorted, size_t n)
{
	return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

bool fz_modes_find(const double *x, size_t n, double floor, struct fz_modes *ret)
{
	fz_auto(fz_free_ptr) double *sorted = fz_reallocarray(NULL, FZ_MAX(n, 1), sizeof(*sorted));
	fz_auto(fz_free_ptr) double *work = fz_reallocarray(NULL, FZ_MAX(n, 1), 2 * sizeof(*work));
	double least = INFINITY;

	memcpy(sorted, x, n * sizeof(*x));
	qsort(sorted, n, sizeof(*sorted), ascending);
	for (size_t i = MODE_MIN; i + MODE_MIN <= n; i++) {
		double lower = middle(sorted, i), upper = middle(sorted + i, n - i);
		struct fz_modes m = { .boundary = (sorted[i - 1] + sorted[i]) / 2,
				      .gap = upper - lower };
		size_t changes = count_changes(x, n, m.boundary);

		if (sorted[i - 1] == sorted[i] || changes < FZ_MODES_CHANGES)
			continue;
		m.code = code_length(n, changes);
		double cost = (double)n * log(variance_within(x, n, &m, lower, work) + floor);
		if (cost + m.code >= least)
			continue;
		least = cost + m.code;
		*ret = m;
	}
	return isfinite(least);
}
