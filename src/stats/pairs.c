/* SPDX-License-Identifier: MIT */
/* Pairs as ratios, and the sign test's interval for their median; see pairs.h. */
#include "pairs.h"

#include <math.h>

#include "base/base.h"
#include "order.h"

struct fz_pairs fz_pairs_test(const double *first, const double *second, unsigned n, unsigned looks,
			      double margin)
{
	struct fz_pairs p = { .n = n, .change = NAN, .low = NAN, .high = NAN };

	if (!n)
		return p;
	double *ratio = fz_reallocarray(NULL, n, sizeof(*ratio));
	for (unsigned i = 0; i < n; i++)
		ratio[i] = second[i] / first[i] - 1;
	p.change = fz_median_interval(ratio, n, 0.05 / FZ_MAX(looks, 1u), &p.low, &p.high);
	if (n < FZ_PAIRS_MIN)
		p.low = p.high = NAN;
	p.decided = p.low > 0 || p.high < 0 || (p.low > -margin && p.high < margin);
	free(ratio);
	return p;
}
