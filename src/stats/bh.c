/* SPDX-License-Identifier: MIT */
/* Benjamini-Hochberg: with the m tested p-values sorted, find the largest i with p(i) <= q * i / m
 * and reject all up to it. Gating from the root of the call tree downwards would not work: changes
 * of children can cancel (+x, -x), and an unchanged parent must not hide them. */
#include "bh.h"

#include <math.h>

#include "base/base.h"

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return FZ_CMP(x, y);
}

size_t fz_bh(const double *p, size_t n, double q, bool *ret_rejected)
{
	fz_auto(fz_free_ptr) double *sorted = fz_reallocarray(NULL, FZ_MAX(n, 1), sizeof(*sorted));
	size_t m = 0, rejected = 0;
	double limit = -1;

	for (size_t i = 0; i < n; i++)
		if (!isnan(p[i]))
			sorted[m++] = p[i];
	qsort(sorted, m, sizeof(*sorted), compare_double);
	for (size_t i = m; i-- > 0;) {
		if (sorted[i] <= q * (double)(i + 1) / (double)m) {
			limit = sorted[i];
			break;
		}
	}
	for (size_t i = 0; i < n; i++) {
		ret_rejected[i] = p[i] <= limit;
		rejected += ret_rejected[i];
	}
	return rejected;
}

void fz_bh_weigh(const double *p, const double *cost, size_t n, double *ret_weight)
{
	const double even = 0.1;
	double sum = 0, tested = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(p[i]))
			continue;
		fz_assert(cost[i] >= 0);
		sum += cost[i];
		tested++;
	}
	for (size_t i = 0; i < n; i++)
		ret_weight[i] =
			isnan(p[i]) || sum == 0 ? 1 : even + (1 - even) * tested * cost[i] / sum;
}

size_t fz_bh_inside(const double *p, const size_t *start, const bool *selected, size_t families,
		    size_t tested_families, double q, bool *ret_rejected)
{
	size_t chosen = 0, rejected = 0;

	for (size_t i = 0; i < families; i++)
		chosen += selected[i];
	fz_assert(chosen <= tested_families);
	for (size_t i = 0; i < families; i++) {
		size_t n = start[i + 1] - start[i];

		if (selected[i])
			rejected +=
				fz_bh(p + start[i], n, q * (double)chosen / (double)tested_families,
				      ret_rejected + start[i]);
		else
			memset(ret_rejected + start[i], 0, n * sizeof(*ret_rejected));
	}
	return rejected;
}
