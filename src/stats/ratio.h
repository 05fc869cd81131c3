/* SPDX-License-Identifier: MIT */
/* Tests whether a function, a path or a run costs more on one side than on the other, and estimates
 * the factor: the same test for one run per side and for several.
 *
 * Costs are compared as ratios, because noise of machines is relative and the interval of a ratio
 * stays above 0. Two measured costs of the same code differ because of:
 *
 *   sampling    the length of every visit (maximal stretch of samples that show the function) is
 *               known to one sample; with v visits of n samples a cost has the relative variance
 *               v/n^2, which is the binomial variance for independent samples
 *   own         noise from run to run of each function by itself: from a prior, and from the
 *               differences between runs if there are several
 *   drift       noise that all functions share: drift.h
 *
 * docs/statistics.md has the formulas and measured error rates.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "drift.h"
#include "pool.h"
#include "power.h"
#include "verdict.h"

/* How a measured cost varies from run to run: standard deviations of its logarithm. */
struct fz_ratio_noise {
	double run; /* shared by all functions of a run */
	double own; /* of each function */
	/* Between the sides, shared by all functions; runs of one side do not show it. */
	double sides;
	/* Likewise, of each function by itself. */
	double own_sides;
	/* Extra variance, times cost and visits of a run, of a function that runs in few long
	 * stretches and so sees only some of the machine's states. */
	double stretch;
	/* Degrees of freedom of these. 0: several runs replace the prior, which remains the least
	 * deviation. */
	double run_freedom, own_freedom;
	double clumping; /* samples per visit where the order of samples is unknown */
	/* Few runs: all their differences are own noise, even those that sampling could explain. */
	bool few;
	bool unbounded; /* runs may vary by any amount: the prior must not narrow a wide scatter */
};

/* Cost, samples and visits of one function in one run; see struct fz_visit_sum. */
struct fz_ratio_run {
	double cost, samples, visits, square, longest;
	double unseen; /* part of the cost at times that the other side did not record */
	double doubt;  /* part of the cost that other load on the machine may have caused */
	double on;     /* part of the cost known to be on a CPU */
	/* Variance, in samples, of work that happens in this function by chance, such as collecting
	 * garbage. */
	double by_chance;
	/* Variance of the cost, estimated from blocks of time, which may contain several visits; 0:
	 * unknown. */
	double variance;
};

/* Stalls, in samples, of a clock that continues while threads wait. */
struct fz_ratio_stalls {
	bool possible;
	double dispersion; /* of functions with several visits: sum of squares per sample */
	double longest;    /* largest excess of a visit over the mean of its function */
};

struct fz_ratio_setup {
	size_t base_runs, head_runs; /* each at least 1 */
	/* The n-th runs of both sides are a pair; noise that a pair shares cancels. Requires
	 * base_runs == head_runs. */
	bool paired;
	const double *exposure; /* relative cost of each run if nothing changed, base runs first */
	double size[2]; /* cost of a typical sample of each side, at a base run's exposure */
	double margin;  /* smaller changes do not count; in mean cost of a base run */
	double slack;   /* cost that could belong to any function; same unit */
	/* With one run per side: sums of the squared costs for which a late sampler did not see
	 * what ran, at the exposure of a base run, and the mean cost of both runs; or 0. */
	double late[2], whole;
	struct fz_ratio_noise noise;
	struct fz_ratio_stalls stalls;
	/* With several runs: common noise of the log costs in each run; NULL: unknown. */
	const double *common;
	double alpha; /* 1 - confidence of the interval; 0 means 0.05 */
};

enum { FZ_RATIO_MIN_SAMPLES = 10 /* of both sides together; with fewer no p can be small */ };

/* Returns the mean costs of a base run and of a head run (at the exposure of a base run), their
 * difference and its interval. `drift` is the drift seen by other functions. */
struct fz_change fz_ratio_test(const struct fz_ratio_setup *setup,
			       const struct fz_drift_belief *drift,
			       const struct fz_ratio_run *runs);

/* Sets *ret to the evidence of a function about the drift; false if it has too few samples. */
bool fz_ratio_witness(const struct fz_ratio_setup *setup, const struct fz_ratio_run *runs,
		      struct fz_drift_witness *ret);

/* Estimates stalls from functions with several visits. `runs` as in fz_ratio_common. */
struct fz_ratio_stalls fz_ratio_find_stalls(const struct fz_ratio_setup *setup,
					    const struct fz_ratio_run *runs, size_t n);

/* With several runs: sets the common noise of each, the median over functions of the distance of
 * their log costs from the mean of their side; functions with few samples in a run of that side
 * count together. runs[i * (base_runs + head_runs) + r] is function i in run r. */
void fz_ratio_common(const struct fz_ratio_setup *setup, const struct fz_ratio_run *runs, size_t n,
		     double *ret_common);

/* With several runs: sets *ret (for pool.h) to how a function varies between the runs of a side,
 * without the common noise; false if it has too few samples. */
bool fz_ratio_scatter(const struct fz_ratio_setup *setup, const struct fz_ratio_run *runs,
		      struct fz_pool_item *ret);

/* Returns the prior for drift.h: the deviation of the drift between the sides and its degrees of
 * freedom. */
struct fz_drift_prior fz_ratio_drift_prior(const struct fz_ratio_setup *setup);

/* Sets kappa and sides of *power: the deviation from run to run combines own noise and drift. */
void fz_ratio_set_power(const struct fz_ratio_setup *setup, double drift_variance,
			struct fz_power *power);
