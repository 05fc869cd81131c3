/* SPDX-License-Identifier: MIT */
/* Parse process ids; see pid.h. */
#include "cli/pid.h"

#include "base/base.h"
#include "base/str.h"
#include "record/facts.h"
#include "record/process.h"

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
