/* SPDX-License-Identifier: MIT */
/* The file that a name stands for when something is to be written, and the one that takes its
 * place when all is written: what io.h does with them.
 *
 * Links are followed and pipes and devices written to, unless a stranger put them where all may
 * write, such as /tmp: nobody gets to choose what we overwrite, or to read what we write.
 */
#pragma once

#include "base.h"
#include "error.h"

struct fz_outfile {
	char *path;      /* after links */
	char *temporary; /* beside it, until it is complete; NULL: written to directly */
	bool replaces;   /* there is something to lose */
};

/* Follow links. `direct`: is no regular file (or known by its descriptor only), so a rename would
 * not do. */
int fz_outfile_resolve(const char *path, char **ret, bool *ret_direct, struct fz_error *err);
/* Open it for writing. A new file has the mode that the umask gives it; one that replaces another
 * has its mode, and its owner and group where that is allowed; other names of the old one (hard
 * links) keep the old content. */
int fz_outfile_open(struct fz_outfile *f, const char *path, int *ret_fd, struct fz_error *err);
/* All is written to fd, which is closed: it becomes the file. False with errno set. */
bool fz_outfile_commit(struct fz_outfile *f, int fd);
/* Forget it, and remove what was not committed. */
void fz_outfile_release(struct fz_outfile *f);
