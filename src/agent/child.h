/* SPDX-License-Identifier: MIT */
/* Runs another program as root on behalf of others: with the rights of the owner of the files it
 * reads, with a timeout and a limited output. */
#pragma once

#include <sys/types.h>

#include "base/buf.h"

struct fz_agent_question {
	uid_t user; /* who asks, when we are root */
	gid_t group;
	const char *folder; /* where; NULL: here */
	/* Become the program, which prints to `out`; runs in a process of its own. */
	void (*become)(const void *arg, int out);
	const void *arg;
};

/* What it printed, appended to *ret; false: it failed, or was too slow. */
bool fz_agent_ask(const struct fz_agent_question *q, struct fz_buf *ret);
