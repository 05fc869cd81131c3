/* SPDX-License-Identifier: MIT */
/* Which commit to try next between good ones and a bad one: git's own choice. */
#pragma once

#include "git/worktree.h"

struct fz_halving {
	char **list; /* full hashes: what halves the rest best comes first, the bad one is there */
	size_t n, cap;
};

/* What is reachable from a bad commit and from no good one (NULL-terminated). first_parent: merged
 * branches are left out. */
int fz_halving_find(const struct fz_repository *r, const char *bad, const char *const good[],
		    bool first_parent, struct fz_halving *ret, struct fz_error *err);
void fz_halving_release(struct fz_halving *h);
