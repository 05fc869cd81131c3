/* SPDX-License-Identifier: MIT */
/* Of which repository, branch and pull request a run of `fizeau ci` is: what git knows, and what
 * the service that runs us says in variables (GitHub, GitLab). For a server that keeps runs of
 * many. */
#pragma once

#include "git/worktree.h"

struct fz_ci_source_commit {
	char *hash; /* NULL: not a commit */
	char *subject;
	int64_t time; /* when it was committed, seconds since 1970 */
};

/* All texts are owned; "" is what nobody says. */
struct fz_ci_source {
	char *repository;   /* "github.com/me/project" */
	char *commit_pages; /* what a hash is appended to for its page (git/forge.h) */
	char *pull;         /* number of the pull request */
	char *branch;       /* that is built, or that the pull request is of */
	char *into;         /* that the base is of */
	char *patch;        /* a digest of what is changed, whichever commits do; of text alone */
	struct fz_ci_source_commit head, base;
};

/* What the user says; NULL: what is found. */
struct fz_ci_source_options {
	const char *repository, *pull;
	const char *into; /* a revision, which need not be a branch */
};

/* head: a commit; base: likewise, or NULL. To be released whatever becomes of it.. */
int fz_ci_source_find(const struct fz_repository *r, const char *head, const char *base,
		      const struct fz_ci_source_options *o, struct fz_ci_source *ret,
		      struct fz_error *err);
/* Page of a commit's files at its forge (git/forge.h); the caller frees it. NULL: no such page. */
char *fz_ci_source_files(const struct fz_repository *r, const char *commit);
void fz_ci_source_release(struct fz_ci_source *s);
