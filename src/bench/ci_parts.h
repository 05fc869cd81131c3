/* SPDX-License-Identifier: MIT */
/* The parts of a run, in the order of its work; only ci_run.c, ci_merge.c and they include this.
 *
 *   ci_base.c    which commit is the base, and whether its counts are kept somewhere
 *   ci_run.c     counting what is not
 *   ci_clock.c   suspects timed in turn
 *   ci_text.c    the source of both sides
 *   ci_base.c    keeping what was counted
 */
#pragma once

#include "bench/ci_run.h"

/* Which commit or file the base is. */
int fz_ci_run_find_base(struct fz_ci_run *c, struct fz_error *err);
/* Its counts, where they are kept; else its tree, checked out and set up. */
int fz_ci_run_get_base(struct fz_ci_run *c, struct fz_error *err);
/* The base's tree, if it is not there yet. */
int fz_ci_run_check_out_base(struct fz_ci_run *c, struct fz_error *err);
/* Give both sides the text of the files that they have in the repository. */
void fz_ci_run_read_texts(struct fz_ci_run *c);
/* For fz_ci_rules: whether a commit lies between base and head. */
bool fz_ci_run_is_part(void *arg, const char *commit);
/* Time suspects; what keeps us from that becomes a note. Fails when a signal ended it. */
int fz_ci_run_time(struct fz_ci_run *c, struct fz_error *err);
