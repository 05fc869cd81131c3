/* SPDX-License-Identifier: MIT */
/* Judging a comparison, in parts.
 *
 *   court    what is fixed for the whole comparison: method, exposures, what the families taught
 *   docket   what is judged together: functions, or the paths inside changed functions, each with
 *            its evidence by self and by total
 *
 *   court.c       which method, what is expected
 *   docket.c      evidence, tests, correction for many of them
 *   judge_run.c   the run
 *   judge.c       verdicts in the unit of reports, and all of it together
 */
#pragma once

#include "diff/evidence.h"
#include "diff/judge.h"
#include "stats/quasi.h"

struct fz_court {
	const struct fz_diff *d;
	const struct fz_judge_options *o;
	enum fz_judge_method method;
	bool cpu_clock;
	struct fz_walk walk[FZ_SIDES];
	uint32_t runs; /* of both sides */
	/* One base sample of the comparison's unit of exposure is `reach` samples of the head. */
	double reach;
	double margin; /* changes up to it are none, in samples (counts: weight) of a base run */
	struct fz_visit_setup visit;
	struct fz_visit_null null[FZ_FAMILIES];
	struct fz_quasi_setup quasi;
	double *exposure; /* of each run */
	struct fz_quasi_trend trend[FZ_FAMILIES];
	double count_scale; /* counts: factor for one run of the base */
	double count_total; /* of a run: the larger side */
};

struct fz_docket {
	struct fz_entities entities;
	uint32_t n;
	struct fz_visit_sum *sum[FZ_SIDES][FZ_FAMILIES]; /* visits, approximate */
	double *counts[FZ_FAMILIES];                     /* by entity and run: runs, counts */
	const struct fz_diff_cost **cost;
	struct fz_change *change[FZ_FAMILIES];
	bool *rejected[FZ_FAMILIES];
};

static inline bool fz_court_by_visits(const struct fz_court *c)
{
	return c->method == FZ_JUDGE_VISITS || c->method == FZ_JUDGE_APPROXIMATE;
}

/* ---- court.c ---- */

void fz_court_init(struct fz_court *c);
void fz_court_release(struct fz_court *c);

/* ---- docket.c ---- */

/* Gather evidence for k->entities, which are set; their costs are up to the caller. */
void fz_docket_init(const struct fz_court *c, struct fz_docket *k);
void fz_docket_release(struct fz_docket *k);
/* Head samples by which the sides differ in what could not be read; it is no function. */
double fz_docket_unattributed(const struct fz_court *c, const struct fz_docket *k);
void fz_docket_exclude_unreadable(const struct fz_court *c, struct fz_docket *k);
/* The ratio at which the typical function stands, by self samples; 0 when there is none. */
double fz_docket_reference(const struct fz_docket *k);
/* With one run a side: how far that is from what is expected, as a deviation from run to run. */
double fz_court_drift(const struct fz_court *c, double reference);
/* What all functions together say about noise. */
void fz_court_learn(struct fz_court *c, const struct fz_docket *k);
void fz_docket_test(const struct fz_court *c, struct fz_docket *k);
/* Which changes are real, one family at a time. */
void fz_docket_correct(const struct fz_court *c, struct fz_docket *k);
/* Paths of function i are entities start[i] .. start[i + 1] of `paths`. */
void fz_docket_correct_paths(const struct fz_court *c, const struct fz_docket *functions,
			     const size_t *start, struct fz_docket *paths);
/* A bound in the shape of a test: the interval is what jitter may hide. Counts of every run. */
struct fz_change fz_court_test_count(const struct fz_court *c, const double *counts);

/* ---- judge_run.c ---- */

void fz_court_judge_run(const struct fz_court *c, const struct fz_docket *functions,
			struct fz_judged_run *run);
