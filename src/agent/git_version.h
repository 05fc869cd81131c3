/* SPDX-License-Identifier: MIT */
/* The commit that a process runs, as git knows it. */
#pragma once

#include "base/arena.h"
#include "base/base.h"

/* What checkouts were asked for, within a moment. */
struct fz_agent_checkouts {
	struct fz_agent_checkout *list;
	size_t n, cap;
};

/* Of the checkout around a folder, as it was at that time (since 1970, 0: now). The caller frees;
 * NULL: it is in none, or git knows no commit. */
char *fz_agent_commit_of(struct fz_agent_checkouts *c, const char *folder, int64_t at_unix_ns);
void fz_agent_checkouts_release(struct fz_agent_checkouts *c);
