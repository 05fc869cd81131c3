/* SPDX-License-Identifier: MIT */
/* Whether a function, a path or a run costs more on one side than on the other, and by which
 * factor: one test for one run a side and for many.
 *
 * Costs are compared as ratios: noise of machines is relative, and no interval of a ratio reaches
 * below 0. What makes two measured costs of the same code differ:
 *
 *   sampling    every maximal stretch of samples that shows the function (a visit) is known to a
 *               sample; with v visits of n samples a cost has the relative variance v/n^2. For
 *               samples drawn independently that is the binomial variance itself.
 *   own         what of the noise from run to run a function has for itself: from a prior, and
 *               with several runs also from how they differ
 *   drift       what all functions share: drift.h
 *
 * docs/statistics.md has the formulas and what they were measured to do.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "drift.h"
#include "pool.h"
#include "verdict.h"

/* How one measured cost varies from run to run, relative; deviations of the logarithm. */
struct fz_ratio_noise {
	double run; /* shared by all functions of a run */
	double own; /* of each function */
	/* Between the sides, shared by all functions: runs of one side do not show it. */
	double sides;
	/* Of each function, between the sides of all that they are told of: as above. */
	double own_sides;
	/* What a function that runs in few long stretches has besides, for it meets only some of
	 * the machine's states: variance times cost and visits of a run. */
	double stretch;
	/* How sure these are: degrees of freedom. With 0 several runs speak for themselves, and are
	 * believed to vary at least by so much. */
	double run_freedom, own_freedom;
	double clumping; /* samples a visit stands for where their order is not known */
	/* So few runs: all that they differ by is own noise, also what sampling may explain. */
	bool few;
	bool unbounded; /* runs may vary by any amount: the prior makes no such function surer */
};

/* Cost, samples and visits of one function in one run: struct fz_visit_sum. */
struct fz_ratio_run {
	double cost, samples, visits, square, longest;
	double unseen; /* of its cost: at a time that the other side did not see */
	double doubt;  /* of its cost: others on the machine may have made it */
	double on;     /* of its cost: known to have been on a CPU */
	/* Of its cost, as blocks of time tell, which may hold several visits; 0: not known. */
	double variance;
};

/* Stalls of a clock that goes on while threads wait, in samples. */
struct fz_ratio_stalls {
	bool possible;
	double dispersion; /* of functions with several visits: squares a sample */
	double longest;    /* visit beyond the mean of its function */
};

struct fz_ratio_setup {
	size_t base_runs, head_runs; /* each at least 1 */
	/* As many runs on both sides, the n-th of which go together: what a pair has in common is
	 * no noise. */
	bool paired;
	const double *exposure; /* of each run, base runs first: its cost if nothing changed,
				   relative */
	double weight;          /* cost of a typical sample */
	double margin;          /* changes up to it are none; in mean cost of a base run */
	double slack;           /* what nobody knows the function of may be any one's; likewise */
	struct fz_ratio_noise noise;
	struct fz_ratio_stalls stalls;
	/* With several runs: how each run's common noise was, of log costs; NULL: not known. */
	const double *common;
	double alpha; /* of the interval: 1 less its confidence; 0: 5 % */
};

enum { FZ_RATIO_MIN_SAMPLES = 10 /* of both sides together: with fewer no p can be small */ };

/* Mean costs of a base run and of a head run (at the exposure of a base run), the change between
 * them with its interval. `drift` is what others saw of it. */
struct fz_change fz_ratio_test(const struct fz_ratio_setup *setup,
			       const struct fz_drift_belief *drift,
			       const struct fz_ratio_run *runs);

/* What a function says of the drift; false: too little. */
bool fz_ratio_witness(const struct fz_ratio_setup *setup, const struct fz_ratio_run *runs,
		      struct fz_drift_witness *ret);

/* What functions with several visits say of stalls. runs as below. */
struct fz_ratio_stalls fz_ratio_find_stalls(const struct fz_ratio_setup *setup,
					    const struct fz_ratio_run *runs, size_t n);

/* With several runs: the common noise of each, as the median over functions of how far their log
 * costs are from their side's mean. runs[i * (base_runs + head_runs) + r] is function i in run r.
 */
void fz_ratio_common(const struct fz_ratio_setup *setup, const struct fz_ratio_run *runs, size_t n,
		     double *ret_common);

/* With several runs: how a function varies between those of a side, the common noise apart; false:
 * too little of it was seen. For pool.h. */
bool fz_ratio_scatter(const struct fz_ratio_setup *setup, const struct fz_ratio_run *runs,
		      struct fz_pool_item *ret);

/* The deviation of the drift between the sides, and how sure that is: the prior for drift.h. */
struct fz_drift_prior fz_ratio_drift_prior(const struct fz_ratio_setup *setup);

/* The deviation from run to run that makes up the own noise of one run and the drift between the
 * sides: what power.h needs. */
double fz_ratio_deviation(const struct fz_ratio_setup *setup, double drift_variance);
