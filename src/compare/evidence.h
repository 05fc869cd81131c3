/* SPDX-License-Identifier: MIT */
/* What the samples of a comparison say about functions or paths, in the form that the tests of
 * src/stats take: cost, samples and visits of every run. */
#pragma once

#include "compare/diff.h"
#include "stats/ratio.h"

enum fz_family { FZ_FAMILY_SELF, FZ_FAMILY_TOTAL, FZ_FAMILIES };

/* One side's samples that take part, ready to be walked. A sample takes part when it weighs
 * something in the metric of the comparison and is no repetition (fz_visit_find_bursts). What it
 * costs is its weight, or what `even` says, and the weight of its repetitions: so costs add up to
 * those of the report. What weighs nothing by that is a pause, which ends visits. */
struct fz_walk {
	const struct fz_profile *profile;
	uint32_t metric;
	const int64_t *even;    /* NULL: none */
	int64_t *carried;       /* weight of dropped repetitions, by the row that stays; or NULL */
	size_t *rows;           /* by run, then thread, then time */
	size_t *run_start;      /* of each run in rows; run_count + 1 entries */
	uint32_t run_count;     /* at least 1 */
	double *run_samples;    /* those with a stack */
	double *run_weight;     /* their weight */
	double samples, weight; /* sums over runs */
	int64_t *unseen_until;  /* of each run: what came before, the other side may have missed;
				   INT64_MIN: nothing. NULL: not known. See fz_walks_align */
	int64_t *length;        /* of each run, ns, where it is a range of a program's time; or
				   NULL. See fz_walk_divide */
	float *doubt;           /* of each sample of the profile, which part of it others may have
				   made; NULL: nothing is known of that. See fz_walks_doubt */
	uint64_t bursts;        /* repetitions left out */
};

void fz_walk_init(struct fz_walk *w, const struct fz_profile *p, uint32_t metric,
		  const int64_t *even);
void fz_walk_release(struct fz_walk *w);

/* Find out what of one side's beginning the other side cannot have seen: a recorder that was given
 * no time begins late, and a function that only ran until then is not gone. Costs are in ns. Needs
 * the times of samples; without them nothing is set. */
void fz_walks_align(struct fz_walk walks[FZ_SIDES]);

/* Whether threads were sampled on a CPU or not. Where only those on a CPU were (--mode cpu), that a
 * sample was says nothing. */
bool fz_walk_by_wall(const struct fz_walk *w);

/* Find out what of one run's waiting others may have made (interference.c). Nothing where a side
 * has several runs. */
void fz_walks_doubt(struct fz_walk walks[FZ_SIDES]);
/* What of a run's cost others may have made. */
double fz_walk_doubted(const struct fz_walk *w, uint32_t run);

/* Its runs are ranges of a program's time, from 0 on. What a program does goes on for a while, so
 * what one of two ranges has more of may be chance although it was seen many times: blocks of time
 * say how much. Needs the times of samples; without them nothing is set. */
void fz_walk_divide(struct fz_walk *w);

/* What is looked for: entity[stack] is the function or path that the stack's innermost frame
 * belongs to, below n, or FZ_NONE. */
struct fz_entities {
	uint32_t *of_stack[FZ_SIDES]; /* stack_count entries each */
	uint32_t n;
};

/* Entities are d->functions. */
void fz_entities_functions(const struct fz_diff *d, struct fz_entities *ret);
/* Entities are those paths (d->nodes of a straight tree) where slot[node] is not FZ_NONE. */
void fz_entities_paths(const struct fz_diff *d, const uint32_t *slot, uint32_t n,
		       struct fz_entities *ret);
void fz_entities_release(struct fz_entities *e);

/* Cost, samples and visits in one run: ret[family][i * stride] is set for each entity i. */
void fz_walk_run(const struct fz_walk *w, enum fz_side side, uint32_t run,
		 const struct fz_entities *e, struct fz_ratio_run *ret[FZ_FAMILIES], size_t stride);
