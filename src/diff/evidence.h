/* SPDX-License-Identifier: MIT */
/* What the samples of a comparison say about functions or paths, in the form that the tests of
 * src/stats take: visits of one run a side, or counts of every run. */
#pragma once

#include "diff/diff.h"
#include "stats/visit.h"

enum fz_family { FZ_FAMILY_SELF, FZ_FAMILY_TOTAL, FZ_FAMILIES };

/* One side's samples that take part, ready to be walked. A sample takes part when it weighs
 * something in the metric of the comparison and is no repetition (fz_visit_find_bursts). */
struct fz_walk {
	const struct fz_profile *profile;
	size_t *rows;           /* by run, then thread, then time */
	size_t *run_start;      /* of each run in rows; run_count + 1 entries */
	uint32_t run_count;     /* at least 1 */
	double *run_samples;    /* those with a stack */
	double *run_weight;     /* their weight */
	double samples, weight; /* sums over runs */
	uint64_t bursts;        /* repetitions left out */
};

void fz_walk_init(struct fz_walk *w, const struct fz_profile *p, uint32_t metric);
void fz_walk_release(struct fz_walk *w);

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

/* Visits of one run: ret[family] has an entry for each entity. */
void fz_walk_visits(const struct fz_walk *w, enum fz_side side, uint32_t run,
		    const struct fz_entities *e, struct fz_visit_sum *ret[FZ_FAMILIES]);
/* Samples of one run, or with a metric their weight: ret[family] has an entry for each entity. */
void fz_walk_counts(const struct fz_walk *w, enum fz_side side, uint32_t run, uint32_t metric,
		    const struct fz_entities *e, double *ret[FZ_FAMILIES]);
