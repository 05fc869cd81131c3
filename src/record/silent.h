/* SPDX-License-Identifier: MIT */
/* Kernel threads of the sampled processes that used CPU time and gave no stack: a C library's own
 * threads, or threads that were not asked for. Read from /proc a few times a second, so what a
 * thread used after the last look before its end is not known. Where samples weigh CPU time,
 * threads that have a stack only now and then count for the rest.
 */
#pragma once

#include "base/map.h"
#include "profile/profile.h"

#include <sys/types.h>

struct fz_silent {
	struct fz_silent_thread {
		uint64_t tid;
		int64_t first, last; /* CPU time in ns: when counting began, and at the last look */
	} * threads;
	size_t n, cap;
	struct fz_map by_tid;
	struct fz_map processes; /* that were looked at */
	int64_t next;            /* fz_clock_now() when to look again */
	/* CPU time in samples of each thread of the profile; NULL: samples do not weigh that */
	int64_t *charged;
	size_t charged_n, charged_cap;
};

void fz_silent_release(struct fz_silent *q);
/* Look at all threads of a process. whole: what they used before the first look counts as well. */
void fz_silent_look(struct fz_silent *q, pid_t pid, bool whole);
/* A sample of a thread of the profile weighs so much CPU time. */
void fz_silent_charge(struct fz_silent *q, uint32_t thread, int64_t ns);
/* Count from here on. */
void fz_silent_restart(struct fz_silent *q);

struct fz_silent_sum {
	uint32_t threads;
	int64_t used;
};
/* Those that have no stack in the profile. */
struct fz_silent_sum fz_silent_sum(const struct fz_silent *q, const struct fz_profile *p);
