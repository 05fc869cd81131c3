/* SPDX-License-Identifier: MIT */
/* System calls and what they wait for; waitcall.h has the contract. */
#include "record/waitcall.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* ---- kinds of waits ---- */

/* Besides enum fz_wait: determined by the file, or by the polled or selected files. */
enum { BY_FILE = FZ_WAIT_KINDS, BY_POLLED, BY_SELECTED };

static const struct {
	int32_t number;
	uint8_t what;
} calls[] = {
	{ SYS_futex, FZ_WAIT_LOCK },
	{ SYS_recvfrom, FZ_WAIT_SOCKET },
	{ SYS_sendto, FZ_WAIT_SOCKET },
	{ SYS_recvmsg, FZ_WAIT_SOCKET },
	{ SYS_sendmsg, FZ_WAIT_SOCKET },
	{ SYS_recvmmsg, FZ_WAIT_SOCKET },
	{ SYS_sendmmsg, FZ_WAIT_SOCKET },
	{ SYS_accept, FZ_WAIT_SOCKET },
	{ SYS_accept4, FZ_WAIT_SOCKET },
	{ SYS_connect, FZ_WAIT_SOCKET },
	{ SYS_read, BY_FILE },
	{ SYS_readv, BY_FILE },
	{ SYS_pread64, BY_FILE },
	{ SYS_preadv, BY_FILE },
	{ SYS_write, BY_FILE },
	{ SYS_writev, BY_FILE },
	{ SYS_pwrite64, BY_FILE },
	{ SYS_pwritev, BY_FILE },
	{ SYS_sendfile, BY_FILE },
	{ SYS_splice, BY_FILE },
	{ SYS_ioctl, BY_FILE },
	{ SYS_fcntl, BY_FILE },
	{ SYS_flock, FZ_WAIT_FILE },
	{ SYS_fsync, FZ_WAIT_FILE },
	{ SYS_fdatasync, FZ_WAIT_FILE },
	{ SYS_sync, FZ_WAIT_FILE },
	{ SYS_syncfs, FZ_WAIT_FILE },
	{ SYS_sync_file_range, FZ_WAIT_FILE },
	{ SYS_ftruncate, FZ_WAIT_FILE },
	{ SYS_fallocate, FZ_WAIT_FILE },
	{ SYS_copy_file_range, FZ_WAIT_FILE },
	{ SYS_openat, FZ_WAIT_FILE },
	{ SYS_newfstatat, FZ_WAIT_FILE },
	{ SYS_statx, FZ_WAIT_FILE },
	{ SYS_getdents64, FZ_WAIT_FILE },
	{ SYS_unlinkat, FZ_WAIT_FILE },
	{ SYS_mkdirat, FZ_WAIT_FILE },
	{ SYS_ppoll, BY_POLLED },
	{ SYS_pselect6, BY_SELECTED },
	{ SYS_epoll_pwait, FZ_WAIT_POLL },
	{ SYS_wait4, FZ_WAIT_CHILD },
	{ SYS_waitid, FZ_WAIT_CHILD },
	{ SYS_clone, FZ_WAIT_CHILD },
	{ SYS_nanosleep, FZ_WAIT_SLEEP },
	{ SYS_clock_nanosleep, FZ_WAIT_SLEEP },
	{ SYS_rt_sigtimedwait, FZ_WAIT_SIGNAL },
	{ SYS_rt_sigsuspend, FZ_WAIT_SIGNAL },
	{ SYS_mmap, FZ_WAIT_MEMORY },
	{ SYS_munmap, FZ_WAIT_MEMORY },
	{ SYS_mprotect, FZ_WAIT_MEMORY },
	{ SYS_madvise, FZ_WAIT_MEMORY },
	{ SYS_brk, FZ_WAIT_MEMORY },
#ifdef SYS_clone3
	{ SYS_clone3, FZ_WAIT_CHILD },
#endif
#ifdef SYS_epoll_pwait2
	{ SYS_epoll_pwait2, FZ_WAIT_POLL },
#endif
#ifdef SYS_poll /* old calls, which newer architectures lack */
	{ SYS_poll, BY_POLLED },
	{ SYS_select, BY_SELECTED },
	{ SYS_epoll_wait, FZ_WAIT_POLL },
	{ SYS_vfork, FZ_WAIT_CHILD },
	{ SYS_pause, FZ_WAIT_SIGNAL },
	{ SYS_open, FZ_WAIT_FILE },
	{ SYS_stat, FZ_WAIT_FILE },
	{ SYS_lstat, FZ_WAIT_FILE },
	{ SYS_unlink, FZ_WAIT_FILE },
	{ SYS_rename, FZ_WAIT_FILE },
	{ SYS_mkdir, FZ_WAIT_FILE },
#endif
};

static enum fz_wait wait_for_file(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFSOCK:
		return FZ_WAIT_SOCKET;
	case S_IFIFO:
		return FZ_WAIT_PIPE;
	case S_IFCHR:
		return FZ_WAIT_DEVICE;
	case 0:
		return mode ? FZ_WAIT_EVENT : FZ_WAIT_OTHER;
	default:
		return FZ_WAIT_FILE;
	}
}

static uint8_t find_what(int32_t number)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(calls); i++)
		if (calls[i].number == number)
			return calls[i].what;
	return FZ_WAIT_OTHER;
}

enum fz_wait fz_waitcall_kind(const struct fz_waitcall *call)
{
	uint8_t what = call->number < 0 ? FZ_WAIT_MEMORY : find_what(call->number);

	if (what == BY_FILE)
		return wait_for_file(call->fd_mode);
	if (what == BY_POLLED && call->args[1] == 1)
		return wait_for_file(call->fd_mode);
	if (what == BY_POLLED)
		return call->args[1] ? FZ_WAIT_POLL : FZ_WAIT_SLEEP;
	if (what == BY_SELECTED)
		return call->args[0] ? FZ_WAIT_POLL : FZ_WAIT_SLEEP;
	return what;
}

/* ---- the text in /proc ---- */

/* Split a line into a decimal number and hexadecimal ones. Returns how many of the latter there
 * are; 0 if the line is malformed. */
static size_t split(const char *text, uint64_t *words, size_t max, int32_t *ret_number)
{
	size_t n = 0;
	char *end;
	long number = strtol(text, &end, 10);

	if (end == text || number < -1 || number > INT32_MAX)
		return 0;
	*ret_number = (int32_t)number;
	for (text = end; *text == ' '; text = end) {
		if (n == max || strncmp(text, " 0x", 3) != 0)
			return 0;
		words[n++] = strtoull(text + 1, &end, 16);
	}
	return *text == '\n' ? n : 0;
}

enum fz_waitcall_answer fz_waitcall_parse(const char *text, struct fz_waitcall *ret)
{
	enum { OUTSIDE = 2, INSIDE = 8 }; /* SP and PC; six arguments and those */
	uint64_t words[INSIDE];
	int32_t number = -1;

	if (strcmp(text, "running\n") == 0)
		return FZ_WAITCALL_RUNS;
	size_t n = split(text, words, INSIDE, &number);
	if (n == 0 || n != (number < 0 ? OUTSIDE : INSIDE))
		return FZ_WAITCALL_UNKNOWN;
	*ret = (struct fz_waitcall){ .number = number };
	if (number >= 0)
		memcpy(ret->args, words, sizeof(ret->args));
	return FZ_WAITCALL_SLEEPS;
}

/* Do not query a network file system: if its server is down, we would hang like the thread. */
static uint32_t mode_of(pid_t pid, uint64_t fd)
{
	char path[64];
	struct statx file;

	snprintf(path, sizeof(path), "/proc/%d/fd/%llu", (int)fz_process_live(pid),
		 (unsigned long long)fd);
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE | STATX_MODE, &file))
		return 0;
	return file.stx_mode;
}

void fz_waitcall_find_file(struct fz_waitcall *call, struct fz_process *process)
{
	uint8_t what = find_what(call->number);
	uint32_t polled;

	if (what == BY_FILE)
		call->fd_mode = mode_of(process->pid, (uint32_t)call->args[0]);
	/* A struct pollfd starts with its descriptor. */
	else if (what == BY_POLLED && call->args[1] == 1 &&
		 fz_process_read(process, call->args[0], &polled, sizeof(polled)))
		call->fd_mode = mode_of(process->pid, polled);
}
