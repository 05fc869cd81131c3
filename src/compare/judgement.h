/* SPDX-License-Identifier: MIT */
/* What judging a comparison results in, and its options; judge.h explains the methods. */
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

/* Judgement of a function or path, by self or by total cost. The verdict and the interval always
 * agree:
 *
 *     changed     exactly if the interval excludes 0 and is not within the margin
 *     unchanged   only if it is within the margin
 *
 * The interval contains the reported change and does not extend below -100 %. */
struct fz_judged {
	enum fz_verdict verdict;
	double low, high;  /* interval of the change, in unit; NaN when there is none */
	double confidence; /* of the interval: 0.95, or more after the correction for many
			      functions; NaN if there is none */
	double z;          /* the statistic; NaN when not tested */
	double p;          /* NaN when not tested */
	/* Of a path that did not certainly change: its function did, in the same direction, and no
	 * other of its paths did. */
	bool of_sum;
};

enum fz_run_word { FZ_RUN_UNKNOWN, FZ_RUN_SAME, FZ_RUN_SLOWER, FZ_RUN_FASTER, FZ_RUN_WORDS };
extern const char *const fz_run_word_names[FZ_RUN_WORDS]; /* "unknown", "same", ... */

/* Judgement of the whole run; all relative to factor * base (0.1 is 10 %), NaN without a test. With
 * share scaling both runs are equal: then only the smallest visible change of a function is set,
 * relative to the run. */
struct fz_judged_run {
	enum fz_run_word word;
	double change, low, high, z, p;
	double smallest_visible; /* detected four times out of five if it existed */
	double visible_share; /* share of the run of the function that smallest_visible is about; 1:
				 the run itself */
	double more_runs;     /* per side, to detect fz_judge_options.run_delta; may be huge */
};
/* Share of the run of such a function. */
#define FZ_JUDGE_TYPICAL_SHARE 0.1

struct fz_judge_options {
	double delta;     /* largest change of an "unchanged" function, as a fraction of the run */
	double run_delta; /* likewise of the run itself */
	double kappa;     /* relative deviation from run to run; 0: that of the clock */
	bool paths;       /* judge d->nodes, too; the tree must be straight */
};
/* 0.2 % of the run, 5 % for the run itself. */
#define FZ_JUDGE_DEFAULTS ((struct fz_judge_options){ .delta = 0.002, .run_delta = 0.05 })

struct fz_judgement {
	enum fz_judge_method method;
	bool empty_run;            /* a run has no samples, so nothing was judged */
	bool cpu_clock;            /* with the noise of a CPU clock, else of a wall clock */
	double delta;              /* as used */
	uint64_t bursts[FZ_SIDES]; /* excluded repetitions of a late sampler */
	struct fz_judged_run run;
	struct fz_judged *self, *total; /* of d->functions */
	/* Of d->nodes; NULL without options.paths. Only paths of changed functions are tested. A
	 * path of an unchanged function is unchanged if its change is within the margin, too; all
	 * others are unknown. Neither has an interval. */
	struct fz_judged *path_self, *path_total;
};

void fz_judgement_free(struct fz_judgement *j);
void fz_judgement_freep(struct fz_judgement **j);
