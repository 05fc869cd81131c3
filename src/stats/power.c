/* SPDX-License-Identifier: MIT */
/* MDE = (z_{1 - alpha/2} + 0.84) sqrt((1/N) (2 phi/(n p) + 2 kappa^2)): the two-sample formula for
 * a power of 80 %, with Poisson noise of n p samples widened by phi, and noise from run to run
 * that no number of samples removes. For unequal numbers of runs 2/N is 1/N + 1/M. Noise between
 * the sides, which no number of runs removes, is added under the root. */
#include "power.h"

#include <math.h>

#include "base/base.h"
#include "distribution.h"

static const double power_80 = 0.84; /* 80 % of a standard normal variable lie below this */

static double factor(const struct fz_power *p)
{
	return fz_normal_quantile(1 - p->alpha / 2) + power_80;
}

/* Relative variance of one run's count. */
static double variance(const struct fz_power *p)
{
	fz_assert(p->samples > 0 && p->share > 0);
	return p->phi / (p->samples * p->share) + p->kappa * p->kappa;
}

double fz_power_smallest_change(const struct fz_power *power, size_t base_runs, size_t head_runs)
{
	fz_assert(base_runs > 0 && head_runs > 0);
	return factor(power) *
	       sqrt(variance(power) * (1 / (double)base_runs + 1 / (double)head_runs) +
		    power->sides * power->sides);
}

double fz_power_runs_needed(const struct fz_power *power, double change)
{
	double deviation = change / factor(power);
	double left = deviation * deviation - power->sides * power->sides;

	fz_assert(change > 0);
	return left > 0 ? FZ_MAX(1, ceil(2 * variance(power) / left)) : INFINITY;
}
