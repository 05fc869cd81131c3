/* SPDX-License-Identifier: MIT */
/* Another revision of a git repository, checked out beside the user's own tree. */
#pragma once

#include <signal.h>

#include "base/buf.h"
#include "base/error.h"

/* The checkout around the current folder. Strings are owned by it. */
struct fz_repository {
	char *root;        /* its top folder */
	char *prefix;      /* from there to the current folder: "" or "sub/folder/" */
	bool dirty;        /* tracked files differ from HEAD */
	const char *index; /* borrowed: what fz_repository_git has for an index; NULL: its own */
};

int fz_repository_find(struct fz_repository *ret, struct fz_error *err);
void fz_repository_release(struct fz_repository *r);
/* The commit that a revision stands for, as a full hash (the caller frees). */
int fz_repository_commit(const struct fz_repository *r, const char *revision, char **ret,
			 struct fz_error *err);
/* Run git in the checkout, or in one of its worktrees (folder, else NULL). What it prints goes to
 * `out` and `why` (each may be NULL); ret_status is as waitpid gives it. */
int fz_repository_git(const struct fz_repository *r, const char *folder, const char *const words[],
		      struct fz_buf *out, struct fz_buf *why, int *ret_status,
		      struct fz_error *err);
/* The first line that git answers (the caller frees); NULL when it fails. */
char *fz_repository_ask(const struct fz_repository *r, const char *const words[]);
/* The URL of origin (the caller frees); NULL: there is none. */
char *fz_repository_remote(const struct fz_repository *r);
/* Does this clone lack older commits? */
bool fz_repository_is_shallow(const struct fz_repository *r);
/* The top of the checkout that a file or folder lies in; NULL: it lies in none. The caller frees.
 */
char *fz_checkout_top(const char *path);
/* Do two checkouts (their tops) share a repository? One is a worktree of the other, or both are. */
bool fz_checkout_alike(const char *a, const char *b);
/* Check the commit out in a new folder, which is a checkout as a clone's: its .git is a folder,
 * which some programs look for, and the repository keeps no note of it. Remove it whatever becomes
 * of this call. */
int fz_worktree_add(const struct fz_repository *r, const char *commit, const char *folder,
		    struct fz_error *err);
/* Also when it was made by half, and with all that was written into it. */
int fz_worktree_remove(const struct fz_repository *r, const char *folder, struct fz_error *err);

/* Worktrees live in scratch folders of a cache: a folder that is locked belongs to a living
 * process, and what a process that was killed left there is removed with the next one. */
struct fz_scratch {
	char *path;
	char *base; /* where worktrees lie, once that is chosen */
	int lock;   /* the folder, locked as long as it is open */
};
#define FZ_SCRATCH_NONE ((struct fz_scratch){ .lock = -1 })

/* A new empty folder in the cache, which is made if need be; dead ones are removed first. */
int fz_scratch_make(const char *cache, struct fz_scratch *ret, struct fz_error *err);
/* Choose where a worktree of the checkout `root` lies, so that paths in it are as long and as deep
 * as in that: what programs do depends on it. False: no such place can be made, and it is another.
 */
bool fz_scratch_place(struct fz_scratch *s, const char *root);
/* Remove it with all that is in it; worktrees in it must be gone. */
int fz_scratch_remove(struct fz_scratch *s, struct fz_error *err);

/* The same for one of a process that is gone, with its worktrees. */
void fz_scratch_clear(const char *path);

/* rm -r: links are removed, not followed. */
int fz_remove_folder(const char *path, struct fz_error *err);
