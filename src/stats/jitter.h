/* SPDX-License-Identifier: MIT */
/* Deterministic counts (instructions, calls): a bound on jitter instead of a test.
 *
 * Two runs of one program under Valgrind agree to some 0.002 % when hash seed, environment and
 * address layout are fixed; what is left comes in steps, not as a bell curve. So each side is
 * counted K >= 2 times, and a difference is real when it is larger than everything that repeated
 * runs were seen to differ by. Prevention comes first: a changed environment alone moved the
 * total by 0.34 %.
 *
 * A side that was counted once shows no range. There a floor stands in: what surroundings were
 * measured to do to the program, three times over as `fizeau ci` has it, and at least the part of
 * the run below which nothing is reported.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define FZ_JITTER_REPORTED 1e-3
/* Past so many floors a change is none of the surroundings. */
#define FZ_JITTER_FLOORS 3
/* So many instructions two runs may differ by, however small the program; nothing else that is
 * counted differs so. */
#define FZ_JITTER_INSTRUCTIONS 500

struct fz_jitter {
	double base, head; /* medians */
	double change;     /* head - base */
	double bound;      /* changes up to this may be jitter */
	bool changed;
	bool worth_reporting; /* changed, and at least FZ_JITTER_REPORTED of the benchmark */
};

/* Counts of one function, or of the whole benchmark, in the runs of each side. total: what the
 * whole benchmark counts (larger side). least: what any two runs may differ by. floor: the part of
 * total that surroundings alone were seen to move; 0: nobody measured. */
struct fz_jitter fz_jitter_bound(const double *base, size_t base_runs, const double *head,
				 size_t head_runs, double total, double least, double floor);

/* A change of cost told as "called more often" and "a call costs more"; the two add up to the
 * change exactly. What both cause together is halved between them (Shapley). Where one side has
 * no calls all of it is the calls' part. */
struct fz_jitter_parts {
	double calls, cost;
};
struct fz_jitter_parts fz_jitter_split(double base, double base_calls, double head,
				       double head_calls);
