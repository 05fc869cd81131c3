/* SPDX-License-Identifier: MIT */
/* The longest chain of a run, its critical path: what its end had to wait for, back to its
 * beginning.
 *
 *   main     ==parse==|..lock wait..|==report==|        walked from its end: report, then what the
 *   worker   =======refresh========>|                   lock was held for, refresh, and so on
 *
 * Where somebody of the program let a thread go on, the chain is the other's from there, and the
 * wait is not on it; a wait that nobody of the program ended is. So each moment is on it once, in
 * one thread. What is not on it could take longer, and the run would end no later.
 *
 * C.-Q. Yang, B. P. Miller: Critical Path Analysis for the Execution of Parallel and Distributed
 * Programs, 1988; wake-ups instead of messages.
 */
#pragma once

#include "profile/waits.h"

/* A part of it, in one thread. */
struct fz_critical_part {
	int64_t from, to; /* ns since the run began */
	uint32_t thread;
	uint16_t run;
};

struct fz_critical {
	struct fz_wait_rows rows; /* most time first; of `kind` FZ_WAIT_KINDS: on a CPU, n samples,
				     and without a function where there were none */
	int64_t ns;               /* its length, of all runs: the sum of the rows */
	int64_t unknown_ns; /* before: by whom the first thread on it was started is not known */
	uint32_t threads;   /* that are on it */
	struct fz_critical_part *parts; /* in order of runs, earliest first */
	size_t n, cap;
};

/* False: nobody of the program let anybody go on, or who did is not known of all: there is nothing
 * to release then. Ends where the main thread does. */
bool fz_critical_init(struct fz_critical *c, const struct fz_profile *p);
void fz_critical_release(struct fz_critical *c);
