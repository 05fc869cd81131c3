/* SPDX-License-Identifier: MIT */
/* Answers for programs: a server of the Model Context Protocol on two file descriptors. docs/mcp.md
 * describes it for users.
 *
 *   server.c     reads lines, starts a process for each call, waits for all of them
 *   protocol.c   parses requests, writes responses
 *   tools.c      the table of tools; each is in a file tool_*.c
 *   subject.c    recordings and comparisons that a call names, if the user allows it
 *   answer.c     an answer within its budget
 */
#pragma once

#include "base/error.h"

struct fz_mcp_options {
	const char *root;            /* only files below it are read */
	const char *const *commands; /* that may be run (access.h), NULL-terminated */
	const char *setup;           /* see struct fz_compare_options; NULL */
	int timeout;                 /* of a call, in seconds */
};

/* Serve until the input ends. ret_stopped_by: the signal that ended it; 0: none. Changes the
 * current folder to the root. Invalid input is answered and is not an error of this call. */
int fz_mcp_serve(const struct fz_mcp_options *o, int in, int out, int *ret_stopped_by,
		 struct fz_error *err);
