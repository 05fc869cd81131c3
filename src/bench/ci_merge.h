/* SPDX-License-Identifier: MIT */
/* Merges the reports of several jobs on one change, each with its own benchmarks, such as the
 * shards of a matrix. Verdicts are kept: each job has applied its configuration and timed its
 * suspects. */
#pragma once

#include "bench/ci_run.h"

/* Recordings in a folder of reports: "base.fz", "head.fz". */
extern const char *const fz_ci_recording_names[FZ_SIDES];

/* folders: written by `fizeau ci -o`, with report.json, base.fz and head.fz. Missing ones are added
 * to the result's troubles. *c must be zeroed; sets c->result, ->profile and ->labels. Release it
 * even on failure. FZ_EINPUT if reports cannot be merged or there are none. */
int fz_ci_merge(struct fz_ci_run *c, const char *const *folders, size_t n, struct fz_error *err);
/* Find the checkout of the current folder, the reports' commits in it, and set c->rules, which
 * apply the changes that c->config accepts. The caller releases c->workspace.repository.
 * FZ_EUSAGE or FZ_EINPUT if there is no checkout or no such commit; then nothing is set. */
int fz_ci_merge_find(struct fz_ci_run *c, struct fz_error *err);
