/* SPDX-License-Identifier: MIT */
/* The Python descendants of a process that does no work itself: a server's parent, a shell, an
 * init, the loader of a packed program. */
#pragma once

#include <sys/types.h>

#include "base/buf.h"
#include "record/python/glance.h"

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
