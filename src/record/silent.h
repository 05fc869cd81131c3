/* SPDX-License-Identifier: MIT */
/* Threads of the sampled processes that used CPU time but had no stack: a C library's own threads,
 * or threads that the user excluded. /proc is read a few times a second, so the last part of a
 * thread's time before its end is unknown. If samples are weighted with CPU time, the unsampled
 * rest of threads that only sometimes have a stack is included.
 */
#pragma once

#include "base/map.h"
#include "profile/profile.h"

#include <sys/types.h>

struct fz_silent {
	struct fz_silent_thread {
		uint64_t tid;
		/* CPU time in ns when counting began and at the last reading */
		int64_t first, last;
	} * threads;
	size_t n, cap;
	struct fz_map by_tid;
	struct fz_map processes; /* that were read before */
	int64_t next;            /* fz_clock_now() of the next reading */
	/* CPU time in samples of each thread of the profile; NULL: samples are not weighted with it
	 */
	int64_t *charged;
	size_t charged_n, charged_cap;
};

void fz_silent_release(struct fz_silent *q);
/* Read the CPU time of all threads of a process. whole: time before the first reading counts. */
void fz_silent_read(struct fz_silent *q, pid_t pid, bool whole);
/* Add a sample of `ns` CPU time to a thread of the profile. */
void fz_silent_charge(struct fz_silent *q, uint32_t thread, int64_t ns);
/* Count from here on. */
void fz_silent_restart(struct fz_silent *q);

struct fz_silent_sum {
	uint32_t threads;
	int64_t used;
};
/* The number and CPU time in ns of threads without a stack in the profile. */
struct fz_silent_sum fz_silent_sum(const struct fz_silent *q, const struct fz_profile *p);
