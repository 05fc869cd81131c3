/* SPDX-License-Identifier: MIT */
/* The parts of `fizeau ci`, in the order of its work:
 *
 *   ci_base.c    which commit is the base, and whether its counts are kept somewhere
 *   ci.c           counting what is not
 *   ci_clock.c   suspects timed in turn
 *   ci_write.c   reports
 *   ci_base.c    keeping what was counted
 */
#pragma once

#include "ci/baseline.h"
#include "ci/report.h"
#include "cli/record.h"
#include "session/job.h"

struct fz_ci_options {
	const char *base, *save, *setup, *output, *config, *link;
	double timeout;
	int others, parallel, color;
	bool cache, no_wall, native, show_output;
};

struct fz_ci_run {
	const struct fz_ci_options *options;
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
	char *labels[FZ_SIDES];
	char today[16];
};

/* Which commit or file the base is. */
int fz_ci_run_find_base(struct fz_ci_run *c, struct fz_error *err);
/* Its counts, where they are kept; else its tree, checked out and set up. */
int fz_ci_run_get_base(struct fz_ci_run *c, struct fz_error *err);
/* The base's tree, if it is not there yet. */
int fz_ci_run_check_out_base(struct fz_ci_run *c, struct fz_error *err);
/* For fz_ci_rules: whether a commit lies between base and head. */
bool fz_ci_run_is_part(void *arg, const char *commit);
/* Keep what was counted, if that is wanted and all went well. */
int fz_ci_run_keep(struct fz_ci_run *c, struct fz_error *err);

/* Time suspects; what keeps us from that becomes a note. Fails when a signal ended it. */
int fz_ci_run_time(struct fz_ci_run *c, struct fz_error *err);

/* Judge; print, and write the folder of reports. */
int fz_ci_run_report(struct fz_ci_run *c, struct fz_error *err);
