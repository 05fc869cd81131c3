/* SPDX-License-Identifier: MIT */
/* Counting and judging both sides of a change: what `fizeau ci` does before it reports.
 *
 *   fz_ci_run_begin -> fz_ci_run_measure -> fz_ci_run_judge -> (reports) -> fz_ci_run_keep
 *     -> fz_ci_run_close -> fz_ci_run_release
 */
#pragma once

#include "bench/baseline.h"
#include "bench/ci.h"
#include "bench/job.h"

enum { FZ_CI_OTHERS_MAX = 20 };

struct fz_ci_run_options {
	char *const *argv; /* what is counted */
	const char *base;  /* branch, commit or recording; NULL: see ci_base.c */
	const char *save;  /* place of fz_baseline_place_of, "none" or a file; NULL: the cache, if
	possible */
	struct fz_baseline_server *server; /* if save is its URL; else NULL */
	const char *setup;                 /* command for sh in each tree; NULL */
	const char *config; /* NULL: fizeau.ini at the top of the checkout, if it exists */
	struct fz_ci_metric_list metrics; /* empty: those of the configuration */
	double timeout;                   /* seconds per run; 0: that of the configuration */
	int others;   /* runs of one side in other environments, at most FZ_CI_OTHERS_MAX */
	int parallel; /* concurrent runs; 0: one per processor */
	bool cache, no_wall, native, show_output;
};

struct fz_ci_run {
	const struct fz_ci_run_options *options;
	const struct fz_notify *notify;
	struct fz_workspace workspace;
	struct fz_ci_config config;
	struct fz_ci_result result;
	struct fz_ci_rules rules;
	struct fz_checkout checkout[FZ_SIDES];
	struct fz_profile *profile[FZ_SIDES];
	struct fz_buf environment; /* what the counts of this job depend on */
	struct fz_baselines baselines;
	char *baseline_folder;
	const char *base_file;    /* the base is a recording that the user names; NULL: a commit */
	char *base_commit;        /* NULL with a file */
	struct fz_kept base_from; /* where its counts were stored; without commit: nowhere */
	bool base_is_empty;       /* it cannot run the command, which names a file that it lacks */
	char *untracked;          /* a file of the head that no commit has; NULL: none */
	char *labels[FZ_SIDES];
	char *files; /* of c->result.files */
	char today[FZ_CI_DAY_SIZE];
};

/* Find the repository, the base and its stored counts; set the trees up. All arguments are
 * borrowed; notify may be NULL. Close and release c even on failure. This and the other functions
 * fail if a signal ended them: c->workspace.series.stopped_by. */
int fz_ci_run_begin(struct fz_ci_run *c, const struct fz_ci_run_options *o,
		    const struct fz_notify *notify, struct fz_error *err);
/* Count what is not stored, and time suspects. */
int fz_ci_run_measure(struct fz_ci_run *c, struct fz_error *err);
/* Set the verdicts in c->result. */
int fz_ci_run_judge(struct fz_ci_run *c, struct fz_error *err);
/* Store the counts, if requested and complete. */
int fz_ci_run_keep(struct fz_ci_run *c, struct fz_error *err);
/* Remove the trees and unblock signals. */
void fz_ci_run_close(struct fz_ci_run *c);
void fz_ci_run_release(struct fz_ci_run *c);

/* ---- the parts of a run, in order; only they and ci_merge.c call these ----
 *
 *   ci_base.c    finds the base commit and its stored counts
 *   ci_run.c     counts what is not stored
 *   ci_clock.c   times suspects, base and head alternately
 *   ci_base.c    stores the counts
 */

/* Find the commit or file of the base. */
int fz_ci_run_find_base(struct fz_ci_run *c, struct fz_error *err);
/* Read its stored counts; if there are none, check out its tree and set it up. */
int fz_ci_run_get_base(struct fz_ci_run *c, struct fz_error *err);
/* Check out the base's tree, if that has not been done. */
int fz_ci_run_check_out_base(struct fz_ci_run *c, struct fz_error *err);
/* For fz_ci_rules: true if a commit is between base and head. */
bool fz_ci_run_is_part(void *arg, const char *commit);
/* Time suspects; a failure becomes a note. Fails only if a signal ended it. */
int fz_ci_run_time(struct fz_ci_run *c, struct fz_error *err);
