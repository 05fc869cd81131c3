/* SPDX-License-Identifier: MIT */
/* Chooses the next commit to test between good ones and a bad one, like git bisect. */
#pragma once

#include "git/worktree.h"

struct fz_halving {
	char **list; /* full hashes, best one for halving first, including the bad one */
	size_t n, cap;
};

/* Lists commits reachable from a bad commit but not from any good one (NULL-terminated).
 * first_parent: without merged branches. */
int fz_halving_find(const struct fz_repository *r, const char *bad, const char *const good[],
		    bool first_parent, struct fz_halving *ret, struct fz_error *err);
void fz_halving_release(struct fz_halving *h);
