/* SPDX-License-Identifier: MIT */
/* Searching for the commit that changed the cost of a benchmark. */
#pragma once

#include "bench/baseline.h"
#include "bench/search.h"
#include "bench/revision.h"

struct fz_bisect_options {
	struct fz_revision_options count;
	char *const *argv;                 /* what is counted */
	const char *ends[2];               /* revisions: the good one and the bad one */
	const char *filter;                /* only benchmarks whose names contain this; NULL: all */
	int save;                          /* enum fz_baseline_place: where to store counts */
	struct fz_baseline_server *server; /* NULL: none */
	double threshold;                  /* 0: halfway between good and bad */
	bool first_parent;                 /* of merged branches only search the merge */
};

struct fz_bisect {
	const struct fz_bisect_options *options;
	const struct fz_notify *notify;
	struct fz_workspace workspace;
	struct fz_ci_config config;
	struct fz_ci_search search;
	struct fz_baselines baselines;
	char *cache;                  /* their folder */
	struct fz_profile **profiles; /* of each step of the search; NULL: skipped */
	uint32_t n, cap;
	char *ends[2];    /* commits of GOOD and BAD */
	uint32_t bad;     /* step: the earliest bad one */
	unsigned skipped; /* number of last steps that were skipped */
};

/* Search; the result is b->search. All arguments are borrowed, notify may be NULL. Fails if a
 * signal ended it. Close and release b even on failure. */
int fz_bisect_make(struct fz_bisect *b, const struct fz_bisect_options *o,
		   const struct fz_notify *notify, struct fz_error *err);
/* Unblock signals; b->workspace.series.stopped_by is the one that ended the search. */
void fz_bisect_close(struct fz_bisect *b);
void fz_bisect_release(struct fz_bisect *b);
