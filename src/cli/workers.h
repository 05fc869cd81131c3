/* SPDX-License-Identifier: MIT */
/* The Python processes below one that does no work itself: a server's parent, a shell, an init, the
 * loader of a packed program. */
#pragma once

#include <sys/types.h>

#include "base/buf.h"
#include "record/python/glance.h"

/* One line when all of the process's threads wait and it has children that are Python: what to type
 * instead. `several`: the command takes several ids, else it has --subprocesses. */
void fz_cli_hint_workers(const char *command, pid_t pid, const struct fz_python_glance *glance,
			 bool several);

bool fz_cli_is_python(pid_t pid);
/* The descendants of a process that run Python, nearest first: at most `max`. */
size_t fz_cli_python_below(pid_t pid, pid_t *ret, size_t max);
/* Of a process that runs no Python: "; Python runs below it: ...", with the commands that read it.
 * Nothing when none does. */
void fz_cli_name_below(const char *command, pid_t pid, struct fz_buf *ret);
