/* SPDX-License-Identifier: MIT */
/* Runs another program with the rights of the owner of the files it reads (if we are root), a
 * timeout and limited output. */
#pragma once

#include <sys/types.h>

#include "base/buf.h"

struct fz_agent_question {
	uid_t user; /* to run as, if we are root */
	gid_t group;
	const char *folder; /* to run in; NULL: ours */
	/* Called in the child: exec the program, with `out` for its output. */
	void (*become)(const void *arg, int out);
	const void *arg;
};

/* Append its output to *ret; false if it failed or was too slow. */
bool fz_agent_run_child(const struct fz_agent_question *q, struct fz_buf *ret);
