/* SPDX-License-Identifier: MIT */
/* The critical path of a run: the chain of work and waits, from its end back to its start, that
 * determined how long it took.
 *
 *   main     ==parse==|..lock wait..|==report==|        walked from its end: report, then the
 *   worker   =======refresh========>|                   holder of the lock, refresh, and so on
 *
 * If a thread of the program ended a wait, the chain continues in that thread and excludes the
 * wait; a wait that ended for another reason is on the chain. So each moment is on it once, in one
 * thread. Anything else could take longer without delaying the end of the run.
 *
 * C.-Q. Yang, B. P. Miller: Critical Path Analysis for the Execution of Parallel and Distributed
 * Programs, 1988; wake-ups instead of messages.
 */
#pragma once

#include "profile/waits.h"

/* A part of the path, in one thread. */
struct fz_critical_part {
	int64_t from, to; /* ns since the run began */
	uint32_t thread;
	uint16_t run;
};

struct fz_critical {
	struct fz_wait_rows rows; /* most time first; `kind` FZ_WAIT_KINDS: on a CPU, with n
				     samples, or without samples and function */
	int64_t ns;               /* length over all runs: the sum of the rows */
	int64_t unknown_ns;       /* time before, if the starter of the first thread is unknown */
	uint32_t threads;         /* threads on the path */
	struct fz_critical_part *parts; /* in order of runs, earliest first */
	size_t n, cap;
};

/* Computes the path to the end of the main thread. False if there are no wakes or not all are
 * known; then nothing needs to be released. */
bool fz_critical_init(struct fz_critical *c, const struct fz_profile *p);
void fz_critical_release(struct fz_critical *c);
