/* SPDX-License-Identifier: MIT */
/* Counts of the commits of a range, from where they are kept or counted now, as series with what
 * changed them: what `fizeau history` does before it reports. */
#pragma once

#include "bench/baseline.h"
#include "bench/history.h"
#include "bench/revision.h"

struct fz_history_run_options {
	struct fz_revision_options count;
	char *const *argv;  /* NULL: nothing is counted, only what is kept is shown */
	const char *range;  /* "v1.0..HEAD" */
	const char *filter; /* only benchmarks whose names contain this; NULL: all */
	double threshold;   /* the smallest change that counts; 0: as the configuration says */
	int commits;        /* at most so many, the latest */
	int save;           /* enum fz_baseline_place: where counts are kept */
	struct fz_baseline_server *server; /* NULL: none */
	bool fresh;                        /* count commits again whose counts are kept */
};

/* A recording that is kept of one of the commits. */
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
	char *cache; /* where they are */
	struct fz_history history;
	struct fz_history_found *found;
	size_t n, cap;
};

/* r->history is what came of it; all that is given is borrowed, notify may be NULL. A signal is no
 * failure once something is known. To be closed and released whatever becomes of this call. */
int fz_history_run_make(struct fz_history_run *r, const struct fz_history_run_options *o,
			const struct fz_notify *notify, struct fz_error *err);
/* Signals act again: r->workspace.series.stopped_by says which one ended it. */
void fz_history_run_close(struct fz_history_run *r);
void fz_history_run_release(struct fz_history_run *r);
