/* SPDX-License-Identifier: MIT */
/* How much CPU time processes have used, by their own clocks, since they were added; and the
 * children of one of them, and theirs, that were not. All in ns, as of the scheduler's last tick.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of all threads that it has and had; -1: it is gone. */
int64_t fz_cputimes_process(pid_t pid);

struct fz_cputimes {
	struct fz_cputimes_process {
		pid_t pid;
		int64_t at, used; /* when it was added, and since then */
		bool older;       /* than what is counted of its parent: that will get its time
				     before, too */
	} * list;
	size_t n, cap;
	int64_t gone_before, gone; /* of processes that were removed */
	pid_t parent;              /* of all that are counted; 0: nobody is */
	int64_t family_at, family; /* its and its children's, as in a process */
	uint64_t since;            /* the tick from which on that counts; 0: from their beginning */
};

void fz_cputimes_release(struct fz_cputimes *t);
void fz_cputimes_add(struct fz_cputimes *t, pid_t pid);
/* What this process and its children use, and theirs, counts as well, whether they are added or
 * not; at most one. Of one that was started for this, all that it has used until now, too. */
void fz_cputimes_count_children(struct fz_cputimes *t, pid_t pid, bool started);
/* Look at the clock of a process, or of the one whose children count: what it had used then stays
 * known when it has ended. */
void fz_cputimes_read(struct fz_cputimes *t, pid_t pid);
void fz_cputimes_read_family(struct fz_cputimes *t);
/* As of the last look. */
int64_t fz_cputimes_of(const struct fz_cputimes *t, pid_t pid);
/* Looked at for the last time; returns what it used. */
int64_t fz_cputimes_remove(struct fz_cputimes *t, pid_t pid);
/* From here on, for all that are there. */
void fz_cputimes_restart(struct fz_cputimes *t);

struct fz_cputimes_sum {
	int64_t used;   /* of the processes and, where they count, all children */
	int64_t others; /* of that by processes that were not added, or before they were */
};
/* All are looked at. */
struct fz_cputimes_sum fz_cputimes_sum(struct fz_cputimes *t);
