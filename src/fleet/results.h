/* SPDX-License-Identifier: MIT */
/* What gates said of benchmarks: runs of `fizeau ci` by repository, values by commit, and changes
 * that somebody acknowledged. Always in a file of SQLite's, whatever keeps the profiles: there are
 * a few runs an hour, not thousands of pushes a second.
 *
 *   repository <- commit {sha, branch, time} <- value {metric, name, environment}
 *              <- run {id, pull, head, base, report} <- page
 *              <- accepted {name, metric, up to, reason, commit, pull}
 *
 * Every question and every change is about one project. A handle belongs to one thread at a time;
 * several may have the same file open. Texts that are handed out live until the callback returns.
 * Errors are as fleet.h says of fz_fleet_put.
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

/* A file that is made where it is missing, or has profiles already. */
int fz_results_open(const char *path, bool writing, struct fz_results **ret, struct fz_error *err);
void fz_results_close(struct fz_results *r);
void fz_results_closep(struct fz_results **r); /* for fz_auto */

struct fz_results_commit {
	const char *sha, *branch, *subject; /* sha "": none; branch "": of none that is followed */
	int64_t time;                       /* seconds since 1970 */
};

struct fz_results_value {
	struct fz_str name, metric;
	bool of_base;
	double count, limit; /* limit: the smallest relative change that counts */
};

/* A run that comes in. "" is a text that is not there. */
struct fz_results_run {
	const char *project, *repository, *id;
	const char *commit_pages; /* what a hash is appended to for its page */
	const char *pull;         /* number or name of the pull request */
	struct fz_results_commit head, base;
	const char *branch;      /* that is built, or that the pull request is of */
	const char *into;        /* that it goes into */
	const char *patch;       /* a digest of what it changes */
	const char *environment; /* in which it was counted, as a key */
	int exit;
	int64_t received; /* when it was made, by our clock; seconds since 1970 */
	const char *headline;
	struct fz_str report; /* report.json */
	const struct fz_results_value *values;
	size_t value_n;
};
/* All of it, or nothing where a run of that id is there: then *ret_new is false. */
int fz_results_put(struct fz_results *r, const struct fz_results_run *run, int64_t *ret_id,
		   bool *ret_new, struct fz_error *err);
/* The run of that id. FZ_EINPUT: there is none. */
int fz_results_find(struct fz_results *r, const char *project, const char *repository,
		    const char *id, int64_t *ret, struct fz_error *err);
/* What is said of a run, once a change of it was acknowledged. */
int fz_results_judge(struct fz_results *r, int64_t run, int exit, const char *headline,
		     struct fz_error *err);
/* A page of a run, which stays as it came first. FZ_EINPUT: there is no such run. */
int fz_results_put_page(struct fz_results *r, const char *project, int64_t run, const char *name,
			struct fz_str page, struct fz_error *err);
/* 1: it is in ret; 0: there is none. */
int fz_results_page(struct fz_results *r, const char *project, int64_t run, const char *name,
		    struct fz_buf *ret, struct fz_error *err);
int fz_results_pages(struct fz_results *r, int64_t run, void (*take)(void *arg, struct fz_str name),
		     void *arg, struct fz_error *err);

struct fz_results_repository {
	struct fz_str name;
	int64_t commits, pulls, benchmarks, last; /* last: when a run came, seconds since 1970 */
	struct fz_str headline;                   /* of the last run that is of no pull request */
	int exit;                                 /* likewise; -1: there is none */
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
/* What is asked for; NULL: whatever it is. */
struct fz_results_query {
	const char *project, *repository;
	const char *pull, *branch, *head; /* head: a hash, or 7 digits of it or more */
	int64_t run;                      /* 0: any */
	bool pulls;                       /* the last run of each pull request only */
	unsigned most;
};
/* The latest first. */
int fz_results_runs(struct fz_results *r, const struct fz_results_query *q,
		    void (*take)(void *arg, const struct fz_results_found *f), void *arg,
		    struct fz_error *err);
/* The latest with its report; 1: it was handed to take, 0: there is none. */
int fz_results_last(struct fz_results *r, const struct fz_results_query *q,
		    void (*take)(void *arg, const struct fz_results_found *f), void *arg,
		    struct fz_error *err);

/* Branches by how many of their commits are known, or metrics, of a repository. */
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
/* The latest `most` commits of a branch, the oldest of them first. */
int fz_results_commits(struct fz_results *r, const struct fz_results_query *q,
		       void (*take)(void *arg, const struct fz_results_point *p), void *arg,
		       struct fz_error *err);
/* What was counted of a commit by a metric; several environments may have counted it. */
struct fz_results_count {
	struct fz_str name, environment;
	double count, limit;
};
int fz_results_counts(struct fz_results *r, int64_t commit, const char *metric,
		      void (*take)(void *arg, const struct fz_results_count *c), void *arg,
		      struct fz_error *err);

/* A change that is meant. */
struct fz_results_accepted {
	const char *name, *metric, *reason;
	const char *commit, *pull; /* where it holds: with that commit, in that pull request */
	double change;             /* up to so much more, relative to the base */
	/* By which it is known where that commit never arrives; "": by none of them. */
	const char *into, *patch; /* branch that it goes into; a digest of the change's text */
	double count[2];          /* of base and head; negative: not known */
	const char *landed;       /* the commit in which it arrived there */
	int64_t time;             /* when that was said, seconds since 1970 */
};
/* The same benchmark, metric and commit has one: the last. */
int fz_results_accept(struct fz_results *r, const char *project, const char *repository,
		      const struct fz_results_accepted *a, struct fz_error *err);
/* In that pull request the change is now this patch and these counts. */
int fz_results_follow(struct fz_results *r, const char *project, const char *repository,
		      const struct fz_results_accepted *a, struct fz_error *err);
/* It arrived in a->landed on the branch a->into: the first that is said stays. */
int fz_results_land(struct fz_results *r, const char *project, const char *repository,
		    const struct fz_results_accepted *a, struct fz_error *err);
/* It holds no longer; *ret tells whether it did. */
int fz_results_refuse(struct fz_results *r, const char *project, const char *repository,
		      const struct fz_results_accepted *a, bool *ret, struct fz_error *err);
int fz_results_accepted(struct fz_results *r, const char *project, const char *repository,
			void (*take)(void *arg, const struct fz_results_accepted *a), void *arg,
			struct fz_error *err);

/* Forget reports and pages of runs that came before that time (seconds since 1970); values and what
 * was acknowledged stay. */
int fz_results_forget(struct fz_results *r, int64_t before, struct fz_error *err);
