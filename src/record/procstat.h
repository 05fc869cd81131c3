/* SPDX-License-Identifier: MIT */
/* Fields of /proc/PID/stat and /proc/PID/task/TID/stat. */
#pragma once

#include <sys/types.h>

#include "base/base.h"

struct fz_procstat {
	char state; /* 'R': runnable, 'S': sleeps, ... */
	pid_t parent;
	bool is_kernel;       /* a kernel thread, which has no program */
	uint64_t start_time;  /* clock ticks since boot */
	uint64_t start_stack; /* 0 if we may not read it */
	uint32_t cpu;         /* on which it last ran */
	uint64_t used;        /* clock ticks of CPU time, with children that it has waited for */
};

/* Read an open stat file from its beginning. False if the process or thread is gone. */
bool fz_procstat_read_fd(int fd, struct fz_procstat *ret);
/* tid 0: the values of the whole process. */
bool fz_procstat_read(pid_t pid, pid_t tid, struct fz_procstat *ret);
/* The current time in the units of start_time. */
uint64_t fz_procstat_now(void);

/* Store at most `max` children of a thread in ret and return their number; 0 also if the kernel
 * does not provide them. */
size_t fz_procstat_children(pid_t pid, pid_t tid, pid_t *ret, size_t max);
/* The same for all threads of a process. */
size_t fz_procstat_children_of_all(pid_t pid, pid_t *ret, size_t max);
