/* SPDX-License-Identifier: MIT */
/* The local store: recordings of one checkout in a folder ".fizeau" at the git root.
 *
 * A recording is one file, named by when it was made, what ran and its process:
 * 20261120-203000-123-demo.py-4711.fz (UTC), so that the order of names is the order in time.
 * Nothing else is kept: every question is answered from the files themselves.
 */
#pragma once

#include "base/base.h"
#include "base/error.h"
#include "base/str.h"
#include "profile/profile.h"

/* The store's folder for a working folder: at its git root, else in it. It may not exist yet. */
char *fz_store_folder(const char *cwd);

/* Make the folder where it is missing, and a new file in it that is open for writing. The caller
 * frees the path and closes the file. `program` becomes part of the name. */
int fz_store_create(const char *folder, const char *program, char **ret_path, int *ret_fd,
		    struct fz_error *err);

/* Paths of all recordings, newest first. */
struct fz_store_list {
	char **paths;
	size_t n, cap;
};

/* A folder that is missing is an empty store. */
int fz_store_list(const char *folder, struct fz_store_list *ret, struct fz_error *err);
void fz_store_list_release(struct fz_store_list *l);

/* What a user may write for a profile, as the path of a file (the caller frees):
 * a file; "-"; "@N", the N-th latest recording; a git revision, the latest made at its commit. */
int fz_store_resolve(const char *name, char **ret_path, struct fz_error *err);
/* The last two recordings of the same program; what `fizeau diff` compares without arguments. */
int fz_store_last_two(char **ret_base, char **ret_head, struct fz_error *err);

/* The facts of a recording, without its samples as far as its format allows. */
int fz_store_facts(const char *path, struct fz_profile **ret, struct fz_error *err);
