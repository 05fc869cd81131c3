/* SPDX-License-Identifier: MIT */
/* Results of benchmarks: runs of `fizeau ci` by repository, values by commit, and accepted
 * changes. They are always in a SQLite file, whatever engine stores the profiles, because there are
 * a few runs an hour, not thousands of pushes a second.
 *
 *   repository <- commit {sha, branch, time} <- value {metric, name, environment}
 *              <- run {id, pull, head, base, report} <- page
 *              <- accepted {name, metric, up to, reason, commit, pull}
 *
 * Every query and every change concerns one project. A handle may be used by one thread at a time;
 * several may have the same file open. Texts passed to callbacks are valid until the callback
 * returns. Errors are those of fz_fleet_put.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

enum {
	FZ_RESULTS_NAME_MAX = 1024,     /* bytes of a benchmark's name, a subject, a reason */
	FZ_RESULTS_REPOSITORIES = 1000, /* of a project */
	FZ_RESULTS_PAGES = 16,          /* of a run */
};

struct fz_results;

/* Open a file, which may also contain profiles. When writing, it is created if missing. */
int fz_results_open(const char *path, bool writing, struct fz_results **ret, struct fz_error *err);
void fz_results_close(struct fz_results *r);
void fz_results_closep(struct fz_results **r); /* for fz_auto */

struct fz_results_commit {
	const char *sha, *branch, *subject; /* sha "": none; branch "": unknown */
	int64_t time;                       /* seconds since 1970 */
};

struct fz_results_value {
	struct fz_str name, metric;
	bool of_base;
	double count, limit; /* limit: the smallest relative change that counts */
};

/* A run to store. Missing texts are "". */
struct fz_results_run {
	const char *project, *repository, *id;
	const char *commit_pages; /* URL prefix of a commit's page; its hash is appended */
	const char *pull;         /* number or name of the pull request */
	struct fz_results_commit head, base;
	const char *branch;      /* branch that was built, or the pull request's */
	const char *into;        /* the pull request's target branch */
	const char *patch;       /* digest of the pull request's changes */
	const char *environment; /* key of the environment of the counts */
	int exit;
	int64_t received; /* when the run was made, by our clock; seconds since 1970 */
	const char *headline;
	struct fz_str report; /* report.json */
	const struct fz_results_value *values;
	size_t value_n;
};
/* Store a run. If its id exists nothing is stored and *ret_new is false. */
int fz_results_put(struct fz_results *r, const struct fz_results_run *run, int64_t *ret_id,
		   bool *ret_new, struct fz_error *err);
/* Find a run by id. FZ_EINPUT if there is none. */
int fz_results_find(struct fz_results *r, const char *project, const char *repository,
		    const char *id, int64_t *ret, struct fz_error *err);
/* Update a run's verdict after one of its changes was accepted. */
int fz_results_judge(struct fz_results *r, int64_t run, int exit, const char *headline,
		     struct fz_error *err);
/* Store a page of a run; an existing page is kept. FZ_EINPUT if there is no such run. */
int fz_results_put_page(struct fz_results *r, const char *project, int64_t run, const char *name,
			struct fz_str page, struct fz_error *err);
/* Returns 1 with the page in ret, or 0 if there is none. */
int fz_results_page(struct fz_results *r, const char *project, int64_t run, const char *name,
		    struct fz_buf *ret, struct fz_error *err);
int fz_results_pages(struct fz_results *r, int64_t run, void (*take)(void *arg, struct fz_str name),
		     void *arg, struct fz_error *err);

struct fz_results_repository {
	struct fz_str name;
	int64_t commits, pulls, benchmarks;
	int64_t last;           /* time of the last run, seconds since 1970 */
	struct fz_str headline; /* of the last run without a pull request */
	int exit;               /* likewise; -1 if there is none */
};
int fz_results_repositories(struct fz_results *r, const char *project,
			    void (*take)(void *arg, const struct fz_results_repository *e),
			    void *arg, struct fz_error *err);

/* A run that was found. */
struct fz_results_found {
	int64_t id, received;
	int exit;
	struct fz_str repository, commit_pages, pull, branch, into, patch, head, base, subject;
	struct fz_str headline;
	struct fz_str report; /* empty in lists */
};
/* Conditions; NULL: any. */
struct fz_results_query {
	const char *project, *repository;
	const char *pull, *branch, *head; /* head: a hash or at least its first 7 digits */
	int64_t run;                      /* 0: any */
	bool pulls;                       /* only the last run of each pull request */
	unsigned most;
};
/* List runs, latest first. */
int fz_results_runs(struct fz_results *r, const struct fz_results_query *q,
		    void (*take)(void *arg, const struct fz_results_found *f), void *arg,
		    struct fz_error *err);
/* Pass the latest run and its report to `take`. Returns 1, or 0 if there is none. */
int fz_results_last(struct fz_results *r, const struct fz_results_query *q,
		    void (*take)(void *arg, const struct fz_results_found *f), void *arg,
		    struct fz_error *err);

/* The branches of a repository, those with most commits first; its metrics. */
int fz_results_branches(struct fz_results *r, const char *project, const char *repository,
			void (*take)(void *arg, struct fz_str name), void *arg,
			struct fz_error *err);
int fz_results_metrics(struct fz_results *r, const char *project, const char *repository,
		       void (*take)(void *arg, struct fz_str name), void *arg,
		       struct fz_error *err);

struct fz_results_point {
	int64_t id; /* of the commit */
	struct fz_str sha, subject;
	int64_t time;
};
/* The latest `most` commits of a branch, oldest first. */
int fz_results_commits(struct fz_results *r, const struct fz_results_query *q,
		       void (*take)(void *arg, const struct fz_results_point *p), void *arg,
		       struct fz_error *err);
/* A commit's count of a benchmark in one environment. */
struct fz_results_count {
	struct fz_str name, environment;
	double count, limit;
};
int fz_results_counts(struct fz_results *r, int64_t commit, const char *metric,
		      void (*take)(void *arg, const struct fz_results_count *c), void *arg,
		      struct fz_error *err);

/* An accepted change. */
struct fz_results_accepted {
	const char *name, *metric, *reason;
	const char *commit, *pull; /* valid for this commit and in this pull request */
	double change;             /* accepted increase, relative to the base */
	/* Identify the change if it is merged as another commit; "": unknown. */
	const char *into, *patch; /* target branch; digest of the change */
	double count[2];          /* of base and head; negative: unknown */
	const char *landed;       /* commit that merged it */
	int64_t time;             /* when it was accepted, seconds since 1970 */
};
/* Replaces an earlier one of the same benchmark, metric and commit. */
int fz_results_accept(struct fz_results *r, const char *project, const char *repository,
		      const struct fz_results_accepted *a, struct fz_error *err);
/* Update the patch and counts of a change in its pull request. */
int fz_results_follow(struct fz_results *r, const char *project, const char *repository,
		      const struct fz_results_accepted *a, struct fz_error *err);
/* Set a->landed, the commit that merged the change into a->into, unless already set. */
int fz_results_land(struct fz_results *r, const char *project, const char *repository,
		    const struct fz_results_accepted *a, struct fz_error *err);
/* Withdraw an acceptance. *ret: did it exist? */
int fz_results_refuse(struct fz_results *r, const char *project, const char *repository,
		      const struct fz_results_accepted *a, bool *ret, struct fz_error *err);
int fz_results_accepted(struct fz_results *r, const char *project, const char *repository,
			void (*take)(void *arg, const struct fz_results_accepted *a), void *arg,
			struct fz_error *err);

/* Delete runs received before a time (seconds since 1970) and their pages; values and accepted
 * changes are kept. */
int fz_results_forget(struct fz_results *r, int64_t before, struct fz_error *err);
