/* SPDX-License-Identifier: MIT */
/* Answers for programs: a server of the Model Context Protocol on two file descriptors. docs/mcp.md
 * describes it for users.
 *
 *   server.c     reads lines, starts a process for each call, waits for all of them
 *   protocol.c   lines become requests, results become lines
 *   tools.c      the table of tools; tool_*.c: one idea a file
 *   subject.c    recordings and comparisons that a call names, within what the user allows
 *   answer.c     an answer within its budget
 */
#pragma once

#include "base/error.h"

struct fz_mcp_options {
	const char *root;            /* files elsewhere are not read */
	const char *const *commands; /* that may be run, NULL-terminated: access.h */
	const char *setup;           /* see struct fz_compare_options; NULL */
	int timeout;                 /* seconds that a call may take */
};

/* Serve until the input ends. ret_stopped_by: the signal that ended it; 0: none did. Changes the
 * current folder to the root. Whatever clients send is answered, never an error of this call. */
int fz_mcp_serve(const struct fz_mcp_options *o, int in, int out, int *ret_stopped_by,
		 struct fz_error *err);
