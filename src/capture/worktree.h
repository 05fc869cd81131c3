/* SPDX-License-Identifier: MIT */
/* Another revision of a git repository, checked out beside the user's own tree. */
#pragma once

#include <signal.h>

#include "base/error.h"
#include "capture/launch.h"

/* The checkout around the current folder. All strings are owned by it. */
struct fz_repository {
	char *root;   /* its top folder */
	char *prefix; /* from there to the current folder: "" or "sub/folder/" */
	bool dirty;   /* tracked files differ from HEAD */
};

int fz_repository_find(struct fz_repository *ret, struct fz_error *err);
void fz_repository_release(struct fz_repository *r);
/* The commit that a revision stands for, as a full hash (the caller frees). */
int fz_repository_commit(const struct fz_repository *r, const char *revision, char **ret,
			 struct fz_error *err);
/* Check the commit out in a new folder. Remove it whatever becomes of this call. */
int fz_worktree_add(const struct fz_repository *r, const char *commit, const char *folder,
		    struct fz_error *err);
/* Also when it was made by half, and with all that was written into it. */
int fz_worktree_remove(const struct fz_repository *r, const char *folder, struct fz_error *err);

/* Start a program, wait for its end; ret_status is as waitpid gives it. */
int fz_launch_and_wait(char *const argv[], const sigset_t *mask,
		       const struct fz_launch_place *place, int *ret_status, struct fz_error *err);
/* rm -r: links are removed, not followed. */
int fz_remove_folder(const char *path, struct fz_error *err);
