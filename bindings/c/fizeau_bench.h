/* SPDX-License-Identifier: MIT */
/* Benchmarks in C and C++, for `fizeau bench -- PROGRAM`.
 *
 *	int main(void)
 *	{
 *		FIZEAU_BENCH("parse") {
 *			parse(text);
 *		}
 *	}
 *
 * The block runs once, like any other code, unless fizeau runs the program: for counts it runs
 * twice, and the second time is counted; for times it runs as often as measuring takes. So it must
 * be repeatable. Leave it at its end only: no break, return or goto. A name is any text. Pass
 * results that nothing else uses to fizeau_bench_use(x), lest the compiler drop the code.
 *
 * Linux only. Everything is static: include the header wherever it is needed. Details are in
 * docs/benchmarks.md.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__GNUC__)
#define FIZEAU_BENCH_UNUSED __attribute__((unused))
#else
#define FIZEAU_BENCH_UNUSED
#endif

enum fizeau_bench_mode { FIZEAU_BENCH_OFF, FIZEAU_BENCH_COUNT, FIZEAU_BENCH_WALL };

enum { FIZEAU_BENCH_ROUNDS_MIN = 5, FIZEAU_BENCH_ROUNDS_MAX = 200 };
#define FIZEAU_BENCH_ROUND_NS 1e6 /* minimum length of a round */
#define FIZEAU_BENCH_TOTAL_NS 5e8 /* more rounds until this much time has passed */

/* A running benchmark. A round has `iterations`, 0 during the warm-up round of a single one. */
struct fizeau_bench {
	const char *name;
	enum fizeau_bench_mode mode;
	unsigned long iterations, left;
	unsigned rounds;
	double begin, until;
	double times[FIZEAU_BENCH_ROUNDS_MAX];
	char start[512], stop[512]; /* paths of the marks, formatted outside the measured part */
};

FIZEAU_BENCH_UNUSED static double fizeau_bench_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Keep the compiler from dropping the computation of a value. */
#if defined(__GNUC__)
#define fizeau_bench_use(x) __asm__ volatile("" : : "g"(x) : "memory")
#else
#define fizeau_bench_use(x) ((void)(x))
#endif

FIZEAU_BENCH_UNUSED static void fizeau_bench_write_name(FILE *out, const char *name)
{
	fputs("{\"name\": \"", out);
	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;
		if (c < 0x20 || c == '"' || c == '\\')
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

/* Log that the benchmark begins or, if it has rounds, their times. */
FIZEAU_BENCH_UNUSED static void fizeau_bench_log(const struct fizeau_bench *b)
{
	const char *path = getenv("FIZEAU_BENCH_LOG");
	FILE *out = path ? fopen(path, "a") : NULL;

	if (!out)
		return;
	fizeau_bench_write_name(out, b->name);
	for (unsigned i = 0; i < b->rounds; i++)
		fprintf(out, "%s%.1f", i ? ", " : ", \"rounds\": [", b->times[i]);
	fputs(b->rounds ? "]}\n" : "}\n", out);
	fclose(out);
}

FIZEAU_BENCH_UNUSED static struct fizeau_bench fizeau_bench_begin(const char *name)
{
	const char *mode = getenv("FIZEAU_BENCH"), *filter = getenv("FIZEAU_BENCH_FILTER");
	struct fizeau_bench b;

	memset(&b, 0, sizeof(b));
	b.name = name;
	b.left = 1;
	if (mode && (!filter || strstr(name, filter)))
		b.mode = strcmp(mode, "count") == 0  ? FIZEAU_BENCH_COUNT
			 : strcmp(mode, "wall") == 0 ? FIZEAU_BENCH_WALL
						     : FIZEAU_BENCH_OFF;
	snprintf(b.start, sizeof(b.start), "/.fizeau/start/%s", name);
	snprintf(b.stop, sizeof(b.stop), "/.fizeau/stop/%s", name);
	if (b.mode == FIZEAU_BENCH_WALL) {
		fizeau_bench_log(&b);
		b.begin = fizeau_bench_now();
	}
	return b;
}

/* Choose the iterations of a round; took: ns of the warm-up. */
FIZEAU_BENCH_UNUSED static void fizeau_bench_calibrate(struct fizeau_bench *b, double took)
{
	double n = FIZEAU_BENCH_ROUND_NS / (took > 1 ? took : 1);

	b->iterations = n > 1 ? (unsigned long)n : 1;
	b->until = fizeau_bench_now() + FIZEAU_BENCH_TOTAL_NS;
}

/* End a round. Returns 1 if another one starts, else 0. */
FIZEAU_BENCH_UNUSED static int fizeau_bench_next_round(struct fizeau_bench *b)
{
	double now = fizeau_bench_now(), took = now - b->begin;

	if (!b->iterations)
		fizeau_bench_calibrate(b, took);
	else
		b->times[b->rounds++] = took / (double)b->iterations;
	if (b->rounds == FIZEAU_BENCH_ROUNDS_MAX ||
	    (b->rounds >= FIZEAU_BENCH_ROUNDS_MIN && now > b->until)) {
		fizeau_bench_log(b);
		return 0;
	}
	b->left = b->iterations - 1;
	b->begin = fizeau_bench_now();
	return 1;
}

/* Returns 1 if the block is to run (again). */
FIZEAU_BENCH_UNUSED static int fizeau_bench_goes_on(struct fizeau_bench *b)
{
	if (b->left) {
		b->left--;
		return 1;
	}
	if (b->mode == FIZEAU_BENCH_WALL)
		return fizeau_bench_next_round(b);
	if (b->mode == FIZEAU_BENCH_OFF)
		return 0;
	/* Counting: warmed up, now run once between the marks. The files do not exist. */
	if (b->iterations++ == 0)
		return access(b->start, F_OK) != 0;
	if (access(b->stop, F_OK) == 0)
		fputs("fizeau_bench: the folder /.fizeau exists\n", stderr);
	return 0;
}

#define FIZEAU_BENCH(name)                                                      \
	for (struct fizeau_bench fizeau_bench_of_it = fizeau_bench_begin(name); \
	     fizeau_bench_goes_on(&fizeau_bench_of_it);)
