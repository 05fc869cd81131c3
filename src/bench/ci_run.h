/* SPDX-License-Identifier: MIT */
/* Both sides of a change, counted and judged: what `fizeau ci` does before it reports.
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
			      it can be */
	struct fz_baseline_server *server; /* where save is its address; else NULL */
	const char *setup;                 /* by sh in each tree first; NULL */
	const char *config; /* NULL: fizeau.ini at the top of the checkout, if it is there */
	struct fz_ci_metric_list metrics; /* none: as the configuration says */
	double timeout;                   /* seconds of each run; 0: as the configuration says */
	int others;   /* runs of one side in other surroundings, at most FZ_CI_OTHERS_MAX */
	int parallel; /* runs side by side; 0: one for each processor */
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
	struct fz_kept base_from; /* where its counts were kept; no commit: nowhere */
	bool base_is_empty;       /* it lacks a file that the command names, and cannot run it */
	char *labels[FZ_SIDES];
	char *files; /* of c->result.files */
	char today[FZ_CI_DAY_SIZE];
};

/* Find the repository, the base and its counts where they are kept; set the trees up. All that is
 * given is borrowed; notify may be NULL. To be closed and released whatever becomes of this call,
 * and each of the others fails when a signal ended it: c->workspace.series.stopped_by. */
int fz_ci_run_begin(struct fz_ci_run *c, const struct fz_ci_run_options *o,
		    const struct fz_notify *notify, struct fz_error *err);
/* Count what is not kept, and time suspects. */
int fz_ci_run_measure(struct fz_ci_run *c, struct fz_error *err);
/* Verdicts, in c->result. */
int fz_ci_run_judge(struct fz_ci_run *c, struct fz_error *err);
/* Keep what was counted, if that is wanted and all went well. */
int fz_ci_run_keep(struct fz_ci_run *c, struct fz_error *err);
/* The trees are gone, signals act again. */
void fz_ci_run_close(struct fz_ci_run *c);
void fz_ci_run_release(struct fz_ci_run *c);
