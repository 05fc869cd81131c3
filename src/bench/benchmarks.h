/* SPDX-License-Identifier: MIT */
/* Running the benchmarks of a command: under Valgrind for counts, directly for times.
 *
 *   count:  valgrind CMD             -> trees, by the marks
 *   wall:   CMD, FIZEAU_BENCH=wall   -> the bindings time rounds and write them to FIZEAU_BENCH_LOG
 *
 * Both become one recording (docs/benchmarks.md).
 */
#pragma once

#include "bench/ci.h"
#include "profile/benchmarks.h"
#include "record/series.h"

enum fz_bench_what { FZ_BENCH_COUNT, FZ_BENCH_WALL, FZ_BENCH_BOTH };
extern const char *const fz_bench_names[]; /* "count", "wall", "both": the fact "bench" */

struct fz_bench_options {
	enum fz_bench_what what;
	bool cache;   /* also count memory accesses and cache misses */
	bool memory;  /* or peak and live bytes */
	bool apart;   /* with memory: count everything else in a run without it, if necessary */
	bool harness; /* keep the frames above the bodies */
	bool native;  /* keep the interpreter's own functions */
	const char *symbol; /* --bench-main; NULL: programs mark their benchmarks */
	const char *filter; /* NULL: all */
	const char *whole;  /* if nothing is marked, the program is this benchmark; NULL: there is
			       none */
	bool marks_first;   /* with whole: count everything only if nothing is marked, so that a
			       program that is killed keeps its complete benchmarks */
	const char *root;   /* paths of files below this folder are relative to it; NULL */
	unsigned other;     /* environment to count in: struct fz_counter */
	double timeout;     /* seconds for each execution of the command; 0: none */
	bool progress;      /* report progress and troubles, once known, to the series' notify */
};

/* Fails only if nothing could be measured. Failures of one benchmark, or of the command after some
 * of them, are in the recording. place: NULL is ours, without output. */
int fz_bench_measure(struct fz_series *s, const struct fz_bench_options *o, char *const argv[],
		     const struct fz_launch_place *place, struct fz_profile **ret,
		     struct fz_error *err);

/* The same in the current folder. Its checkout is measured even if another worktree is the one that
 * is installed in editable mode; warns if other code ran. output: the command's standard output. */
int fz_bench_measure_here(struct fz_series *s, const struct fz_bench_options *o, char *const argv[],
			  int output, struct fz_profile **ret, struct fz_error *err);

/* The recording to compare with. */
struct fz_bench_base {
	char *path; /* NULL: none */
	struct fz_profile *profile;
	struct fz_benchmarks list; /* of the profile */
};

/* Find the latest recording of the same command's benchmarks in a folder of the store. */
void fz_bench_base_find(const char *folder, const struct fz_profile *p, struct fz_bench_base *ret);
void fz_bench_base_release(struct fz_bench_base *base);

/* Metrics that are judged: "instructions", "peak", "live"; NULL-terminated. */
extern const char *const fz_bench_metrics[];

struct fz_bench_gate {
	struct fz_ci_config config; /* fizeau.ini at the top of the checkout, with the limits */
	struct fz_ci_result result;
};

/* Judge the benchmarks of the head by those metrics that both recordings have. Release g even on
 * failure. */
int fz_bench_gate_judge(struct fz_bench_gate *g, const struct fz_profile *base,
			const struct fz_profile *head, struct fz_error *err);
void fz_bench_gate_release(struct fz_bench_gate *g);
