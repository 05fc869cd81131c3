/* SPDX-License-Identifier: MIT */
/* Which differences are real: the one place where a comparison becomes verdicts.
 *
 *   samples -> evidence.h -> a test of src/stats -> families corrected -> verdicts
 *
 * The test follows from the recordings:
 *
 *   one recording compared with itself          identical: nothing changed, for certain
 *   one run a side, samples in order            visits
 *   one run a side, order unknown               approximate
 *   several runs                                runs
 *   deterministic counts (instructions, bytes)  counts
 *   anything else, or nothing on a side         none: everything is unknown
 *
 * Costs are head - factor * base in the comparison's unit, exactly as reports show them; intervals
 * lie around them. docs/statistics.md explains all of it. What could not be read
 * ("[unreadable]") is no function and never judged.
 */
#pragma once

#include "compare/diff.h"
#include "stats/verdict.h"

enum fz_judge_method {
	FZ_JUDGE_NONE,
	FZ_JUDGE_IDENTICAL,
	FZ_JUDGE_VISITS,
	FZ_JUDGE_APPROXIMATE,
	FZ_JUDGE_RUNS,
	FZ_JUDGE_COUNTS,
	FZ_JUDGE_METHODS
};
extern const char *const fz_judge_method_names[FZ_JUDGE_METHODS];

/* Of a function or path, by self or by total cost. The verdict and the interval always agree:
 *
 *     changed     exactly when the interval excludes 0 and does not lie within the margin
 *     unchanged   only when it lies within the margin
 *
 * and the interval holds the change that reports show, and no loss of more than 100 %. */
struct fz_judged {
	enum fz_verdict verdict;
	double low, high;  /* interval of the change, in unit; NaN when there is none */
	double confidence; /* of the interval: 0.95, or more as the correction for many functions
			      makes it; NaN when there is none */
	double z;          /* the statistic; NaN when not tested */
	double p;          /* NaN when not tested */
	/* Of a path that did not certainly change by itself: its function did, in sum and the same
	 * way, and no other path of it did so by itself. */
	bool of_sum;
};

enum fz_run_word { FZ_RUN_UNKNOWN, FZ_RUN_SAME, FZ_RUN_SLOWER, FZ_RUN_FASTER, FZ_RUN_WORDS };
extern const char *const fz_run_word_names[FZ_RUN_WORDS]; /* "unknown", "same", ... */

/* Of the whole run; all relative to factor * base (0.1 is 10 %), NaN when there is no test. With
 * share scaling both runs are made equal: only what could be seen of a function is known then, as a
 * part of the run. */
struct fz_judged_run {
	enum fz_run_word word;
	double change, low, high, z, p;
	double smallest_visible; /* found four times out of five, if it were there */
	double visible_share;    /* of a function with that part of the run; 1: of the run itself */
	double more_runs;        /* a side, to see fz_judge_options.run_delta; may be huge */
};
/* The part of the run that such a function has. */
#define FZ_JUDGE_TYPICAL_SHARE 0.1

struct fz_judge_options {
	double delta;     /* no larger change of a function is "unchanged": part of the run */
	double run_delta; /* the same for the run itself */
	double kappa;     /* relative deviation from run to run; 0: the clock's usual one */
	bool paths;       /* judge d->nodes too; they must be of a straight tree */
};
/* 0.2 % of the run, 5 % for the run itself. */
#define FZ_JUDGE_DEFAULTS ((struct fz_judge_options){ .delta = 0.002, .run_delta = 0.05 })

struct fz_judgement {
	enum fz_judge_method method;
	bool cpu_clock;            /* judged by the noise of a CPU clock, else of a wall clock */
	double delta;              /* as used */
	uint64_t bursts[FZ_SIDES]; /* repeated samples of a late sampler, left out */
	struct fz_judged_run run;
	struct fz_judged *self, *total; /* of d->functions */
	/* Of d->nodes; NULL without options.paths. Only paths of changed functions are tested. A
	 * path of an unchanged function is unchanged if what is shown of it is within the margin
	 * too; all others are unknown. Neither has an interval. */
	struct fz_judged *path_self, *path_total;
};

/* Turn costs and intervals of several runs a side into those of one run, to be shown, with the
 * samples of both profiles: nothing can be judged by them any more. Bare samples stay what they
 * are.
 */
void fz_diff_per_run(struct fz_diff *d, struct fz_judgement *j, struct fz_profile *base,
		     struct fz_profile *head);

/* Of counts: how far the benchmark at that root, and whatever is below it, may move without having
 * changed, in unit. */
double fz_judge_benchmark_bound(const struct fz_diff *d, uint32_t root);

/* Cannot fail: what cannot be judged is unknown. The judgement keeps no pointer to the diff. */
struct fz_judgement *fz_judge(const struct fz_diff *d, const struct fz_judge_options *options);
void fz_judgement_free(struct fz_judgement *j);
void fz_judgement_freep(struct fz_judgement **j);
