/* SPDX-License-Identifier: MIT */
/* Several runs a side: the quasi-likelihood count test (in the manner of edgeR-QL).
 *
 * The run is the unit of replication: only what happens again in every run of a side is told
 * apart. With three runs a side the variance of one function cannot be estimated from its own
 * six counts, so it is shrunk towards a trend over all functions of similar size. Run the sides
 * in turn (ABAB...), so that a machine that gets slower hits both.
 *
 * docs/statistics.md has the formulas and what they were measured to do.
 */
#pragma once

#include <stddef.h>

#include "verdict.h"

struct fz_quasi_setup {
	size_t base_runs, head_runs; /* each at least 1, together at least 3 */
	/* Of each run, base runs first; only ratios matter. Time mode: what a sample stands for
	 * in reverse (1 for all when the intervals are equal); share: samples of the run;
	 * reference: fz_exposure_runs. */
	const double *exposure;
	double kappa; /* relative standard deviation from run to run that is always assumed */
};

#define FZ_QUASI_KAPPA 0.01
enum {
	FZ_QUASI_MIN_SAMPLES = 10, /* in all runs together */
	FZ_QUASI_PRIOR_DF = 8,     /* d0: how much the trend weighs against the function's own */
};

/* What is learnt from a whole family: dispersion is about level + slope * (mean count of a run),
 * at least 1. */
struct fz_quasi_trend {
	double level, slope;
	double critical; /* standard errors to each side of a 95 % interval */
};

/* counts[i * (base_runs + head_runs) + r] is function i in run r. With fewer than 6 functions of
 * 10 samples a run there is no trend to be seen and the level is 1.5. */
void fz_quasi_trend_fit(const struct fz_quasi_setup *setup, const double *counts, size_t functions,
			struct fz_quasi_trend *ret);

/* One function, path or the run; counts are those of its runs. Costs are in samples of a run of
 * average exposure. ret_dispersion, when not NULL, receives phi (for power.h). */
struct fz_change fz_quasi_test(const struct fz_quasi_setup *setup,
			       const struct fz_quasi_trend *trend, const double *counts,
			       double *ret_dispersion);
