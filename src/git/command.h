/* SPDX-License-Identifier: MIT */
/* Every git that we start, started in one place.
 *
 * Whoever runs us may himself be run by git, in a hook, an alias or `git bisect run`: then the
 * environment names a repository and an index, and a git of ours would work on those, whatever
 * folder it is started in. So no git of ours inherits that.
 *
 * A repository may also name programs for git to run (filters, hooks, fsmonitor, how to reach a
 * remote). Where we only ask, none of them is.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "base/environ.h"
#include "base/error.h"

enum fz_git_call_kind {
	FZ_GIT_ACTS,      /* may do what the repository says */
	FZ_GIT_ASKS,      /* runs nothing that the repository names, writes nothing, stays local */
	FZ_GIT_ASKS_TREE, /* the same where files of the checkout are read: without its filters */
};

struct fz_git_call {
	enum fz_git_call_kind kind;
	const char *folder;       /* where it runs; NULL: here */
	const char *const *words; /* after "git"; ends with NULL */
	int out, errors;          /* where it prints; -1: as we do. Its input is empty. */
	const char *index;        /* instead of the repository's; NULL: that */
};

int fz_git_call_start(const struct fz_git_call *c, pid_t *ret, struct fz_error *err);
/* ret_status is as waitpid gives it. */
int fz_git_call_run(const struct fz_git_call *c, int *ret_status, struct fz_error *err);
/* Be that git, in a process that was forked for it. */
_Noreturn void fz_git_call_become(const struct fz_git_call *c);
/* The first line that git answers; the caller frees. NULL when it fails: then *ret_why (may be
 * NULL) is what it says about that. Both fit a pipe. */
int fz_git_call_line(enum fz_git_call_kind kind, const char *folder, const char *const words[],
		     char **ret, char **ret_why, struct fz_error *err);
/* Other programs with this environment are told of no repository either: what a hook was told must
 * not be taken for that of another tree. */
void fz_git_call_leave_hook(struct fz_environ *e);
