/* SPDX-License-Identifier: MIT */
/* One verdict on one change from the reports of several jobs, each with benchmarks of its own: the
 * shards of a matrix. Nothing is judged again: each job knew its configuration, and its clock. */
#pragma once

#include "bench/ci_run.h"

/* folders: as `fizeau ci -o` writes them, with report.json, base.fz and head.fz. What is missing is
 * among the result's troubles. c->result, ->profile and ->labels are set, of a zeroed *c, to be
 * released whatever becomes of this. FZ_EINPUT: reports that cannot be put together, or none at
 * all. */
int fz_ci_merge(struct fz_ci_run *c, const char *const *folders, size_t n, struct fz_error *err);
/* The checkout around the current folder, the commits in it that the reports are of, and rules by
 * which changes may be accepted that c->config then says; c->workspace.repository is to be
 * released. FZ_EUSAGE, FZ_EINPUT: there is none, or it has no such commit; then nothing is set. */
int fz_ci_merge_find(struct fz_ci_run *c, struct fz_error *err);
