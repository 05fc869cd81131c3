/* SPDX-License-Identifier: MIT */
/* Whole files that a server keeps in addition to its store: recordings as received, and the counts
 * of commits by `fizeau ci`.
 *
 *   FOLDER/index.db   {project, kind, name}, description -> file
 *   FOLDER/3f09...    32 random hexadecimal digits: no name from a client is part of a path;
 *                     or BUCKET/3f09..., an object
 *
 * Each project has a limit of bytes for each kind; the oldest files are removed first. Only one
 * process may use a folder. All functions may be called from several threads at once.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

struct fz_files;

enum fz_files_kind { FZ_FILES_RECORDINGS, FZ_FILES_COUNTS };

/* Terminated texts, borrowed. */
struct fz_file {
	const char *project;
	enum fz_files_kind kind;
	const char *name;  /* unique for its kind and project: a push's id, "COMMIT/KEY" */
	const char *group; /* a service, a commit */
	const char *version, *host, *labels; /* of a recording, as in struct fz_fleet_push */
	int64_t began_unix_ns; /* start of the time that it covers; retention depends on it */
	int64_t came_unix_ns;
	int64_t bytes;
};

/* Creates a missing folder. bucket: URL of a bucket (fleet/bucket.h) for the files; NULL: they are
 * in the folder. Files in a previous place are not found. limit: bytes for each kind and project,
 * counted in blocks of 4 KiB as on disk. */
int fz_files_open(const char *folder, const char *bucket, uint64_t limit, struct fz_files **ret,
		  struct fz_error *err);
void fz_files_close(struct fz_files *f); /* NULL is allowed */

/* On success the file is on disk. An existing file of that name is kept unless `replace`. */
int fz_files_put(struct fz_files *f, const struct fz_file *file, struct fz_str bytes, bool replace,
		 struct fz_error *err);

struct fz_files_query {
	const char *project;
	enum fz_files_kind kind;
	const char *name, *group, *version; /* NULL: any */
	int64_t from, until;                /* ns since 1970: from <= began < until */
	int64_t most;
};

/* Latest first. `take` must not call functions of this module. */
int fz_files_list(struct fz_files *f, const struct fz_files_query *q,
		  void (*take)(void *arg, const struct fz_file *file), void *arg,
		  struct fz_error *err);
/* Opens for reading; a later removal does not matter. The caller closes. FZ_EINPUT if there is no
 * such file, FZ_EAGAIN if the bucket does not respond. */
int fz_files_read(struct fz_files *f, const char *project, enum fz_files_kind kind,
		  const char *name, int *ret_fd, uint64_t *ret_bytes, struct fz_error *err);
/* Forget files that began earlier; fz_files_tidy removes their bytes. */
int fz_files_forget(struct fz_files *f, int64_t before_unix_ns, struct fz_error *err);
/* Remove the bytes of forgotten files. fz_files_put does so, too, but ignores errors; a failed
 * removal is retried later. */
int fz_files_tidy(struct fz_files *f, struct fz_error *err);
