/* SPDX-License-Identifier: MIT */
/* The benchmarks of a recording; docs/benchmarks.md says how they are written down.
 *
 *   <test_parse>            a root that is a marker: the benchmark of that name
 *    |-- parse -- tokens    what its body called, with counts
 *    '-- (rows of its own)  each with a wall time: one round, the time of one iteration
 */
#pragma once

#include "profile/profile.h"

struct fz_benchmark {
	struct fz_str name;            /* in the profile */
	uint32_t stack;                /* its marker */
	int64_t total[FZ_METRICS_MAX]; /* of each metric; of the wall time, see rounds */
	double *rounds;                /* wall time of one iteration, ns, in order */
	size_t round_n, round_cap;
	struct fz_str trouble; /* what kept it from being measured; "" when nothing did */
};

struct fz_benchmarks {
	struct fz_benchmark *list; /* in order of appearance; those in trouble too */
	size_t n, cap;
	struct fz_str trouble; /* of the command, not of one benchmark; "" when there was none */
};

/* Whether it was made by a runner of benchmarks. */
bool fz_benchmarks_any(const struct fz_profile *p);
void fz_benchmarks_read(const struct fz_profile *p, struct fz_benchmarks *ret);
void fz_benchmarks_release(struct fz_benchmarks *b);
/* Whether one of them could be measured. */
bool fz_benchmarks_measured(const struct fz_benchmarks *b);
/* NULL when there is none of that name. */
const struct fz_benchmark *fz_benchmarks_find(const struct fz_benchmarks *b, struct fz_str name);

/* How far surroundings alone moved each benchmark, as a part of its count: the fact "floors" has a
 * line "NAME<tab>FLOOR" for each by instructions, "floors.peak" by peak bytes. */
enum { FZ_BENCHMARK_FACT_SIZE = 64 };
const char *fz_benchmark_floors_fact(const char *metric, char out[FZ_BENCHMARK_FACT_SIZE]);
struct fz_str fz_benchmarks_floors(const struct fz_profile *p, const char *metric);
/* Take a line of it. False: there is no further one. */
bool fz_benchmark_next_floor(struct fz_str *rest, struct fz_str *ret_name, double *ret_floor);
/* The largest of them; 0: nobody measured. */
double fz_benchmarks_floor(const struct fz_profile *p, const char *metric);

/* Whether a filter (NULL: none) lets a name through: it is a part of the name. */
bool fz_benchmark_wanted(struct fz_str name, const char *filter);

/* What went wrong with the command, else with the first benchmark in trouble, as "NAME: what";
 * NULL: nothing did. The caller frees it. */
char *fz_benchmarks_trouble(const struct fz_profile *p);

/* ---- for those who write them ---- */

/* The marker of a benchmark. */
uint32_t fz_benchmark_root(struct fz_profile *p, struct fz_str name);
/* Everything there is becomes one benchmark: its stacks go below its marker. */
void fz_benchmark_of_all(struct fz_profile *p, struct fz_str name);
/* A line for the fact "bench.trouble". One benchmark has one: the first. The name "" is the
 * command.
 */
void fz_benchmark_add_trouble(struct fz_profile *p, struct fz_str name, const char *what);
/* "failed: " and what the program says about that, made printable. */
void fz_benchmark_add_failure(struct fz_profile *p, struct fz_str name, struct fz_str why);
