/* SPDX-License-Identifier: MIT */
/* Parses process ids, and suggests processes below one that does no work itself (a server's parent,
 * a shell, an init, the loader of a packed program). */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/buf.h"
#include "record/python/python.h"

/* py-spy's spelling of the argument PID; its text goes to `word`. */
#define FZ_CLI_PID_ENTRY(word)                                                                     \
	FZ_OPT(STRING, "pid", "PID", &(word), "process id (py-spy's spelling)", .short_name = 'p', \
	       .hidden = true)

/* Parse a pid. ret_fd: gets a pidfd of the process; NULL: not needed. */
int fz_cli_pid(const char *text, pid_t *ret_pid, int *ret_fd, struct fz_error *err);
/* The short name of a process; "process" if it has none. */
void fz_cli_process_name(pid_t pid, char *out, size_t size);

/* If all threads of the process wait and it has Python children, print the command to use instead.
 * several: the command accepts several ids; else it has --subprocesses. */
void fz_cli_hint_workers(const char *command, pid_t pid, const struct fz_python_glance *glance,
			 bool several);

bool fz_cli_is_python(pid_t pid);
/* Store at most `max` descendants that run Python, nearest first; returns their number. */
size_t fz_cli_python_below(pid_t pid, pid_t *ret, size_t max);
/* For a process that is not Python, append "; Python runs below it: ..." with the commands to use;
 * nothing if no descendant is Python. */
void fz_cli_name_below(const char *command, pid_t pid, struct fz_buf *ret);
