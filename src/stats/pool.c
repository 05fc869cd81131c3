/* SPDX-License-Identifier: MIT */
/* The fit: weighted least squares of squares_i on sampling_i and freedom_i, with the weights
 *
 *     freedom_i / (2 mean_i^2)        mean_i = dispersion sampling_i + own^2 freedom_i
 *
 * of a scaled chi-square, from the values of the previous step. The prior is one more observation
 * of both. A value beyond its bound is set to it, and the other is fitted alone. The result is
 * averaged with the prior by degrees of freedom.
 *
 * Degrees of freedom d: squares_i/mean_i has the variance 2/freedom_i by chance; the excess is the
 * variance of the true variances, 2/(d - 4).
 */
#include "pool.h"

#include <math.h>

#include "base/base.h"

enum { STEPS = 12, LEAST_FREEDOM = 4, MOST_FREEDOM = 20 };

/* The fitted values. */
struct values {
	double dispersion, variance;
};

/* Normal equations. */
struct sums {
	double ss, sf, ff, sy, fy; /* s: sampling, f: freedom, y: squares */
};

static double mean_of(const struct fz_pool_item *item, const struct values *v)
{
	return v->dispersion * item->sampling + v->variance * item->freedom;
}

static struct sums sum_up(const struct fz_pool_item *items, size_t n, const struct fz_pool *prior,
			  const struct values *v)
{
	double variance = prior->own * prior->own;
	double s = prior->freedom / (2 * prior->dispersion * prior->dispersion);
	double f = prior->freedom / (2 * variance * variance);
	struct sums k = { s, 0, f, s * prior->dispersion, f * variance };

	for (size_t i = 0; i < n; i++) {
		const struct fz_pool_item *item = &items[i];
		double mean = mean_of(item, v), weight = item->freedom / (2 * mean * mean);

		k.ss += weight * item->sampling * item->sampling;
		k.sf += weight * item->sampling * item->freedom;
		k.ff += weight * item->freedom * item->freedom;
		k.sy += weight * item->sampling * item->squares;
		k.fy += weight * item->freedom * item->squares;
	}
	return k;
}

static struct values solve(const struct sums *k)
{
	const double least = FZ_POOL_LEAST_OWN * FZ_POOL_LEAST_OWN;
	double det = k->ss * k->ff - k->sf * k->sf;
	struct values v = { 1, 0 };

	if (det > 0)
		v.dispersion = (k->sy * k->ff - k->fy * k->sf) / det;
	v.dispersion = FZ_MAX(v.dispersion, 1);
	v.variance = (k->fy - v.dispersion * k->sf) / k->ff;
	if (v.variance >= least)
		return v;
	v.variance = least;
	v.dispersion = FZ_MAX(1, (k->sy - least * k->sf) / k->ss);
	return v;
}

static double freedom_of(const struct fz_pool_item *items, size_t n, const struct fz_pool *prior,
			 const struct values *v)
{
	double excess = 0, freedom = 0;

	for (size_t i = 0; i < n; i++) {
		double away = items[i].squares / mean_of(&items[i], v) - 1;

		excess += items[i].freedom * away * away - 2;
		freedom += items[i].freedom;
	}
	/* Too few functions to estimate how they differ. */
	if (n < LEAST_FREEDOM)
		return prior->freedom;
	if (excess <= 0)
		return MOST_FREEDOM;
	return FZ_MIN(FZ_MAX(4 + 2 * freedom / excess, LEAST_FREEDOM), MOST_FREEDOM);
}

static struct fz_pool moderated(const struct values *v, const struct fz_pool_item *items, size_t n,
				const struct fz_pool *prior)
{
	double known = prior->freedom, freedom = 0;

	for (size_t i = 0; i < n; i++)
		freedom += items[i].freedom;
	double variance = known * prior->own * prior->own + freedom * v->variance;
	double dispersion = known * prior->dispersion + freedom * v->dispersion;
	return (struct fz_pool){ dispersion / (known + freedom), sqrt(variance / (known + freedom)),
				 freedom_of(items, n, prior, v) };
}

struct fz_pool fz_pool_fit(const struct fz_pool_item *items, size_t n, const struct fz_pool *prior)
{
	struct values v = { prior->dispersion, prior->own * prior->own };

	fz_assert(prior->dispersion > 0 && prior->own > 0 && prior->freedom > 0);
	for (int step = 0; step < STEPS; step++) {
		struct sums k = sum_up(items, n, prior, &v);
		v = solve(&k);
	}
	return moderated(&v, items, n, prior);
}
