/* SPDX-License-Identifier: MIT */
/* The drift's prior and posterior on a grid of its logarithm.
 *
 *     evidence_i(x) = log((1 - c) f((L_i - x)/s_i)/s_i + c/w)
 *     posterior(x) ~ exp(prior(x) + sum of weight_i evidence_i(x))
 *
 * L_i is the log ratio of function i, s_i its own deviation, f the density of Student's t with
 * FREEDOM degrees, c the probability of a change, w the range of changes. Beyond a few s_i the
 * second term dominates and the function has no influence. With m the posterior's mean and s the
 * prior's deviation, the range of the drift is -min(m, s) .. m, for m > 0.
 */
#include "drift.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "distribution.h"

enum { FREEDOM = 6 };

/* Half the width of the grid, in half widths of the prior's 95 % interval; a larger drift is not
 * considered, however many functions agree. */
static const double prior_reach = 1.1;

static const double changed_share = 0.3;
static const double changed_range = 2.8; /* log of 1/4 to 4 */

static int by_cost(const void *a, const void *b)
{
	const struct fz_drift_witness *x = *(const struct fz_drift_witness *const *)a;
	const struct fz_drift_witness *y = *(const struct fz_drift_witness *const *)b;

	if (x->cost != y->cost)
		return x->cost < y->cost ? 1 : -1;
	return FZ_CMP(x, y);
}

/* Density of Student's t, scaled to be about that of the normal distribution at 0. */
static double density(double z)
{
	return 0.383 * pow(1 + z * z / FREEDOM, -(FREEDOM + 1) / 2.0);
}

/* Adds `times` the log likelihood of a witness at each value of the grid. */
static void add_evidence(const struct fz_drift *d, const struct fz_drift_witness *w, double times,
			 double sum[FZ_DRIFT_GRID])
{
	double deviation = sqrt(w->variance);

	for (int k = 0; k < FZ_DRIFT_GRID; k++) {
		double z = (w->log_ratio - d->value[k]) / deviation;

		sum[k] += times * log((1 - changed_share) * density(z) / deviation +
				      changed_share / changed_range);
	}
}

static void set_prior(struct fz_drift *d, const struct fz_drift_prior *prior)
{
	double reach = prior_reach * fz_t_critical(0.05, prior->freedom);

	fz_assert(prior->deviation > 0 && prior->freedom > 0);
	for (int k = 0; k < FZ_DRIFT_GRID; k++) {
		double z = reach * (2.0 * k / (FZ_DRIFT_GRID - 1) - 1);

		d->value[k] = prior->deviation * z;
		d->sum[k] = -(prior->freedom + 1) / 2 * log1p(z * z / prior->freedom);
	}
	d->of = *prior;
}

void fz_drift_init(struct fz_drift *d, const struct fz_drift_prior *prior,
		   const struct fz_drift_witness *witnesses, size_t n)
{
	fz_auto(fz_free_ptr) const struct fz_drift_witness **order =
		fz_reallocarray(NULL, FZ_MAX(n, 1), sizeof(*order));

	set_prior(d, prior);
	for (size_t i = 0; i < n; i++)
		order[i] = &witnesses[i];
	qsort(order, n, sizeof(*order), by_cost);
	d->n = FZ_MIN(n, (size_t)FZ_DRIFT_LARGEST);
	for (size_t i = 0; i < n; i++)
		add_evidence(d, order[i], 1, d->sum);
	for (size_t i = 0; i < d->n; i++) {
		memset(d->evidence[i], 0, sizeof(d->evidence[i]));
		add_evidence(d, order[i], 1, d->evidence[i]);
		d->cost[i] = order[i]->cost;
		d->index[i] = (size_t)(order[i] - witnesses);
	}
}

static struct fz_drift_belief summarize(const struct fz_drift *d, const double *log_density)
{
	double most = log_density[0], sum = 0, mean = 0, square = 0;

	for (int k = 1; k < FZ_DRIFT_GRID; k++)
		most = FZ_MAX(most, log_density[k]);
	for (int k = 0; k < FZ_DRIFT_GRID; k++) {
		double weight = exp(log_density[k] - most);

		sum += weight;
		mean += weight * d->value[k];
		square += weight * d->value[k] * d->value[k];
	}
	mean /= sum;
	double other = copysign(FZ_MIN(fabs(mean), d->of.deviation), -mean);
	return (struct fz_drift_belief){
		.low = d->of.relative ? mean : FZ_MIN(mean, other),
		.high = d->of.relative ? mean : FZ_MAX(mean, other),
		.variance = FZ_MAX(0, square / sum - mean * mean),
		.freedom = d->of.freedom,
	};
}

struct fz_drift_belief fz_drift_without(const struct fz_drift *d, double cost, uint64_t inside,
					const struct fz_drift_witness *own)
{
	_Static_assert(FZ_DRIFT_LARGEST <= 64, "each of the largest has a bit");
	double log_density[FZ_DRIFT_GRID];

	memcpy(log_density, d->sum, sizeof(log_density));
	for (size_t i = 0; i < d->n; i++) {
		double part = cost > d->cost[i] ? d->cost[i] / cost : 1;

		if (!(inside >> i & 1))
			continue;
		for (int k = 0; k < FZ_DRIFT_GRID; k++)
			log_density[k] -= part * d->evidence[i][k];
	}
	if (own)
		add_evidence(d, own, -1, log_density);
	return summarize(d, log_density);
}
