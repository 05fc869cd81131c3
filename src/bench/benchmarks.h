/* SPDX-License-Identifier: MIT */
/* Running the benchmarks of a command: under Valgrind for counts, as it is for times.
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
	bool cache;   /* count memory accesses and misses too, */
	bool memory;  /* or peak and live bytes */
	bool apart;   /* with those: all else as it is without, also where that takes a run more */
	bool harness; /* keep the frames above the bodies */
	bool native;  /* with the interpreter's own functions */
	const char *symbol; /* --bench-main; NULL: programs mark their benchmarks */
	const char *filter; /* NULL: all */
	const char
		*whole; /* when nothing is marked, all of it is this benchmark; NULL: it is none */
	const char *root; /* files below this folder are named as seen from there; NULL */
	unsigned other;   /* surroundings to count in: struct fz_counter */
	double timeout;   /* seconds for each execution of the command; 0: none */
	bool progress;    /* show what is being done, by the series' notify */
};

/* Fails only when nothing could be measured at all. What went wrong with one benchmark, or with the
 * command after some of them, is in the recording. place: NULL is ours, without output. */
int fz_bench_measure(struct fz_series *s, const struct fz_bench_options *o, char *const argv[],
		     const struct fz_launch_place *place, struct fz_profile **ret,
		     struct fz_error *err);

/* As above in the current folder, whose checkout is what is measured, in a worktree beside one that
 * is installed in place, too; that other code ran is warned about. output: of the command. */
int fz_bench_measure_here(struct fz_series *s, const struct fz_bench_options *o, char *const argv[],
			  int output, struct fz_profile **ret, struct fz_error *err);

/* What the figures are compared with. */
struct fz_bench_base {
	char *path; /* NULL: there is none */
	struct fz_profile *profile;
	struct fz_benchmarks list; /* of the profile */
};

/* The latest recording of the same command's benchmarks in a folder of the store. */
void fz_bench_base_find(const char *folder, const struct fz_profile *p, struct fz_bench_base *ret);
void fz_bench_base_release(struct fz_bench_base *base);

/* What is counted of benchmarks, each with its change: "instructions", "peak", "live"; NULL. */
extern const char *const fz_bench_metrics[];

struct fz_bench_gate {
	struct fz_ci_config config; /* fizeau.ini at the top of the checkout, whose limits hold */
	struct fz_ci_result result;
};

/* Judge the benchmarks of the head by all of these that both recordings have. To be released
 * whether it failed or not. */
int fz_bench_gate_judge(struct fz_bench_gate *g, const struct fz_profile *base,
			const struct fz_profile *head, struct fz_error *err);
void fz_bench_gate_release(struct fz_bench_gate *g);
