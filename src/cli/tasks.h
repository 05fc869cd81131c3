/* SPDX-License-Identifier: MIT */
/* The options for asyncio tasks. */
#pragma once

#include "base/opt.h"
#include "record/python/python.h"

enum { FZ_CLI_ASYNC_NOT_GIVEN = -1 };
extern const char *const fz_cli_async_names[]; /* "running", "all" */

struct fz_cli_tasks {
	bool aware, names;
	int mode; /* index of fz_cli_async_names; FZ_CLI_ASYNC_NOT_GIVEN */
};

#define FZ_CLI_TASKS_ENTRIES(o, default_mode)                                                      \
	FZ_OPT(FLAG, "async-aware", NULL, &(o).aware,                                              \
	       "show asyncio tasks: the stack of each below the tasks that await it (Python 3.11 " \
	       "and later)"),                                                                      \
		FZ_OPT(CHOICE, "async-mode", "WHICH", &(o).mode,                                   \
		       "with --async-aware: running: only the running task; all: also waiting "    \
		       "tasks (default " default_mode ")",                                         \
		       .choices = fz_cli_async_names)

/* Set *ret from the options. FZ_EUSAGE if they contradict each other. */
int fz_cli_tasks_check(const struct fz_cli_tasks *o, enum fz_python_tasks usual,
		       enum fz_python_tasks *ret, struct fz_error *err);
