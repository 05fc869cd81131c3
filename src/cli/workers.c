/* SPDX-License-Identifier: MIT */
/* Point out the workers of a prefork server or process pool; see workers.h. */
#include "cli/workers.h"

#include "base/buf.h"
#include "record/procstat.h"
#include "cli/cli.h"

enum { CHILDREN_MAX = 64, NAMED = 3 };

void fz_cli_hint_workers(const char *command, pid_t pid, const struct fz_python_glance *glance,
			 bool several)
{
	pid_t children[CHILDREN_MAX];
	fz_auto(fz_buf_release) struct fz_buf ids = { 0 };
	struct fz_python_glance child;
	unsigned found = 0;

	if (!glance->threads || glance->idle < glance->threads)
		return;
	size_t n = fz_procstat_children_of_all(pid, children, CHILDREN_MAX);
	for (size_t i = 0; i < n; i++) {
		if (!fz_python_glance(children[i], &child) || !child.threads)
			continue;
		if (found < NAMED)
			fz_buf_printf(&ids, " %d", (int)children[i]);
		found++;
	}
	if (!found)
		return;
	const char *more = found > NAMED ? " ..." : "";
	const char *processes = found > 1 ? "processes" : "process";
	if (several)
		fz_cli_note(
			"process %d is idle; it is the parent of %u busy Python %s: fizeau %s%s%s",
			(int)pid, found, processes, command, ids.p, more);
	else
		fz_cli_note("process %d is idle; it is the parent of %u busy Python %s: use fizeau "
			    "%s --subprocesses %d, or one of%s%s",
			    (int)pid, found, processes, command, (int)pid, ids.p, more);
}
