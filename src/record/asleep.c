/* SPDX-License-Identifier: MIT */
/* Read what a thread sleeps for; asleep.h has the contract. */
#include "record/asleep.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/io.h"

enum { PATH_SIZE = 64 };

static void make_path(char path[PATH_SIZE], pid_t pid, uint64_t tid)
{
	snprintf(path, PATH_SIZE, "/proc/%d/task/%llu/syscall", (int)pid, (unsigned long long)tid);
}

/* A thread that has ended is no error. */
static int trouble_of(int code)
{
	return code == ENOENT || code == ESRCH ? 0 : code;
}

void fz_asleep_open(struct fz_asleep *a, pid_t pid, uint64_t tid)
{
	char path[PATH_SIZE];

	make_path(path, pid, tid);
	*a = (struct fz_asleep){ .fd = open(path, O_RDONLY | O_CLOEXEC) };
	if (a->fd < 0)
		a->trouble = trouble_of(errno);
}

void fz_asleep_close(struct fz_asleep *a)
{
	fz_close_fd(&a->fd);
}

void fz_asleep_read(struct fz_asleep *a, struct fz_process *process, uint64_t turns)
{
	char text[FZ_WAITCALL_TEXT];
	bool slept = a->answer == FZ_WAITCALL_SLEEPS && turns && turns == a->turns;
	ssize_t n = a->fd < 0 ? 0 : pread(a->fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		a->trouble = trouble_of(errno);
	text[FZ_MAX(n, 0)] = 0;
	a->turns = turns;
	if (slept && n > 0 && text[0] != 'r')
		return;
	a->answer = fz_waitcall_parse(text, &a->call);
	if (a->answer != FZ_WAITCALL_SLEEPS)
		return;
	fz_waitcall_find_file(&a->call, process);
	a->kind = fz_waitcall_kind(&a->call);
}

int fz_asleep_check(pid_t pid, struct fz_error *err)
{
	char path[PATH_SIZE];
	struct fz_waitcall call;

	make_path(path, pid, (uint64_t)fz_process_live(pid));
	fz_auto(fz_free_ptr) char *text = fz_read_small(path, FZ_WAITCALL_TEXT, NULL);
	if (text && fz_waitcall_parse(text, &call) != FZ_WAITCALL_UNKNOWN)
		return 0;
	if (text)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "not supported: %s does not show what a thread waits for", path);
	if (errno == EACCES || errno == EPERM)
		return fz_fail(err, FZ_EPERM,
			       "not allowed to read %s; run fizeau as root, or in a container with "
			       "--cap-add=SYS_PTRACE",
			       path);
	if (trouble_of(errno))
		return fz_fail_errno(err, "%s", path);
	if (kill(pid, 0) && errno == ESRCH)
		return fz_fail(err, FZ_EGONE, "process %d has ended", (int)pid);
	return fz_fail(err, FZ_EUNSUPPORTED,
		       "not supported: this kernel has no %s (CONFIG_HAVE_ARCH_TRACEHOOK)", path);
}
