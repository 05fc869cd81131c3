/* SPDX-License-Identifier: MIT */
/* Scheduling of the sampling thread; see the header for the reasons. */
#include "record/priority.h"

#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *const fz_priority_names[] = {
	[FZ_PRIORITY_NORMAL] = "normal",
	[FZ_PRIORITY_SLICE] = "normal, short slice",
	[FZ_PRIORITY_REAL_TIME] = "real-time",
};

/* The kernel's struct sched_attr (version 1), which glibc 2.36 does not declare. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t util_min, util_max;
};

enum { FLAG_RESET_ON_FORK = 1, SLICE_NS = 100000 };

enum fz_priority fz_priority_raise(void)
{
	struct sched_param lowest = { .sched_priority = 1 };
	struct attributes slice = { .size = sizeof(slice),
				    .policy = SCHED_OTHER,
				    .flags = FLAG_RESET_ON_FORK,
				    .runtime = SLICE_NS };

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest) == 0)
		return FZ_PRIORITY_REAL_TIME;
	/* A process that was made nice stays nice. */
	if (nice(0) == 0 && syscall(SYS_sched_setattr, 0, &slice, 0) == 0)
		return FZ_PRIORITY_SLICE;
	return FZ_PRIORITY_NORMAL;
}

void fz_priority_lower(void)
{
	struct sched_param none = { 0 };

	sched_setscheduler(0, SCHED_OTHER, &none);
}
