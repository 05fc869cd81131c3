/* SPDX-License-Identifier: MIT */
/* Whole files that a server keeps beside its store: recordings as they came, and what `fizeau ci`
 * counted of commits.
 *
 *   FOLDER/index.db   what there is: {project, kind, name}, what it is of -> file
 *   FOLDER/3f09...    32 hexadecimal digits, drawn: no name that anybody sends is part of a path;
 *                     or BUCKET/3f09..., an object
 *
 * Each project has so many bytes of each kind, and what came first goes first. One process uses a
 * folder. All functions may be called from several threads at once.
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
	const char *name;  /* its own, of its kind in its project: a push's id, "COMMIT/KEY" */
	const char *group; /* a service, a commit */
	const char *version, *host, *labels; /* of a recording, as in struct fz_fleet_push */
	int64_t began_unix_ns;               /* what it shows; retention is by this */
	int64_t came_unix_ns;
	int64_t bytes;
};

/* The folder is made where it is missing. bucket: the address of one (fleet/bucket.h), in which the
 * files are; NULL: they are in the folder. What was kept in one place is not looked for in another.
 * limit: bytes of a kind and project, in blocks of 4 KiB as they lie on a disk. */
int fz_files_open(const char *folder, const char *bucket, uint64_t limit, struct fz_files **ret,
		  struct fz_error *err);
void fz_files_close(struct fz_files *f); /* NULL is allowed */

/* It is on the disk when this returns 0. What is there under that name stays, unless `replace`. */
int fz_files_put(struct fz_files *f, const struct fz_file *file, struct fz_str bytes, bool replace,
		 struct fz_error *err);

struct fz_files_query {
	const char *project;
	enum fz_files_kind kind;
	const char *name, *group, *version; /* NULL: any */
	int64_t from, until;                /* ns since 1970: from <= began < until */
	int64_t most;
};

/* Latest first. `take` must not call back. */
int fz_files_list(struct fz_files *f, const struct fz_files_query *q,
		  void (*take)(void *arg, const struct fz_file *file), void *arg,
		  struct fz_error *err);
/* Open for reading, whatever becomes of it meanwhile; the caller closes. FZ_EINPUT: it is not
 * there; FZ_EAGAIN: the bucket does not answer. */
int fz_files_read(struct fz_files *f, const char *project, enum fz_files_kind kind,
		  const char *name, int *ret_fd, uint64_t *ret_bytes, struct fz_error *err);
/* Forget what began earlier; its bytes go when the rest is tidied. */
int fz_files_forget(struct fz_files *f, int64_t before_unix_ns, struct fz_error *err);
/* Remove the bytes of what is not kept any more. To put does, too, but tells nobody when a place
 * does not let it; what stays is tried again. */
int fz_files_tidy(struct fz_files *f, struct fz_error *err);
