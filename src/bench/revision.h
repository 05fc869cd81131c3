/* SPDX-License-Identifier: MIT */
/* Counting commits of the history one after the other, for `bisect` and `history`. */
#pragma once

#include "bench/config.h"
#include "bench/job.h"

/* Options of commands that search the history. */
struct fz_revision_options {
	const char *setup, *config;
	double timeout;
	int metric; /* index in fz_ci_metrics; FZ_REVISION_METRIC: the first of fizeau.ini's */
	bool show_output;
};

enum { FZ_REVISION_METRIC = -1 };

/* Open the workspace to count `argv` in it, and read the configuration, which must be initialised;
 * notify may be NULL. Nothing is checked out yet. */
int fz_revision_open(struct fz_workspace *w, const char *command,
		     const struct fz_revision_options *o, char *const *argv,
		     const struct fz_notify *notify, struct fz_ci_config *config,
		     struct fz_error *err);

/* Set the options that are necessary to count some of fz_ci_metrics. */
void fz_revision_count_for(const struct fz_ci_metric_list *metrics, struct fz_record_options *o);

/* Read the configuration only. */
int fz_revision_configure(const struct fz_repository *r, const struct fz_revision_options *o,
			  struct fz_ci_config *config, struct fz_error *err);

/* Date and subject of a commit; the caller releases. */
struct fz_revision_title {
	char *day; /* "2026-11-20", when it was committed */
	char *subject;
};
void fz_revision_title(const struct fz_repository *r, const char *commit,
		       struct fz_revision_title *ret);
void fz_revision_title_release(struct fz_revision_title *t);

/* The result of counting a commit. */
struct fz_revision {
	struct fz_profile *profile; /* NULL: nothing was counted */
	struct fz_profile *other;   /* in another environment; NULL: not requested, or failed */
	char *trouble;              /* why nothing or not all was counted; NULL */
};

/* Check a commit out, set it up, run the command there without Valgrind, then count it (with
 * `other` also in another environment). The recording has the fact "environment". Fails only if a
 * signal ended it; failures of the commit are in ret->trouble. */
int fz_revision_count(struct fz_workspace *w, const char *commit, bool other,
		      struct fz_revision *ret, struct fz_error *err);
void fz_revision_release(struct fz_revision *r);

/* The error for a revision that git does not know: a shallow clone or a misspelt name. */
int fz_revision_unknown(const struct fz_repository *r, const char *revision, struct fz_error *err);
/* The benchmark name of a command without marks: its words. The caller frees. */
char *fz_revision_whole(char *const argv[]);
