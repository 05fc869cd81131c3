/* SPDX-License-Identifier: MIT */
/* Repository, branch and pull request of a run of `fizeau ci`, from git and from variables of the
 * CI service (GitHub, GitLab). A server that stores runs of many repositories needs them. */
#pragma once

#include "git/worktree.h"

struct fz_ci_source_commit {
	char *hash; /* NULL: not a commit */
	char *subject;
	int64_t time; /* when it was committed, seconds since 1970 */
};

/* All texts are owned; "" if unknown. */
struct fz_ci_source {
	char *repository;   /* "github.com/me/project" */
	char *commit_pages; /* append a hash for the commit's page (git/forge.h) */
	char *pull;         /* number of the pull request */
	char *branch;       /* the built one, or that of the pull request */
	char *into;         /* the branch of the base */
	char *patch;        /* digest of the changed text, independent of commits */
	struct fz_ci_source_commit head, base;
};

/* Values from the user; NULL: to be found. */
struct fz_ci_source_options {
	const char *repository, *pull;
	const char *into; /* a revision, which need not be a branch */
};

/* head: a commit; base: likewise, or NULL. Release *ret even on failure. */
int fz_ci_source_find(const struct fz_repository *r, const char *head, const char *base,
		      const struct fz_ci_source_options *o, struct fz_ci_source *ret,
		      struct fz_error *err);
/* Page of a commit's files at its forge (git/forge.h); the caller frees it. NULL if there is none.
 */
char *fz_ci_source_files(const struct fz_repository *r, const char *commit);
void fz_ci_source_release(struct fz_ci_source *s);
