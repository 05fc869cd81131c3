/* SPDX-License-Identifier: MIT */
/* Parse process ids, and find the Python processes below one; see pid.h. */
#include "cli/pid.h"

#include "base/base.h"
#include "base/str.h"
#include "record/facts.h"
#include "record/process.h"
#include "record/procstat.h"
#include "record/python/python.h"
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int fz_cli_pid(const char *text, pid_t *ret_pid, int *ret_fd, struct fz_error *err)
{
	uint64_t pid;

	if (!fz_parse_u64(fz_str_of(text), INT_MAX, &pid) || pid == 0)
		return fz_fail(err, FZ_EUSAGE, "invalid process id '%s'", text);
	int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (fd < 0 && (errno == EINVAL || errno == ENOENT))
		return fz_fail(err, FZ_EUSAGE, "%s is a thread id; specify its process", text);
	if (fd < 0 && errno == ESRCH)
		return fz_fail(err, FZ_EGONE, "no process %s", text);
	if (fd < 0)
		return fz_process_no_pidfd(err);
	*ret_pid = (pid_t)pid;
	if (ret_fd)
		*ret_fd = fd;
	else
		close(fd);
	return 0;
}

void fz_cli_process_name(pid_t pid, char *out, size_t size)
{
	char path[64];

	fz_facts_program(pid, out, size);
	if (*out)
		return;
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	FILE *f = fopen(path, "re");
	if (!f || !fgets(out, (int)size, f))
		snprintf(out, size, "process");
	if (f)
		fclose(f);
	out[strcspn(out, "\n")] = 0;
}

/* ---- workers ---- */

enum { CHILDREN_MAX = 64, DESCENDANTS_MAX = 512, NAMED = 3 };

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

bool fz_cli_is_python(pid_t pid)
{
	const struct fz_python_options options = { 0 };
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	struct fz_python *python;

	if (fz_python_open(pid, &options, p, &python, NULL))
		return false;
	fz_python_close(python);
	return true;
}

size_t fz_cli_python_below(pid_t pid, pid_t *ret, size_t max)
{
	pid_t all[DESCENDANTS_MAX];
	size_t n = fz_procstat_children_of_all(pid, all, DESCENDANTS_MAX), found = 0;

	for (size_t i = 0; i < n && found < max; i++) {
		if (fz_cli_is_python(all[i]))
			ret[found++] = all[i];
		n += fz_procstat_children_of_all(all[i], all + n, DESCENDANTS_MAX - n);
	}
	return found;
}

void fz_cli_name_below(const char *command, pid_t pid, struct fz_buf *ret)
{
	pid_t below[NAMED + 1];
	size_t n = fz_cli_python_below(pid, below, FZ_ARRAY_LEN(below));

	if (!n)
		return;
	fz_buf_printf(ret, "Python runs below it: fizeau %s %d", command, (int)below[0]);
	for (size_t i = 1; i < FZ_MIN(n, (size_t)NAMED); i++)
		fz_buf_printf(ret, ", %d", (int)below[i]);
	fz_buf_printf(ret, "%s, or fizeau %s --subprocesses %d", n > NAMED ? " ..." : "", command,
		      (int)pid);
}
