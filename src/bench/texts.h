/* SPDX-License-Identifier: MIT */
/* The source of what a command executed in a checkout, for reports and for the line of a change.
 * Only files of the repository are read, because they contain the change, and libraries would make
 * each stored recording larger. */
#pragma once

#include "git/worktree.h"
#include "profile/profile.h"

/* The top of the tree in a recording's file names; the caller frees. NULL if unknown. */
char *fz_texts_root(const struct fz_repository *r, const struct fz_profile *p);
/* Add the text of the files below root: as committed, or with commit == NULL from the disk. */
void fz_texts_add(const struct fz_repository *r, const char *commit, const char *root,
		  struct fz_profile *p);
