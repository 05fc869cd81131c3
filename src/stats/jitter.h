/* SPDX-License-Identifier: MIT */
/* Deterministic counts (instructions, calls) have a bound on jitter instead of a test.
 *
 * Two runs of one program under Valgrind agree to about 0.002 % if hash seed, environment and
 * address layout are fixed; the rest comes in steps and is not normally distributed. So each side
 * is counted K >= 2 times, and a difference is real if it exceeds all differences between repeated
 * runs. Fixing the environment comes first: changing it alone moved the total by 0.34 %.
 *
 * A side that was counted once has no range. The bound is then three times the measured effect of
 * the environment on the program, as in `fizeau ci`, but at least the smallest fraction of the run
 * that is reported.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define FZ_JITTER_REPORTED 1e-3
/* A change above this many floors is not caused by the environment. */
#define FZ_JITTER_FLOORS 3
/* Number of instructions by which two runs of even the smallest program may differ; other counts
 * need no such allowance. */
#define FZ_JITTER_INSTRUCTIONS 500

struct fz_jitter {
	double base, head; /* medians */
	double change;     /* head - base */
	double bound;      /* changes up to this may be jitter */
	bool changed;
	bool worth_reporting; /* changed by at least FZ_JITTER_REPORTED of the benchmark */
};

/* Compares the counts of a function, or of the whole benchmark, in the runs of each side. total:
 * count of the whole benchmark (larger side). least: allowed difference of any two runs. floor:
 * measured effect of the environment, as a fraction of total; 0: not measured. */
struct fz_jitter fz_jitter_bound(const double *base, size_t base_runs, const double *head,
				 size_t head_runs, double total, double least, double floor);
