/* SPDX-License-Identifier: MIT */
/* The benchmarks of a recording; docs/benchmarks.md describes their representation.
 *
 *   <test_parse>            a root that is a marker: the benchmark of that name
 *    |-- parse -- tokens    calls of its body, with counts
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
	struct fz_str trouble; /* why it could not be measured; "" if it was */
};

struct fz_benchmarks {
	struct fz_benchmark *list; /* in order of appearance, including failed ones */
	size_t n, cap;
	struct fz_str trouble; /* of the command, not of one benchmark; "" if none */
};

/* Whether a profile has benchmarks. */
bool fz_benchmarks_any(const struct fz_profile *p);
void fz_benchmarks_read(const struct fz_profile *p, struct fz_benchmarks *ret);
void fz_benchmarks_release(struct fz_benchmarks *b);
/* Whether any benchmark was measured. */
bool fz_benchmarks_measured(const struct fz_benchmarks *b);
/* Finds a benchmark by name; NULL if there is none. */
const struct fz_benchmark *fz_benchmarks_find(const struct fz_benchmarks *b, struct fz_str name);

/* Floors: the effect of the environment on each benchmark, as a fraction of its count. The fact
 * "floors" has a line "NAME<tab>FLOOR" for each, of instructions; "floors.peak" those of peak
 * bytes. */
enum { FZ_BENCHMARK_FACT_SIZE = 64 };
const char *fz_benchmark_floors_fact(const char *metric, char out[FZ_BENCHMARK_FACT_SIZE]);
struct fz_str fz_benchmarks_floors(const struct fz_profile *p, const char *metric);
/* Parses the next line of such a fact; false at the end. */
bool fz_benchmark_next_floor(struct fz_str *rest, struct fz_str *ret_name, double *ret_floor);
/* The largest floor; 0 if not measured. */
double fz_benchmarks_floor(const struct fz_profile *p, const char *metric);

/* Whether a filter (NULL: none) is a substring of a name. */
bool fz_benchmark_wanted(struct fz_str name, const char *filter);

/* Returns the trouble of the command, else that of the first failed benchmark as "NAME: what"; NULL
 * if none. The caller frees it. */
char *fz_benchmarks_trouble(const struct fz_profile *p);

/* ---- writing ---- */

/* Returns the marker stack of a benchmark, creating it if needed. */
uint32_t fz_benchmark_root(struct fz_profile *p, struct fz_str name);
/* Makes everything one benchmark by moving all stacks below its marker. */
void fz_benchmark_of_all(struct fz_profile *p, struct fz_str name);
/* Adds a line to the fact "bench.trouble"; only the first of each benchmark is kept. The name "" is
 * the command.
 */
void fz_benchmark_add_trouble(struct fz_profile *p, struct fz_str name, const char *what);
/* Adds "failed: " and the message of the program, made printable. */
void fz_benchmark_add_failure(struct fz_profile *p, struct fz_str name, struct fz_str why);
