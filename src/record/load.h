/* SPDX-License-Identifier: MIT */
/* What the processors did while a program ran: the program itself, others, other machines. */
#pragma once

#include <sys/types.h>

#include "profile/profile.h"

/* How things stood when the run began. */
struct fz_load_start {
	int64_t ran_ns, waited_ns;                /* of the target's first thread */
	int64_t used_ns;                          /* by the target, by us and by what we started */
	int64_t looked_ns;                        /* by the thread that samples */
	int64_t others_ns, stolen_ns, machine_ns; /* of all processors; others: whoever it was */
	bool known;
};

/* By the thread that samples, before the program starts (pid 0), or as it is attached to. */
void fz_load_begin(struct fz_load_start *start, pid_t pid);
/* What a thread has run and waited for a processor since it began; of one that ended, until it is
 * reaped. False: not to be had. */
bool fz_load_read_waits(pid_t pid, int64_t *ret_ran_ns, int64_t *ret_waited_ns);
/* CPU time in ns of all threads of a process, and of its children that have ended and been waited
 * for; in ticks of 10 ms. 0: it is gone, or pid is 0. */
int64_t fz_load_read_usage(pid_t pid);
/* By the thread that samples. After it ended and was reaped, with what fz_load_read_waits said just
 * before; or while it still runs. pid: of what still runs, else 0. All 0 when /proc does not say.
 */
struct fz_load fz_load_end(const struct fz_load_start *start, pid_t pid, int64_t ran_ns,
			   int64_t waited_ns);
