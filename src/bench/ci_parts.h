/* SPDX-License-Identifier: MIT */
/* The parts of a run, in order; only they and ci_merge.c include this.
 *
 *   ci_base.c    finds the base commit and its stored counts
 *   ci_run.c     counts what is not stored
 *   ci_clock.c   times suspects in turn
 *   ci_text.c    reads the source of both sides
 *   ci_base.c    stores the counts
 */
#pragma once

#include "bench/ci_run.h"

/* Find the commit or file of the base. */
int fz_ci_run_find_base(struct fz_ci_run *c, struct fz_error *err);
/* Read its stored counts; if there are none, check out its tree and set it up. */
int fz_ci_run_get_base(struct fz_ci_run *c, struct fz_error *err);
/* Check out the base's tree, if that has not been done. */
int fz_ci_run_check_out_base(struct fz_ci_run *c, struct fz_error *err);
/* Add the text of files in the repository to both sides. */
void fz_ci_run_read_texts(struct fz_ci_run *c);
/* For fz_ci_rules: true if a commit is between base and head. */
bool fz_ci_run_is_part(void *arg, const char *commit);
/* Time suspects; a failure becomes a note. Fails only if a signal ended it. */
int fz_ci_run_time(struct fz_ci_run *c, struct fz_error *err);
