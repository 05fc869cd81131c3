/* SPDX-License-Identifier: MIT */
/* Stored or new counts of the commits of a range, as series with their changes: what `fizeau
 * history` does before it reports. */
#pragma once

#include "bench/baseline.h"
#include "bench/history.h"
#include "bench/revision.h"

struct fz_history_run_options {
	struct fz_revision_options count;
	char *const *argv;                 /* NULL: count nothing, only use stored counts */
	const char *range;                 /* "v1.0..HEAD" */
	const char *filter;                /* only benchmarks whose names contain this; NULL: all */
	double threshold;                  /* the smallest change; 0: that of the configuration */
	int commits;                       /* at most this many, the latest */
	int save;                          /* enum fz_baseline_place: where to store counts */
	struct fz_baseline_server *server; /* NULL: none */
	bool fresh;                        /* count all commits again */
};

/* A stored recording of one of the commits. */
struct fz_history_found {
	uint32_t commit;
	struct fz_kept kept;
};

struct fz_history_run {
	const struct fz_history_run_options *options;
	const struct fz_notify *notify;
	struct fz_workspace workspace; /* without a command only its repository is used */
	struct fz_ci_config config;
	struct fz_baselines baselines;
	char *cache; /* their folder */
	struct fz_history history;
	struct fz_history_found *found;
	size_t n, cap;
};

/* The result is r->history. All arguments are borrowed, notify may be NULL. A signal is not a
 * failure once something has been counted. Close and release r even on failure. */
int fz_history_run_make(struct fz_history_run *r, const struct fz_history_run_options *o,
			const struct fz_notify *notify, struct fz_error *err);
/* Unblock signals; r->workspace.series.stopped_by is the one that ended it. */
void fz_history_run_close(struct fz_history_run *r);
void fz_history_run_release(struct fz_history_run *r);
