/* SPDX-License-Identifier: MIT */
/* What a thread sleeps for, asked of /proc/PID/task/TID/syscall, which stays open.
 *
 * While a thread is given no CPU it goes on sleeping in the same call, whose file need not be
 * looked up again. But one that was woken and has no CPU yet sleeps no more: so the call is asked
 * for.
 */
#pragma once

#include "record/waitcall.h"

struct fz_asleep {
	int fd;                         /* -1: not to be had */
	int trouble;                    /* why, as errno; 0: none, or it ended */
	enum fz_waitcall_answer answer; /* at the last look */
	enum fz_wait kind;              /* while it sleeps; of a GIL: FZ_WAIT_LOCK */
	struct fz_waitcall call;        /* likewise */
	uint64_t turns;                 /* how often it had been given a CPU at the last look */
};

void fz_asleep_open(struct fz_asleep *a, pid_t pid, uint64_t tid);
void fz_asleep_close(struct fz_asleep *a);
/* turns: as schedstat said just before; 0: it does not count them. */
void fz_asleep_look(struct fz_asleep *a, struct fz_process *process, uint64_t turns);

/* Can the main thread of a process be asked? Of our own: does the kernel tell it at all? */
int fz_asleep_check(pid_t pid, struct fz_error *err);
