/* SPDX-License-Identifier: MIT */
/* The piece of work and its timing.
 *
 * On x86-64 it is written in assembly, so it is the same with every compiler and build; elsewhere
 * the compiler's version is part of its name.
 */
#include "record/speed.h"

#include "base/clock.h"
#include "base/thread.h"
#include "record/priority.h"
#include "record/procstat.h"
#include "profile/profile.h"
#include "profile/speed.h"

#include <sched.h>
#include <time.h>

/* Between two timings in the thread. */
#define PROBE_EVERY_NS 4000000

/* Rounds of the piece, and of the warm-up before it. */
enum { ROUNDS = 8000, WARM_ROUNDS = 300 };

#ifdef __x86_64__
const char fz_speed_kind[] = "wide 1, x86-64";

static void work(uint64_t rounds)
{
	uint64_t a = 1, b = 2, d = 3, e = 4, f = 5, g = 6, t, i = 0;

	__asm__ volatile(".p2align 6\n"
			 "1:\n\t"
			 "mov %[b], %[t]\n\t"
			 "xor %[i], %[t]\n\t"
			 "add %[t], %[a]\n\t"
			 "add %[d], %[b]\n\t"
			 "lea (%[e],%[i]), %[t]\n\t"
			 "xor %[t], %[d]\n\t"
			 "add %[f], %[e]\n\t"
			 "xor %[g], %[f]\n\t"
			 "mov %[a], %[t]\n\t"
			 "shr $3, %[t]\n\t"
			 "add %[t], %[g]\n\t"
			 "inc %[i]\n\t"
			 "cmp %[n], %[i]\n\t"
			 "jne 1b"
			 : [a] "+r"(a), [b] "+r"(b), [d] "+r"(d), [e] "+r"(e), [f] "+r"(f),
			   [g] "+r"(g), [t] "=&r"(t), [i] "+r"(i)
			 : [n] "r"(rounds)
			 : "cc");
}
#else
const char fz_speed_kind[] = "wide 1, " __VERSION__;

static volatile uint64_t sink;

static void work(uint64_t rounds)
{
	uint64_t a = 1, b = 2, d = 3, e = 4, f = 5, g = 6;

	for (uint64_t i = 0; i < rounds; i++) {
		a += b ^ i;
		b += d;
		d ^= e + i;
		e += f;
		f ^= g;
		g += a >> 3;
	}
	sink = a + b + d + e + f + g;
}
#endif

/* Move this thread to a CPU. Its affinity is restored, so it stays only until the scheduler moves
 * it. */
static bool go_to(uint32_t cpu)
{
	cpu_set_t home, there;

	if (cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(home), &home) ||
	    !CPU_ISSET(cpu, &home))
		return false;
	CPU_ZERO(&there);
	CPU_SET(cpu, &there);
	if (sched_setaffinity(0, sizeof(there), &there))
		return false;
	sched_setaffinity(0, sizeof(home), &home);
	return true;
}

uint32_t fz_speed_time_piece(uint32_t cpu)
{
	if (sched_getcpu() != (int)cpu && !go_to(cpu))
		return 0;
	work(WARM_ROUNDS);
	int64_t start = fz_clock_read(CLOCK_THREAD_CPUTIME_ID);
	work(ROUNDS);
	int64_t cost = fz_clock_read(CLOCK_THREAD_CPUTIME_ID) - start;

	return sched_getcpu() == (int)cpu && cost > 0 && cost < UINT32_MAX ? (uint32_t)cost : 0;
}

/* ---- watching from a thread ----
 *
 *     pid runs?  yes: time on its CPU     no: does a descendant run?     none: no timing
 *
 * Timings are smoothed as in a recording (profile/speed.h).
 */

/* How deep to search for a running descendant, and among how many children of each process. */
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

static void probe(struct fz_speed_watch *w)
{
	uint32_t cpu = running_cpu(w->pid, GENERATIONS);
	uint32_t cost = cpu == FZ_NONE ? 0 : fz_speed_time_piece(cpu);

	if (cost)
		fz_speed_add(&w->profile->speed, &(struct fz_speed_probe){ .cpu = (uint16_t)cpu,
									   .time = fz_clock_now(),
									   .cost = cost });
}

static void *watch(void *arg)
{
	struct fz_speed_watch *w = arg;
	struct timespec pause = { .tv_nsec = PROBE_EVERY_NS };

	fz_priority_raise();
	while (!__atomic_load_n(&w->ending, __ATOMIC_ACQUIRE)) {
		probe(w);
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
	fz_assert(!w || w->ending);
	return w ? fz_speed_mean(w->profile, from, to) : 0;
}

void fz_speed_watch_freep(struct fz_speed_watch **w)
{
	if (!*w)
		return;
	fz_speed_watch_stop(*w);
	fz_profile_free((*w)->profile);
	free(*w);
}
