/* SPDX-License-Identifier: MIT */
/* Runs a command for which the kernel refuses some calls, as containers and policies do:
 *
 *   denied CALL=ERROR[,CALL=ERROR...] COMMAND [ARGS]      denied perf_event_open=EPERM fizeau ...
 *
 * tests/live/test_denied.py looks at what fizeau makes of it.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "base/str.h"

enum { CALLS_MAX = 16 };

static const struct {
	const char *name;
	unsigned number;
} calls[] = {
	{ "perf_event_open", SYS_perf_event_open },
	{ "bpf", SYS_bpf },
	{ "process_vm_readv", SYS_process_vm_readv },
	{ "ptrace", SYS_ptrace },
	{ "pidfd_open", SYS_pidfd_open },
	{ "epoll_pwait2", SYS_epoll_pwait2 },
	{ "openat2", SYS_openat2 },
	{ "faccessat2", SYS_faccessat2 },
	{ "statx", SYS_statx },
	{ "clone3", SYS_clone3 },
	{ "memfd_create", SYS_memfd_create },
	{ "getrandom", SYS_getrandom },
	{ "sched_setattr", SYS_sched_setattr },
	{ "sched_setscheduler", SYS_sched_setscheduler },
	{ "sched_setaffinity", SYS_sched_setaffinity },
	{ "sched_getaffinity", SYS_sched_getaffinity },
	{ "prlimit64", SYS_prlimit64 },
	{ "rseq", SYS_rseq },
	{ "signalfd4", SYS_signalfd4 },
	{ "timerfd_create", SYS_timerfd_create },
	{ "seccomp", SYS_seccomp },
};

static const struct {
	const char *name;
	unsigned number;
} errors[] = { { "EPERM", EPERM }, { "ENOSYS", ENOSYS }, { "EACCES", EACCES } };

/* Add what refuses one call: skip the answer unless it is that one. */
static bool refuse(const char *call, const char *error, struct sock_filter *program, size_t *n)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(calls); i++)
		for (size_t k = 0; k < FZ_ARRAY_LEN(errors); k++) {
			if (strcmp(calls[i].name, call) != 0 || strcmp(errors[k].name, error) != 0)
				continue;
			program[(*n)++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
								       calls[i].number, 0, 1);
			program[(*n)++] = (struct sock_filter)BPF_STMT(
				BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errors[k].number);
			return true;
		}
	return false;
}

int main(int argc, char **argv)
{
	struct sock_filter program[2 * CALLS_MAX + 2];
	struct sock_fprog filter = { .filter = program };
	size_t n = 0;

	if (argc < 3)
		return 2;
	program[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						    offsetof(struct seccomp_data, nr));
	for (char *word = argv[1], *next; word; word = next) {
		next = strchr(word, ',');
		if (next)
			*next++ = '\0';
		char *error = strchr(word, '=');
		if (!error || n > 2 * CALLS_MAX)
			return 2;
		*error++ = '\0';
		if (!refuse(word, error, program, &n))
			return 2;
	}
	program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	filter.len = (unsigned short)n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) {
		perror("denied: seccomp");
		return 77;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 2;
}
