/* SPDX-License-Identifier: MIT */
/* The sign test's interval for the median: of the sorted ratios, the k-th from each end, with k
 * the largest for which 2 P(Binomial(n, 1/2) < k) <= alpha. */
#include "pairs.h"

#include <math.h>

#include "base/base.h"
#include "order.h"

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* 0: even the extremes are not sure enough. */
static unsigned rank(unsigned n, double alpha)
{
	double term = -(double)n * log(2.0), sum = 0;
	unsigned k = 0;

	while (k < n / 2) {
		sum += exp(term);
		if (2 * sum > alpha)
			break;
		term += log((double)(n - k)) - log((double)(k + 1));
		k++;
	}
	return k;
}

struct fz_pairs fz_pairs_test(const double *first, const double *second, unsigned n, unsigned looks,
			      double margin)
{
	struct fz_pairs p = { .n = n, .change = NAN, .low = NAN, .high = NAN };

	if (!n)
		return p;
	double *ratio = fz_reallocarray(NULL, n, sizeof(*ratio));
	for (unsigned i = 0; i < n; i++)
		ratio[i] = second[i] / first[i] - 1;
	qsort(ratio, n, sizeof(*ratio), by_value);
	unsigned k = rank(n, 0.05 / FZ_MAX(looks, 1u));
	if (k && n >= FZ_PAIRS_MIN) {
		p.low = ratio[k - 1];
		p.high = ratio[n - k];
		p.decided = p.low > 0 || p.high < 0 || (p.low > -margin && p.high < margin);
	}
	p.change = fz_median(ratio, n);
	free(ratio);
	return p;
}
