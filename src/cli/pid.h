/* SPDX-License-Identifier: MIT */
/* Parse process ids. */
#pragma once

#include <sys/types.h>

#include "base/error.h"

/* py-spy's spelling of the argument PID; its text goes to `word`. */
#define FZ_CLI_PID_ENTRY(word)                                                                   \
	{                                                                                        \
		.kind = FZ_OPT_STRING, .short_name = 'p', .long_name = "pid", .argument = "PID", \
		.help = "process id (py-spy's spelling)", .value = &(word), .hidden = true       \
	}

/* Parse a pid. ret_fd: gets a pidfd of the process; NULL: not needed. */
int fz_cli_pid(const char *text, pid_t *ret_pid, int *ret_fd, struct fz_error *err);
/* The short name of a process; "process" if it has none. */
void fz_cli_process_name(pid_t pid, char *out, size_t size);
