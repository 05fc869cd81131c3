/* SPDX-License-Identifier: MIT */
/* What the processors did while a program ran: the program itself, others, other machines. */
#pragma once

#include <sys/types.h>

#include "profile/profile.h"

/* Counters at the start of the run. */
struct fz_load_start {
	int64_t ran_ns, waited_ns;                /* of the target's first thread */
	int64_t used_ns;                          /* by the target, by us and by what we started */
	int64_t own_ns;                           /* by us */
	int64_t looked_ns;                        /* by the thread that samples */
	int64_t others_ns, stolen_ns, machine_ns; /* of all processors; others: all busy time */
	bool known;
};

/* Call in the thread that samples, before the program starts (pid 0) or when attaching to it. */
void fz_load_begin(struct fz_load_start *start, pid_t pid);
/* How long a thread has run and has waited for a processor since it started; also available after
 * it ended, until it is reaped. False if it cannot be read. */
bool fz_load_read_waits(pid_t pid, int64_t *ret_ran_ns, int64_t *ret_waited_ns);
/* CPU time in ns of all threads of a process and of its children that were waited for; in ticks of
 * 10 ms. 0 if it is gone or pid is 0. */
int64_t fz_load_read_usage(pid_t pid);
/* Call in the thread that samples, while the program still runs or after it was reaped, with the
 * last values of fz_load_read_waits. pid: the program if it still runs, else 0. Members that /proc
 * does not provide are 0. */
struct fz_load fz_load_end(const struct fz_load_start *start, pid_t pid, int64_t ran_ns,
			   int64_t waited_ns);
