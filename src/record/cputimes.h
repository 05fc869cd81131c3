/* SPDX-License-Identifier: MIT */
/* CPU time of processes since they were added, by their own clocks, and of descendants of one of
 * them that were not added. All in ns, as of the scheduler's last tick.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* CPU time of all threads that the process has or had; -1 if it is gone. */
int64_t fz_cputimes_process(pid_t pid);

struct fz_cputimes {
	struct fz_cputimes_process {
		pid_t pid;
		int64_t at, used; /* when it was added, and since then */
		bool older;       /* started before its parent was counted, so that time must be
				   * subtracted from the family's */
	} * list;
	size_t n, cap;
	int64_t gone_before, gone; /* removed processes: `at` of older ones, and `used` */
	pid_t parent;              /* its descendants are counted, too; 0: none */
	int64_t family_at, family; /* of it and its descendants; like at and used */
	uint64_t since;            /* tick from which the family counts; 0: from its start */
};

void fz_cputimes_release(struct fz_cputimes *t);
void fz_cputimes_add(struct fz_cputimes *t, pid_t pid);
/* Also count the CPU time of this process and all its descendants, whether they are added or not.
 * At most one process. started: we started it, so its time until now counts, too. */
void fz_cputimes_count_children(struct fz_cputimes *t, pid_t pid, bool started);
/* Read the clock of a process, or that of the family. The value is kept after the process ends. */
void fz_cputimes_read(struct fz_cputimes *t, pid_t pid);
void fz_cputimes_read_family(struct fz_cputimes *t);
/* As of the last reading. */
int64_t fz_cputimes_of(const struct fz_cputimes *t, pid_t pid);
/* Read the clock for the last time; returns the CPU time since the process was added. */
int64_t fz_cputimes_remove(struct fz_cputimes *t, pid_t pid);
/* Count from here on, for all processes that were added. */
void fz_cputimes_restart(struct fz_cputimes *t);

struct fz_cputimes_sum {
	int64_t used;   /* by the processes and, if counted, all descendants */
	int64_t others; /* part of it by processes that were not added, or before they were */
};
/* Reads all clocks. */
struct fz_cputimes_sum fz_cputimes_sum(struct fz_cputimes *t);
