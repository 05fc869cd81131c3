/* SPDX-License-Identifier: MIT */
/* Checks out other revisions of a git repository outside of the user's tree. */
#pragma once

#include <signal.h>

#include "base/buf.h"
#include "base/error.h"

/* The checkout around the current folder. Owns its strings. */
struct fz_repository {
	char *root;        /* its top folder */
	char *prefix;      /* path from root to the current folder: "" or "sub/folder/" */
	bool dirty;        /* tracked files differ from HEAD, or git failed to compare them */
	const char *index; /* borrowed: index for fz_repository_git; NULL: the repository's */
};

int fz_repository_find(struct fz_repository *ret, struct fz_error *err);
void fz_repository_release(struct fz_repository *r);
/* Resolves a revision to a full commit hash (the caller frees). */
int fz_repository_commit(const struct fz_repository *r, const char *revision, char **ret,
			 struct fz_error *err);
/* Runs git in the checkout, or in one of its worktrees (folder, else NULL). Its output goes to
 * `out` and its errors to `why` (each may be NULL); *ret_status is that of waitpid. */
int fz_repository_git(const struct fz_repository *r, const char *folder, const char *const words[],
		      struct fz_buf *out, struct fz_buf *why, int *ret_status,
		      struct fz_error *err);
/* Returns the first line of git's output (the caller frees); NULL on failure. */
char *fz_repository_query(const struct fz_repository *r, const char *const words[]);
/* The URL of origin (the caller frees), or NULL. */
char *fz_repository_remote(const struct fz_repository *r);
/* The path of a file that git neither tracks nor ignores (the caller frees), or NULL. */
char *fz_repository_untracked(const struct fz_repository *r);
/* Whether this clone lacks older commits. */
bool fz_repository_is_shallow(const struct fz_repository *r);
/* The top of the checkout around a file or folder, or NULL. The caller frees. */
char *fz_checkout_top(const char *path);
/* Whether two checkouts (by their tops) share a repository, as worktrees. */
bool fz_checkout_share_repository(const char *a, const char *b);
/* Checks a commit out in a new folder, which looks like a clone: its .git is a folder, as some
 * programs require, and it is not registered in the repository. Call fz_worktree_remove even if
 * this fails. */
int fz_worktree_add(const struct fz_repository *r, const char *commit, const char *folder,
		    struct fz_error *err);
/* Removes a worktree, even an incomplete one, with all its files. */
int fz_worktree_remove(const struct fz_repository *r, const char *folder, struct fz_error *err);

/* Scratch folders for worktrees in a cache: a locked folder belongs to a running process; folders
 * of killed processes are removed when a new one is created. */
struct fz_scratch {
	char *path;
	char *base; /* folder of worktrees, once chosen */
	int lock;   /* descriptor of the folder, which holds the lock */
};
#define FZ_SCRATCH_NONE ((struct fz_scratch){ .lock = -1 })

/* Creates an empty folder in the cache, and the cache if needed; removes abandoned ones first. */
int fz_scratch_make(const char *cache, struct fz_scratch *ret, struct fz_error *err);
/* Chooses the place of a worktree of the checkout `root` such that paths have the same length and
 * depth, because the behaviour of programs depends on it. False if that is impossible; then it is
 * elsewhere.
 */
bool fz_scratch_place(struct fz_scratch *s, const char *root);
/* Removes it with its contents; remove worktrees first. */
int fz_scratch_remove(struct fz_scratch *s, struct fz_error *err);

/* Removes an abandoned one with its worktrees. */
void fz_scratch_clear(const char *path);

/* rm -r: links are removed, not followed. */
int fz_remove_folder(const char *path, struct fz_error *err);
