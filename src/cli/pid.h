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

/* ret_fd: a pidfd of the process, or NULL when none is wanted. */
int fz_cli_pid(const char *text, pid_t *ret_pid, int *ret_fd, struct fz_error *err);
/* The short name of a process; "process" when it has none. */
void fz_cli_process_name(pid_t pid, char *out, size_t size);
