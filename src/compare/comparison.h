/* SPDX-License-Identifier: MIT */
/* The comparison of two profiles: the only way to get a diff with verdicts.
 *
 *   base, head -> cut alike -> rounds averaged -> fold recursion -> union tree -> verdicts
 *                                                                     -> costs of one run
 *
 * The command line, pages, the server, MCP, CI, the watcher and the public API all call
 * fz_comparison_new, so two profiles have the same figures everywhere. A comparison is immutable
 * and changes neither profile.
 */
#pragma once

#include "compare/diff.h"
#include "compare/judge.h"

struct fz_comparison_options {
	struct fz_diff_options diff;
	double delta, run_delta; /* of struct fz_judge_options; 0: its defaults */
	bool fold_recursion;     /* count a function once on a stack */
};

struct fz_comparison {
	struct fz_diff *diff;
	struct fz_judgement *judgement; /* includes paths, unless the diff is inverted */
	/* Copies of profiles that had to be changed; NULL if the caller's was compared. */
	struct fz_profile *copy[FZ_SIDES];
};

/* options: NULL for the defaults. Both profiles must outlive the comparison. Fails like
 * fz_diff_new, and with FZ_ELIMIT if a profile has no room for cut or folded stacks. */
int fz_comparison_new(const struct fz_profile *base, const struct fz_profile *head,
		      const struct fz_comparison_options *options, struct fz_comparison **ret,
		      struct fz_error *err);
void fz_comparison_free(struct fz_comparison *c);
void fz_comparison_freep(struct fz_comparison **c); /* for fz_auto */
