/* SPDX-License-Identifier: MIT */
/* Watching the machine's speed from a thread of its own.
 *
 *     look:   pid runs?  yes: its CPU     no: does a child of its run?     nobody: no look
 *
 * What single looks say is smoothed as in a recording (profile/speed.h).
 */
#include "record/speed_watch.h"

#include "base/clock.h"
#include "base/thread.h"
#include "record/priority.h"
#include "record/procstat.h"
#include "record/speed.h"
#include "profile/profile.h"

#include <time.h>

#define LOOK_EVERY_NS 4000000

/* How deep below the program, and among how many children each, one that runs is looked for. */
enum { GENERATIONS = 4, CHILDREN = 16 };

struct fz_speed_watch {
	pid_t pid;
	pthread_t thread;
	bool ending;
	struct fz_profile *profile; /* for its speed track */
};

static uint32_t running_cpu(pid_t pid, int generations)
{
	struct fz_procstat now;
	pid_t children[CHILDREN];
	uint32_t cpu = FZ_NONE;

	if (!fz_procstat_read(pid, 0, &now))
		return FZ_NONE;
	if (now.state == 'R')
		return now.cpu;
	size_t n = generations ? fz_procstat_children(pid, pid, children, CHILDREN) : 0;
	for (size_t i = 0; i < n && cpu == FZ_NONE; i++)
		cpu = running_cpu(children[i], generations - 1);
	return cpu;
}

static void look(struct fz_speed_watch *w)
{
	uint32_t cpu = running_cpu(w->pid, GENERATIONS);
	uint32_t cost = cpu == FZ_NONE ? 0 : fz_speed_time_piece(cpu);

	if (cost)
		fz_speed_add(&w->profile->speed, &(struct fz_speed_look){ .cpu = (uint16_t)cpu,
									  .time = fz_clock_now(),
									  .cost = cost });
}

static void *watch(void *arg)
{
	struct fz_speed_watch *w = arg;
	struct timespec pause = { .tv_nsec = LOOK_EVERY_NS };

	fz_priority_raise();
	while (!__atomic_load_n(&w->ending, __ATOMIC_ACQUIRE)) {
		look(w);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
	return NULL;
}

struct fz_speed_watch *fz_speed_watch_start(pid_t pid)
{
	struct fz_speed_watch *w = fz_calloc(1, sizeof(*w));

	w->pid = pid;
	w->profile = fz_profile_new();
	if (fz_thread_start(&w->thread, watch, w))
		return w;
	fz_profile_free(w->profile);
	free(w);
	return NULL;
}

void fz_speed_watch_stop(struct fz_speed_watch *w)
{
	if (!w || w->ending)
		return;
	__atomic_store_n(&w->ending, true, __ATOMIC_RELEASE);
	pthread_join(w->thread, NULL);
}

double fz_speed_watch_cost(const struct fz_speed_watch *w, int64_t from, int64_t to)
{
	return w ? fz_speed_mean(w->profile, from, to) : 0;
}

void fz_speed_watch_free(struct fz_speed_watch *w)
{
	if (!w)
		return;
	fz_speed_watch_stop(w);
	fz_profile_free(w->profile);
	free(w);
}

void fz_speed_watch_freep(struct fz_speed_watch **w)
{
	fz_speed_watch_free(*w);
}
