/* SPDX-License-Identifier: MIT */
/* What /proc/PID/stat and /proc/PID/task/TID/stat say, for all who ask. */
#pragma once

#include <sys/types.h>

#include "base/base.h"

struct fz_procstat {
	char state; /* 'R': runs or could run at once, 'S': sleeps, ... */
	pid_t parent;
	bool is_kernel;       /* a thread of the kernel, which has no program */
	uint64_t start_time;  /* clock ticks since the machine started */
	uint64_t start_stack; /* 0 where we may not know it */
	uint32_t cpu;         /* on which it ran last */
	uint64_t used;        /* clock ticks of CPU time, with children that it has waited for */
};

/* From an open file, which is read from its beginning. False when the process or thread is gone. */
bool fz_procstat_read_fd(int fd, struct fz_procstat *ret);
/* tid 0: of the whole process, which is its main thread. */
bool fz_procstat_read(pid_t pid, pid_t tid, struct fz_procstat *ret);
/* Now, as start times are counted. */
uint64_t fz_procstat_now(void);

/* The children of a thread: at most `max`, set in ret; 0 also where the kernel does not tell. */
size_t fz_procstat_children(pid_t pid, pid_t tid, pid_t *ret, size_t max);
/* The same of all threads of a process. */
size_t fz_procstat_children_of_all(pid_t pid, pid_t *ret, size_t max);
