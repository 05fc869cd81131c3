/* SPDX-License-Identifier: MIT */
/* A program whose calls are known: main -> walk(depth) -> one of step0..step3 -> walk(depth - 1),
 * down to grind(), into which churn() is inlined. step K is only called by walk when the path says
 * so, and walk(d) calls step (path >> 2 * d) & 3. Each round the path is the same for a while, so a
 * stack is right exactly when its steps spell a path that was walked.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DEPTH = 12 };

static volatile uint64_t sink;

static inline __attribute__((always_inline)) uint64_t churn(uint64_t x)
{
	for (int i = 0; i < 400; i++)
		x = x * 6364136223846793005u + 1442695040888963407u; /* LINE churn */
	return x;
}

static __attribute__((noinline)) void grind(uint64_t x)
{
	sink += churn(x); /* LINE grind */
	sink += churn(x + 1);
}

static void walk(unsigned depth, uint64_t path);

#define STEP(k, buffer)                                                              \
	static __attribute__((noinline)) void step##k(unsigned depth, uint64_t path) \
	{                                                                            \
		volatile char space[buffer];                                         \
		space[0] = (char)path;                                               \
		walk(depth - 1, path);                                               \
		sink += (uint64_t)space[0];                                          \
	}
STEP(0, 16)
STEP(1, 200)
STEP(2, 1000)
STEP(3, 5000)

static __attribute__((noinline)) void walk(unsigned depth, uint64_t path)
{
	static void (*const steps[])(unsigned, uint64_t) = { step0, step1, step2, step3 };

	if (depth == 0)
		grind(path);
	else
		steps[path >> 2 * (depth - 1) & 3](depth, path);
	sink++; /* no tail call */
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *other(void *arg)
{
	double end = *(double *)arg;

	pthread_setname_np(pthread_self(), "helper");
	while (now() < end)
		grind(3);
	return NULL;
}

/* SECONDS [threads] */
int main(int argc, char **argv)
{
	double end = now() + atof(argv[1]);
	pthread_t thread;

	if (argc > 2)
		pthread_create(&thread, NULL, other, &end);
	for (uint64_t round = 1; now() < end; round++) {
		/* The low half of a path is the high half turned round: what is torn is not. */
		uint64_t half = round * 2654435761u >> 7 & 0xfff,
			 path = half << 12 | (half ^ 0xfff);
		for (int i = 0; i < 50; i++)
			walk(DEPTH, path);
	}
	if (argc > 2)
		pthread_join(thread, NULL);
	return sink == 1;
}
