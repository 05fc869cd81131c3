/* SPDX-License-Identifier: MIT */
/* Commits of the history, counted one after the other: what `bisect` and `history` share. */
#pragma once

#include "bench/config.h"
#include "bench/job.h"

/* What a command that searches the history is told. */
struct fz_revision_options {
	const char *setup, *config;
	double timeout;
	int metric; /* index in fz_ci_metrics; FZ_REVISION_METRIC: the first of fizeau.ini's */
	bool show_output;
};

enum { FZ_REVISION_METRIC = -1 };

/* Open the workspace to count `argv` in it, and read the configuration (initialised, as it holds
 * without a file); notify may be NULL. Nothing is checked out yet. */
int fz_revision_open(struct fz_workspace *w, const char *command,
		     const struct fz_revision_options *o, char *const *argv,
		     const struct fz_notify *notify, struct fz_ci_config *config,
		     struct fz_error *err);

/* What else must be counted for some of fz_ci_metrics. */
void fz_revision_count_for(const struct fz_ci_metric_list *metrics, struct fz_record_options *o);

/* The configuration alone. */
int fz_revision_configure(const struct fz_repository *r, const struct fz_revision_options *o,
			  struct fz_ci_config *config, struct fz_error *err);

/* What git says of a commit; the caller frees. */
struct fz_revision_title {
	char *day; /* "2026-11-20", when it was committed */
	char *subject;
};
void fz_revision_title(const struct fz_repository *r, const char *commit,
		       struct fz_revision_title *ret);
void fz_revision_title_release(struct fz_revision_title *t);

/* What came of counting a commit. */
struct fz_revision {
	struct fz_profile *profile; /* NULL: nothing was counted */
	struct fz_profile *other;   /* in other surroundings; NULL: not asked for, or in vain */
	char *trouble;              /* why nothing was, or what went wrong besides; NULL */
};

/* Check a commit out, set it up, run the command there as usual, and counted (with `other` also in
 * other surroundings); the recording says in which environment (bench/environment.h). Fails when a
 * signal ended it; what is wrong with the commit is its trouble. */
int fz_revision_count(struct fz_workspace *w, const char *commit, bool other,
		      struct fz_revision *ret, struct fz_error *err);
void fz_revision_release(struct fz_revision *r);

/* '1a2b3c': why git does not know it: a shallow clone, a misspelt name. */
int fz_revision_unknown(const struct fz_repository *r, const char *revision, struct fz_error *err);
/* A command's name where nothing is marked in it: its words. The caller frees. */
char *fz_revision_whole(char *const argv[]);
