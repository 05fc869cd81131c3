/* SPDX-License-Identifier: MIT */
/* Deterministic counts (instructions, calls): a bound on jitter instead of a test.
 *
 * Two runs of one program under Valgrind agree to some 0.002 % when hash seed, environment and
 * address layout are fixed; what is left comes in steps, not as a bell curve. So each side is
 * counted K >= 2 times, and a difference is real when it is larger than everything that repeated
 * runs were seen to differ by. Prevention comes first: a changed environment alone moved the
 * total by 0.34 %.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct fz_jitter {
	double base, head; /* medians */
	double change;     /* head - base */
	double bound;      /* changes up to this may be jitter */
	bool changed;
	bool worth_reporting; /* changed, and at least 0.1 % of the benchmark */
};

/* Counts of one function, or of the whole benchmark, in the runs of each side. total: what the
 * whole benchmark counts (larger side). */
struct fz_jitter fz_jitter_bound(const double *base, size_t base_runs, const double *head,
				 size_t head_runs, double total);

/* A change of cost told as "called more often" and "a call costs more"; the two add up to the
 * change exactly. What both cause together is halved between them (Shapley). Where one side has
 * no calls all of it is the calls' part. */
struct fz_jitter_parts {
	double calls, cost;
};
struct fz_jitter_parts fz_jitter_split(double base, double base_calls, double head,
				       double head_calls);
