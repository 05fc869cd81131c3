/* SPDX-License-Identifier: MIT */
/* The local store: recordings of one checkout in a folder ".fizeau" at the git root.
 *
 * A recording is one file, named by when it was made, what ran and its process:
 * 20261120-203000-123-demo.py-4711.fz (UTC), so that the order of names is the order in time.
 * Nothing else is kept: every question is answered from the files themselves.
 *
 * Who makes a recording holds a lock on its file until it is whole; the kernel drops the lock with
 * the process, however that ends. A file with a lock has no number yet: what is being made moves no
 * "@N". One without a lock that is not whole was left behind by a recorder that was killed.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "base/error.h"
#include "base/str.h"
#include "profile/profile.h"

/* The store's folder for a working folder: at its git root, else in it. It may not exist yet. */
char *fz_store_folder(const char *cwd);

/* Make the folder where it is missing, and a new file in it that is open for writing and locked.
 * The caller frees the path, and closes the file when the recording is whole. `program` becomes
 * part of the name. */
int fz_store_create(const char *folder, const char *program, char **ret_path, int *ret_fd,
		    struct fz_error *err);

/* Write a recording of the store anew. */
int fz_store_save(const struct fz_profile *p, const char *path, struct fz_error *err);
/* One that is gone already is no error. */
int fz_store_remove(const char *path, struct fz_error *err);

/* Paths of all recordings, newest first. */
/* Paths of recordings, newest first. */
struct fz_store_list {
	char **paths;
	size_t n, cap;
};

/* Remove a file of it that came to nothing, and the folder if that holds no recording. */
void fz_store_discard(const char *path);

/* Those that are done, and those that are still being made (NULL: who asks does not care). A folder
 * that is missing is an empty store. */
int fz_store_list(const char *folder, struct fz_store_list *ret, struct fz_store_list *ret_open,
		  struct fz_error *err);
/* The same of the store for the current folder. */
int fz_store_list_here(struct fz_store_list *ret, struct fz_store_list *ret_open,
		       struct fz_error *err);
void fz_store_list_release(struct fz_store_list *l);

/* What the name of a recording says. */
struct fz_store_name {
	int64_t start_unix_ns;
	struct fz_str program; /* a part of the path */
	pid_t pid;             /* of who made it */
};
/* False: it was not named by us. */
bool fz_store_parse_name(const char *path, struct fz_store_name *ret);

/* What a user may write for a profile, as the path of a file (the caller frees):
 * a file; "-"; "@N", the N-th latest recording; a git revision, the latest made at its commit. */
int fz_store_resolve(const char *name, char **ret_path, struct fz_error *err);
/* The last two recordings of the same program, made in the same way; what `fizeau diff` compares
 * without arguments. ret_namesakes: that is all they have in common, see pair.c. */
int fz_store_last_two(char **ret_base, char **ret_head, bool *ret_namesakes, struct fz_error *err);

/* The facts of a recording, without its samples as far as its format allows. */
int fz_store_facts(const char *path, struct fz_profile **ret, struct fz_error *err);
