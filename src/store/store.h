/* SPDX-License-Identifier: MIT */
/* The local store: recordings of one checkout in a folder ".fizeau" at the git root.
 *
 * A recording is one file, named by time (UTC), program and pid of the recorder:
 * 20261120-203000-123-demo.py-4711.fz, so names sort by time. There is no index; everything is read
 * from the files.
 *
 * A recorder locks its file until it is complete; the kernel drops the lock when the process ends.
 * A locked file has no number "@N" yet. An unlocked incomplete file is from a killed recorder.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "base/error.h"
#include "base/str.h"
#include "profile/profile.h"

/* The store's folder for a working folder: at its git root, else in it. It may not exist yet. The
 * caller frees. */
char *fz_store_folder(const char *cwd);

/* Creates the folder if needed, and a new locked file for writing. The caller frees the path, and
 * closes the file when the recording is complete. `program` becomes part of the name. */
int fz_store_create(const char *folder, const char *program, char **ret_path, int *ret_fd,
		    struct fz_error *err);

/* Rewrites a recording of the store. */
int fz_store_save(const struct fz_profile *p, const char *path, struct fz_error *err);
/* Removes a recording; no error if it does not exist. */
int fz_store_remove(const char *path, struct fz_error *err);

/* Paths of recordings, newest first. */
struct fz_store_list {
	char **paths;
	size_t n, cap;
};

/* Removes an unused file, and the folder if it has no recordings. */
void fz_store_discard(const char *path);

/* Lists finished recordings, and unfinished ones in *ret_open (may be NULL). A missing folder is an
 * empty store. */
int fz_store_list(const char *folder, struct fz_store_list *ret, struct fz_store_list *ret_open,
		  struct fz_error *err);
/* Likewise for the store of the current folder. */
int fz_store_list_here(struct fz_store_list *ret, struct fz_store_list *ret_open,
		       struct fz_error *err);
void fz_store_list_release(struct fz_store_list *l);

/* Parsed name of a recording. */
struct fz_store_name {
	int64_t start_unix_ns;
	struct fz_str program; /* a part of the path */
	pid_t pid;             /* of the recorder */
};
/* False if it is not in our form. */
bool fz_store_parse_name(const char *path, struct fz_store_name *ret);

/* Resolves a user's name of a profile to a path (the caller frees): a file; "-"; "@N", the N-th
 * latest recording; a git revision, the latest recording of its commit. */
int fz_store_resolve(const char *name, char **ret_path, struct fz_error *err);
/* Finds the last two recordings of the same program with the same settings, which `fizeau diff`
 * compares without arguments. *ret_namesakes: only their names agree, see pair.c. */
int fz_store_last_two(char **ret_base, char **ret_head, bool *ret_namesakes, struct fz_error *err);

/* Loads the facts of a recording, without samples if the format allows. */
int fz_store_facts(const char *path, struct fz_profile **ret, struct fz_error *err);
