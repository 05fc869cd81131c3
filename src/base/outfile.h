/* SPDX-License-Identifier: MIT */
/* The target of an output path, and the temporary file that replaces it when complete; used by
 * io.h.
 *
 * Follows links and writes to pipes and devices, unless another user created them in a
 * world-writable folder such as /tmp, where they could redirect or read our output.
 */
#pragma once

#include "base.h"
#include "error.h"

struct fz_outfile {
	char *path;      /* after links */
	char *temporary; /* in the same folder, until complete; NULL: written directly */
	bool replaces;   /* an existing file is replaced */
};

/* Follows links. *ret_direct: not a regular file (or only known by its descriptor), so it must be
 * written directly. */
int fz_outfile_resolve(const char *path, char **ret, bool *ret_direct, struct fz_error *err);
/* Opens a path for writing. A new file has the mode of the umask; a replacement has the old mode
 * and, if permitted, owner and group. Other hard links keep the old content. */
int fz_outfile_open(struct fz_outfile *f, const char *path, int *ret_fd, struct fz_error *err);
/* Closes fd and replaces the target. False with errno set. */
bool fz_outfile_commit(struct fz_outfile *f, int fd);
/* Releases it; removes an uncommitted file. */
void fz_outfile_release(struct fz_outfile *f);
