/* SPDX-License-Identifier: MIT */
/* Hint for a user who records or dumps the parent of a server's workers. */
#pragma once

#include <sys/types.h>

#include "record/python/glance.h"

/* One line when all of the process's threads wait and it has children that are Python: what to type
 * instead. `several`: the command takes several ids, else it has --subprocesses. */
void fz_cli_hint_workers(const char *command, pid_t pid, const struct fz_python_glance *glance,
			 bool several);
