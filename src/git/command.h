/* SPDX-License-Identifier: MIT */
/* The only place that starts git.
 *
 * We may be run by git, in a hook, an alias or `git bisect run`: then the environment names a
 * repository and an index, which our git would use whatever its folder. So our git does not inherit
 * these.
 *
 * A repository may also configure programs for git to run (filters, hooks, fsmonitor, transports).
 * Queries run none of them.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "base/environ.h"
#include "base/error.h"

enum fz_git_call_kind {
	FZ_GIT_ACTS,      /* may run what the repository configures */
	FZ_GIT_ASKS,      /* query: runs no configured programs, writes nothing, stays local */
	FZ_GIT_ASKS_TREE, /* query that reads files of the checkout: also without filters */
};

struct fz_git_call {
	enum fz_git_call_kind kind;
	const char *folder;       /* working folder; NULL: the current one */
	const char *const *words; /* after "git"; ends with NULL */
	int out, errors;          /* descriptors for output; -1: inherited. Its input is empty. */
	const char *index;        /* instead of the repository's; NULL: the repository's */
};

/* Runs git; *ret_status is that of waitpid. */
int fz_git_call_run(const struct fz_git_call *c, int *ret_status, struct fz_error *err);
/* Executes git in a forked process. */
_Noreturn void fz_git_call_become(const struct fz_git_call *c);
/* Returns the first line of git's output; the caller frees. NULL if git fails: then *ret_why (may
 * be NULL) is its message. Both must fit in a pipe. */
int fz_git_call_line(enum fz_git_call_kind kind, const char *folder, const char *const words[],
		     char **ret, char **ret_why, struct fz_error *err);
/* Removes the repository from the environment of other programs, too, so that they do not use a
 * hook's repository in another tree. */
void fz_git_call_leave_hook(struct fz_environ *e);
