/* SPDX-License-Identifier: MIT */
/* What a thread sleeps for, read from /proc/PID/task/TID/syscall, which stays open.
 *
 * A thread that has not been given a CPU since the last reading is still in the same call, so its
 * file descriptor is not resolved again. The call itself is always read: a thread that was woken
 * but has no CPU yet no longer sleeps.
 */
#pragma once

#include "record/waitcall.h"

struct fz_asleep {
	int fd;                         /* -1: cannot be opened */
	int trouble;                    /* errno of the failure; 0: none, or the thread ended */
	enum fz_waitcall_answer answer; /* at the last reading */
	enum fz_wait kind;              /* while it sleeps; FZ_WAIT_LOCK for the GIL */
	struct fz_waitcall call;        /* likewise */
	uint64_t turns;                 /* how often it had been given a CPU at the last reading */
};

void fz_asleep_open(struct fz_asleep *a, pid_t pid, uint64_t tid);
void fz_asleep_close(struct fz_asleep *a);
/* turns: how often the thread has been given a CPU, as schedstat just reported; 0: unknown. */
void fz_asleep_read(struct fz_asleep *a, struct fz_process *process, uint64_t turns);

/* Returns 0 if it can be read what the main thread of a process sleeps for. With our own pid, this
 * tests whether the kernel supports it at all. */
int fz_asleep_check(pid_t pid, struct fz_error *err);
