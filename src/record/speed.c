/* SPDX-License-Identifier: MIT */
/* The piece of work and its timing.
 *
 * On x86-64 it is written in assembly, so that every compiler and build makes the same; elsewhere
 * the compiler's version is a part of its name.
 */
#include "record/speed.h"

#include "base/clock.h"

#include <sched.h>
#include <time.h>

/* Rounds of the piece, and of the one before it that wakes the core's units. */
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

/* Afterwards the thread may run anywhere that it might before, and stays where it is until the
 * scheduler has a reason to move it. */
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
