/* SPDX-License-Identifier: MIT */
/* One run against one run of samples: the visit-variance score test.
 *
 * Samples are not independent draws. A sampler looks at a trajectory, and one stall of 200 ms
 * lands 200 samples on whatever function was running. What varies independently is the visit: a
 * maximal stretch of consecutive samples of one thread that show the function.
 *
 *     samples   f f f g g f h h h h          f: visits 3, 1: samples 4, visits 2
 *               `-3-'     1
 *
 * The variance of a function's count is taken from the lengths of its own visits; functions with
 * few visits borrow the stall dispersion of the whole side; and all z-scores of a family are
 * widened together when their spread shows more noise than that (empirical null, Efron 2004).
 *
 * Use: feed one struct fz_visits per function and side, sum them up, fz_visit_null_fit over the
 * functions of a family (by self, or by total cost), then fz_visit_test for each function, path,
 * or the run itself.
 *
 * docs/statistics.md has the formulas and what they were measured to do.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "verdict.h"

/* ---- visits of one function, in one pass over the samples of a side ---- */

/* Starts zeroed. Positions count the samples of a thread and only grow. Threads and runs come one
 * after the other, with a gap of at least 1 between the last position of one and the first of
 * the next, so that no visit reaches across. */
struct fz_visits {
	uint64_t start, end; /* the newest stretch; not yet in the sums below */
	uint64_t samples;
	double squares; /* sum of squared lengths */
	uint32_t visits;
	uint32_t depth; /* how often it was entered and not left */
};

/* The function is on the stack from sample `at` on. May nest (recursion): the outermost pair
 * counts. A visit that ends and begins at the same position is one visit, so when the stack
 * changes it is enough to leave the frames that differ and to enter the new ones. */
void fz_visits_enter(struct fz_visits *v, uint64_t at);
/* ... and `at` is the first sample where it is not. */
void fz_visits_leave(struct fz_visits *v, uint64_t at);

/* It was there in `count` samples from position `at` on: for leaves. */
static inline void fz_visits_add(struct fz_visits *v, uint64_t at, uint64_t count)
{
	fz_visits_enter(v, at);
	fz_visits_leave(v, at + count);
}

/* What the test needs of one function on one side. All zero: it never ran. */
struct fz_visit_sum {
	double samples;
	double visits;
	double square; /* SS = m/(m-1) * sum of (length - mean length)^2; 0 for one visit */
};

/* Everything that was entered must have been left. */
struct fz_visit_sum fz_visits_sum(const struct fz_visits *v);

/* Catch-up samples of a sampler that was late (Tachyon takes them back to back and calls none
 * missed): sets ret_burst[i] where sample i came within a tenth of the interval after its
 * predecessor. Such samples repeat their predecessor and must not be counted as looks at the
 * program. Several stacks of one instant (asyncio tasks) are one look. The times are those of one
 * thread, in order. Returns how many there are. */
size_t fz_visit_find_bursts(const int64_t *time, size_t n, int64_t interval, bool *ret_burst);

/* ---- the test ---- */

/* What a clock adds to the noise of counts. */
struct fz_visit_noise {
	double kappa; /* relative standard deviation from run to run */
	double phi;   /* dispersion of counts whose order is unknown */
};
extern const struct fz_visit_noise fz_visit_noise_wall, fz_visit_noise_cpu;

struct fz_visit_setup {
	double rho;          /* expected head samples for a base sample: exposure.h */
	double run[2];       /* samples of the whole run: base, head */
	double delta;        /* smallest change of interest, as a fraction of the run */
	double unattributed; /* head samples by which the sides differ in what could not be read */
	bool ordered;        /* false: only counts are known (folded, pprof); approximate */
	struct fz_visit_noise noise;
};

enum {
	FZ_VISIT_MIN_SAMPLES = 10, /* of both sides together: with fewer no p can be small */
	FZ_VISIT_MIN_TESTED = 10,  /* functions, for an empirical null */
};
/* The default smallest change of interest: 0.2 % of the run. */
#define FZ_VISIT_DELTA 0.002

/* What is learnt from a whole family. */
struct fz_visit_null {
	double phi[2]; /* stall dispersion of base and head */
	double scale;  /* s: how much wider than expected the z-scores are, at least 1 */
	size_t tested; /* functions with enough samples */
};

/* base[i] and head[i] are the same function. */
void fz_visit_null_fit(const struct fz_visit_setup *setup, const struct fz_visit_sum *base,
		       const struct fz_visit_sum *head, size_t n, struct fz_visit_null *ret);

/* One function, path or the run. Costs are in samples of the base's exposure: change / base is
 * the relative change, and change * (time of a base sample) its time. Swapping the sides (and
 * inverting rho) negates the statistic and keeps p. */
struct fz_change fz_visit_test(const struct fz_visit_setup *setup, const struct fz_visit_null *null,
			       const struct fz_visit_sum *base, const struct fz_visit_sum *head);

/* The whole run, from setup->run; `reference` is fz_exposure_reference of the same samples, or 0
 * when there is none. What all functions have in common, be it a busy machine or a change, cannot
 * be told apart with one run a side: the drift of the typical function, |ln(reference/rho)|, counts
 * as one standard deviation of the run. What one function adds beyond it can be told. Without
 * meaning for share mode, where both runs are made equal. */
struct fz_change fz_visit_test_run(const struct fz_visit_setup *setup,
				   const struct fz_visit_null *null, double reference);

/* The smallest change of interest in the unit of fz_change: the margin of fz_verdict_of. */
double fz_visit_margin(const struct fz_visit_setup *setup);
