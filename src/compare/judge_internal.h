/* SPDX-License-Identifier: MIT */
/* Judging a comparison, in parts.
 *
 *   inference    what is fixed for the whole comparison: method, exposures, what all taught
 *   hypotheses   what is tested together, a family by self and one by total: functions, or the
 *                paths inside changed functions, each with its evidence
 *
 *   inference.c    which method, what is expected
 *   hypotheses.c   evidence, tests, correction for many of them
 *   settle.c       a verdict and an interval for each, which agree
 *   judge_counts.c deterministic counts, which have a bound instead of a test
 *   judge_run.c    the run
 *   judge.c        all of it together
 */
#pragma once

#include "compare/evidence.h"
#include "compare/judge.h"
#include "stats/ratio.h"

struct fz_inference {
	const struct fz_diff *d;
	const struct fz_judge_options *o;
	const struct fz_judged_run *run; /* the verdict of the run */
	enum fz_judge_method method;
	bool cpu_clock;
	struct fz_walk walk[FZ_SIDES];
	uint32_t runs; /* of both sides */
	/* A change of the mean cost of a base run, times this, is one of reported cost. */
	double reach;
	double margin; /* changes up to it are none: mean cost of a base run (counts: of a head run)
			*/
	struct fz_ratio_setup ratio;
	double *exposure, *common; /* of each run; ratio has them */
	struct fz_drift drift;
	bool heard;        /* functions were asked of the drift */
	double by_clock;   /* what the machine may have made of programs that end by the clock */
	size_t *witness;   /* function of each witness */
	uint64_t *inside;  /* of each function: the witnesses that may be in its total */
	double dispersion; /* visits a sample, of the typical function */
	struct fz_ratio_setup whole; /* the test of the run */
	struct fz_drift_belief whole_drift;
	struct fz_ratio_run *whole_stalls; /* of each run: visits and squares of all functions */
	double count_scale;                /* counts: factor for one run of the base */
	double count_total;                /* of a run: the larger side */
	double count_least;                /* that two runs may differ by */
	double count_floor; /* part of it that surroundings alone were seen to move */
};

struct fz_hypotheses {
	struct fz_entities entities;
	uint32_t n;
	struct fz_ratio_run *evidence[FZ_FAMILIES]; /* by entity and run */
	uint32_t *function;                         /* that each is, or is a path of */
	const struct fz_diff_cost **cost;           /* what reports show of each */
	struct fz_change *change[FZ_FAMILIES];
	bool *rejected[FZ_FAMILIES];
	struct fz_judged *judged[FZ_FAMILIES];
};

/* By samples, not by counts. */
static inline bool fz_inference_by_samples(const struct fz_inference *c)
{
	return c->method == FZ_JUDGE_VISITS || c->method == FZ_JUDGE_APPROXIMATE ||
	       c->method == FZ_JUDGE_RUNS;
}

/* ---- inference.c ---- */

void fz_inference_init(struct fz_inference *c);
void fz_inference_release(struct fz_inference *c);

/* The drift as others than a part of the run saw it: fz_drift_seen_by_others. */
struct fz_drift_belief fz_inference_drift(const struct fz_inference *c, double cost,
					  uint64_t inside, const struct fz_drift_witness *own);

/* ---- cpu_share.c ---- */

/* What others took of the CPUs, as deviations of log costs: by how much the sides differ in it, and
 * how unevenly it may lie on the functions of one. */
struct fz_cpu_share {
	bool known;
	double between, within;
};
struct fz_cpu_share fz_inference_crowding(const struct fz_inference *c);
/* Likewise, as the lateness of the sampler says. */
struct fz_cpu_share fz_inference_lateness(const struct fz_inference *c);

/* ---- hypotheses.c ---- */

/* Gather evidence for k->entities, which are set; which function each belongs to and what it costs
 * is up to the caller. */
void fz_hypotheses_init(const struct fz_inference *c, struct fz_hypotheses *k);
void fz_hypotheses_release(struct fz_hypotheses *k);
/* Cost of a base run by which the sides differ in what could not be read; it is no function. */
double fz_hypotheses_unattributed(const struct fz_inference *c, const struct fz_hypotheses *k);
void fz_hypotheses_exclude_unreadable(const struct fz_inference *c, struct fz_hypotheses *k);
/* What all functions together say about noise and drift. */
void fz_inference_learn(struct fz_inference *c, const struct fz_hypotheses *functions);
void fz_hypotheses_test(const struct fz_inference *c, struct fz_hypotheses *k);
/* The test of one, its interval at that confidence less than 1 (alpha; 0: 5 %). */
struct fz_change fz_hypotheses_test_one(const struct fz_inference *c, const struct fz_hypotheses *k,
					enum fz_family f, uint32_t i, double alpha);
/* Which changes are real, one family at a time; sets k->rejected and k->judged. */
void fz_hypotheses_correct(const struct fz_inference *c, struct fz_hypotheses *k);
/* Paths of function i are entities start[i] .. start[i + 1] of `paths`. */
void fz_hypotheses_correct_paths(const struct fz_inference *c,
				 const struct fz_hypotheses *functions, const size_t *start,
				 struct fz_hypotheses *paths);

/* ---- settle.c ---- */

/* Whether the entity makes up nearly all of the run, which has a test of its own. */
bool fz_hypotheses_is_whole(const struct fz_inference *c, const struct fz_hypotheses *k,
			    enum fz_family f, uint32_t i);
/* Whether such an entity changed, as the run says. */
bool fz_hypotheses_changed_with_run(const struct fz_inference *c, const struct fz_hypotheses *k,
				    enum fz_family f, uint32_t i);
/* Take back rejections that the 95 % interval does not show. */
void fz_hypotheses_take_back(const struct fz_inference *c, struct fz_hypotheses *k,
			     enum fz_family f, uint32_t i);
/* Set k->judged by k->rejected. alpha: the level at which the correction for many tests rejects. */
void fz_hypotheses_settle(const struct fz_inference *c, struct fz_hypotheses *k, enum fz_family f,
			  uint32_t i, double alpha);

/* ---- judge_counts.c ---- */

void fz_inference_prepare_counts(struct fz_inference *c);
/* A bound in the shape of a test: the interval is what jitter may hide. Counts of every run. */
struct fz_change fz_inference_test_count(const struct fz_inference *c,
					 const struct fz_ratio_run *counts);
struct fz_change fz_inference_test_run_counts(const struct fz_inference *c);
/* The smallest change that is called one, as a part of the base. */
double fz_inference_smallest_count(const struct fz_inference *c, const struct fz_change *run);

/* ---- judge_run.c ---- */

/* What the test of the run needs, by the evidence of functions. */
void fz_inference_prepare_whole(struct fz_inference *c, const struct fz_hypotheses *functions);
void fz_inference_judge_run(const struct fz_inference *c, struct fz_judged_run *run);
