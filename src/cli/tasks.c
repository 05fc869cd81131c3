/* SPDX-License-Identifier: MIT */
/* The options for asyncio tasks. */
#include "cli/tasks.h"

const char *const fz_cli_async_names[] = { "running", "all", NULL };

int fz_cli_tasks_check(const struct fz_cli_tasks *o, enum fz_python_tasks usual,
		       enum fz_python_tasks *ret, struct fz_error *err)
{
	enum fz_python_tasks asked = o->mode == FZ_CLI_ASYNC_NOT_GIVEN ? usual
				     : o->mode == 0                    ? FZ_PYTHON_TASKS_RUNNING
								       : FZ_PYTHON_TASKS_ALL;

	/* The default value is accepted without the option, as in CPython's profiler. */
	if (!o->aware && asked != usual)
		return fz_fail(err, FZ_EUSAGE, "--async-mode requires --async-aware");
	if (!o->aware && o->names)
		return fz_fail(err, FZ_EUSAGE, "--task-names requires --async-aware");
	*ret = o->aware ? asked : FZ_PYTHON_TASKS_NONE;
	return 0;
}
