/* SPDX-License-Identifier: MIT */
/* The same command at two revisions, or two commands, recorded in turn. */
#pragma once

#include "compare/diff.h"
#include "record/record.h"

struct fz_compare_options {
	struct fz_record_options record; /* of every run */
	int runs;   /* measured, per side; 0: fz_paired_run_count() of the first of each side */
	int warmup; /* runs per side before those */
	const char *revision; /* the base; NULL: the last commit, or the one before it when all is
				 committed */
	char *const *argv;    /* what is run there and in the user's tree */
	const char *commands[FZ_SIDES]; /* by sh, here, instead of all that; NULL: none */
	const char *setup;              /* by sh in each tree first; NULL */
	bool ignore_failure;            /* count runs that end with a status other than 0 */
	bool show_output;               /* of what is run, on standard error */
};

struct fz_paired_run {
	struct {
		char *label;                /* what reports call it */
		struct fz_profile *profile; /* of all its runs; a signal can leave it without one */
		char *kept;                 /* where fz_paired_run_keep put it; NULL: nowhere */
	} side[FZ_SIDES];
	char *project;  /* top folder of the head's tree, or where the commands ran */
	int stopped_by; /* the signal that ended it early; 0: none did */
};

/* The default number of runs per side: as many as fit in 20 seconds, 3 to 10; 3 if they are
 * counted, because counts hardly vary. It depends on how long a run takes, never on the
 * difference between the sides, so it biases no verdict. */
int fz_paired_run_count(int64_t run_ns, bool counted);
/* Release ret whatever becomes of this call; when it fails only stopped_by holds. A signal is no
 * failure: what was complete by then is there. notify may be NULL. */
int fz_paired_run_make(struct fz_paired_run *ret, const struct fz_compare_options *o,
		       const struct fz_notify *notify, struct fz_error *err);
/* Keep both sides in the cache, as the last comparison of their project. */
int fz_paired_run_keep(struct fz_paired_run *c, struct fz_error *err);
void fz_paired_run_release(struct fz_paired_run *c);
