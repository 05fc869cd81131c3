/* SPDX-License-Identifier: MIT */
/* The commit that a process runs. */
#pragma once

#include "base/arena.h"
#include "base/base.h"

/* A cache of checkouts; valid for a short time. */
struct fz_agent_checkouts {
	struct fz_agent_checkout *list;
	size_t n, cap;
};

/* The commit of the checkout around a folder at that time (since 1970, 0: now). The caller frees.
 * NULL if the folder is in no checkout or git does not know the commit. */
char *fz_agent_commit_of(struct fz_agent_checkouts *c, const char *folder, int64_t at_unix_ns);
void fz_agent_checkouts_release(struct fz_agent_checkouts *c);
