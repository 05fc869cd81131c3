/* SPDX-License-Identifier: MIT */
/* The evidence of samples about functions or paths, as input of the tests in src/stats: cost,
 * samples and visits of every run. */
#pragma once

#include "compare/diff.h"
#include "stats/ratio.h"

enum fz_family { FZ_FAMILY_SELF, FZ_FAMILY_TOTAL, FZ_FAMILIES };

/* The samples of one side that count, in order. A sample counts if it has a weight in the compared
 * metric and is not a repetition (fz_visit_find_bursts). Its cost is its weight, or the one in
 * `even`, plus that of its repetitions and of samples joined to it, so costs add up to those of the
 * report. A sample with cost 0 is a pause, which ends visits. */
struct fz_walk {
	const struct fz_profile *profile;
	uint32_t metric;
	const int64_t *even;    /* NULL: none */
	int64_t *repeated;      /* weight of dropped repetitions, by remaining row; or NULL */
	int64_t *joined;        /* cost of the rest of a slice, by its first row; or NULL */
	size_t *rows;           /* by run, then thread, then time */
	size_t *run_start;      /* of each run in rows; run_count + 1 entries */
	uint32_t run_count;     /* at least 1 */
	double *run_samples;    /* samples with a stack */
	double *run_weight;     /* their weight */
	double samples, weight; /* sums over runs */
	int64_t *unseen_until;  /* for each run, and each run of the other side: the other run may
				   have missed samples before this time; INT64_MIN: none. NULL:
				   unknown. See fz_walks_align */
	uint32_t unseen_runs;   /* number of those */
	int64_t *length;        /* of each run that is a range of a program's time, ns; or NULL. See
				   fz_walk_divide */
	float *doubt;    /* of each sample of the profile: the fraction that other load may have
			    caused; NULL: unknown. See fz_walks_doubt */
	uint64_t bursts; /* repetitions left out */
	double clumping; /* so many samples count as one: fz_inference_find_clumping; usually 1 */
};

void fz_walk_init(struct fz_walk *w, const struct fz_profile *p, uint32_t metric,
		  const int64_t *even);
void fz_walk_release(struct fz_walk *w);

/* Finds the part of one side's start that the other side did not record. A recorder that got no CPU
 * time starts late, and functions that ran only before it started must not count as gone. Fizeau
 * records how late it started; for other recordings this is the difference between the times of the
 * first samples. Costs are in ns. Does nothing without times of samples. */
void fz_walks_align(struct fz_walk walks[FZ_SIDES]);

/* Whether threads were also sampled while not on a CPU; not so with --mode cpu. */
bool fz_walk_by_wall(const struct fz_walk *w);

/* Sets the fraction of each sample that other load may have caused (interference.c). Does nothing
 * if a side has several runs. */
void fz_walks_doubt(struct fz_walk walks[FZ_SIDES]);
/* Returns the cost of a run that other load may have caused. */
double fz_walk_doubted(const struct fz_walk *w, uint32_t run);

/* Returns the sum of the squared CPU times, ns^2, for which a late sampler did not see what ran.
 * The sample after each is weighted with it, although any function may have used it. */
double fz_walk_late(const struct fz_walk *w);

/* Divides runs that are ranges of a program's time, from 0 on, into blocks. A program stays in a
 * phase for a while, so ranges may differ by chance despite many samples; the differences between
 * blocks show by how much. Does nothing without times of samples. */
void fz_walk_divide(struct fz_walk *w);

/* Entities that evidence is gathered for. of_stack[side][stack]: function or path, below n, of the
 * stack's innermost frame, or FZ_NONE. */
struct fz_entities {
	uint32_t *of_stack[FZ_SIDES]; /* stack_count entries each */
	uint32_t n;
};

/* Entities are d->functions. */
void fz_entities_functions(const struct fz_diff *d, struct fz_entities *ret);
/* Entities are paths (d->nodes of a straight tree) with slot[node] other than FZ_NONE. */
void fz_entities_paths(const struct fz_diff *d, const uint32_t *slot, uint32_t n,
		       struct fz_entities *ret);
void fz_entities_release(struct fz_entities *e);

/* Sets ret[family][i * stride] to cost, samples and visits of entity i in one run. */
void fz_walk_run(const struct fz_walk *w, enum fz_side side, uint32_t run,
		 const struct fz_entities *e, struct fz_ratio_run *ret[FZ_FAMILIES], size_t stride);
