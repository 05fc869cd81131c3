/* SPDX-License-Identifier: MIT */
/* Recording the same command at two revisions, or two commands, alternately. */
#pragma once

#include "compare/diff.h"
#include "record/record.h"

struct fz_compare_options {
	struct fz_record_options record; /* of every run */
	int runs;   /* measured runs per side; 0: fz_paired_run_count() of the first pair */
	int warmup; /* runs per side before those */
	const char *revision; /* the base; NULL: the last commit, or without uncommitted edits the
	one before it */
	char *const *argv;    /* command to run in both trees */
	const char *commands[FZ_SIDES]; /* instead, commands for sh in this folder; NULL: none */
	const char *setup;              /* command for sh in each tree first; NULL */
	bool ignore_failure;            /* use runs that end with a status other than 0 */
	bool show_output;               /* print the output of commands to standard error */
};

struct fz_paired_run {
	struct {
		char *label;                /* its name in reports */
		struct fz_profile *profile; /* all its runs; after a signal perhaps none */
		char *kept;                 /* path, set by fz_paired_run_keep; else NULL */
	} side[FZ_SIDES];
	char *project;  /* top folder of the head's tree, or where the commands ran */
	int stopped_by; /* the signal that ended it early; 0: none */
};

/* The default number of runs per side: as many as fit in 20 seconds, 3 to 10; 3 if they are
 * counted, because counts hardly vary. It depends on the duration of a run, never on the difference
 * between the sides, so it biases no verdict. */
int fz_paired_run_count(int64_t run_ns, bool counted);
/* Record both sides. Release ret even on failure, when only stopped_by is valid. A signal is not a
 * failure: ret has the runs that were complete. notify may be NULL. */
int fz_paired_run_make(struct fz_paired_run *ret, const struct fz_compare_options *o,
		       const struct fz_notify *notify, struct fz_error *err);
/* Store both sides in the cache, as the last comparison of their project. */
int fz_paired_run_keep(struct fz_paired_run *c, struct fz_error *err);
void fz_paired_run_release(struct fz_paired_run *c);
