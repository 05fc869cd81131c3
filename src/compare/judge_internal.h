/* SPDX-License-Identifier: MIT */
/* Judging a comparison, in parts.
 *
 *   inference    fixed for the whole comparison: method, exposures, estimates from all functions
 *   hypotheses   tested together, a family by self and one by total: functions, or the paths
 *                inside changed functions, each with its evidence
 *
 *   inference.c    method, exposures, noise and drift
 *   line_noise.c   how samples clump if their order is unknown
 *   hypotheses.c   evidence, tests
 *   settle.c       a verdict and an interval for each, which agree
 *   correct.c      correction for many tests
 *   judge_counts.c deterministic counts, which have a bound instead of a test
 *   judge_run.c    the run
 *   judge.c        calls all of these
 */
#pragma once

#include "compare/evidence.h"
#include "compare/judgement.h"
#include "stats/ratio.h"

struct fz_inference {
	const struct fz_diff *d;
	const struct fz_judge_options *o;
	const struct fz_judged_run *run; /* the judgement of the run */
	enum fz_judge_method method;
	bool empty_run; /* on either side */
	bool cpu_clock;
	struct fz_walk walk[FZ_SIDES];
	uint32_t runs; /* of both sides */
	/* Factor from a change of the mean cost of a base run to one of reported cost. */
	double reach;
	double margin; /* smaller changes do not count; in mean cost of a base run (counts: of a
			  head run) */
	struct fz_ratio_setup ratio;
	double *exposure, *common; /* of each run; used by `ratio` */
	struct fz_drift drift;
	bool has_witnesses; /* functions were used to estimate the drift */
	double by_clock;  /* possible effect of the machine on programs that run for a fixed time */
	size_t *witness;  /* function of each witness */
	uint64_t *inside; /* of each function: witnesses that may be in its total */
	double dispersion;           /* visits per sample of the typical function */
	struct fz_ratio_setup whole; /* the test of the run */
	struct fz_drift_belief whole_drift;
	struct fz_ratio_run *whole_stalls; /* of each run: visits and squares of all functions */
	double count_scale;                /* counts: factor for one base run */
	double count_total;                /* counts: of a run of the larger side */
	double count_least;                /* counts: allowed difference of two runs */
	double count_floor; /* counts: effect of the environment, as a fraction of the total */
};

struct fz_hypotheses {
	struct fz_entities entities;
	uint32_t n;
	struct fz_ratio_run *evidence[FZ_FAMILIES]; /* by entity and run */
	uint32_t *function;                         /* function of each entity, or of its path */
	const struct fz_diff_cost **cost;           /* reported cost of each */
	struct fz_change *change[FZ_FAMILIES];
	double *weight[FZ_FAMILIES]; /* of each test in its family: fz_bh_weigh */
	bool *rejected[FZ_FAMILIES];
	struct fz_judged *judged[FZ_FAMILIES];
};

/* Whether samples are judged, not counts. */
static inline bool fz_inference_by_samples(const struct fz_inference *c)
{
	return c->method == FZ_JUDGE_VISITS || c->method == FZ_JUDGE_APPROXIMATE ||
	       c->method == FZ_JUDGE_RUNS;
}

/* ---- inference.c ---- */

void fz_inference_init(struct fz_inference *c);
void fz_inference_release(struct fz_inference *c);

/* Estimates noise and drift from the samples of all functions together. */
void fz_inference_learn(struct fz_inference *c, const struct fz_hypotheses *functions);
/* The drift without the evidence of a part of the run: fz_drift_without. */
struct fz_drift_belief fz_inference_drift(const struct fz_inference *c, double cost,
					  uint64_t inside, const struct fz_drift_witness *own);

/* ---- cpu_share.c ---- */

/* Effect of other load on the CPUs, as deviations of log costs: its difference between the sides,
 * and its unevenness within one. */
struct fz_cpu_share {
	bool known;
	double between, within;
};
struct fz_cpu_share fz_inference_crowding(const struct fz_inference *c);
/* Likewise, from the lateness of the sampler. */
struct fz_cpu_share fz_inference_lateness(const struct fz_inference *c);

/* ---- line_noise.c ---- */

/* One run per side without the order of samples: sets how many samples are one event, before
 * evidence is gathered. Does nothing for other comparisons. */
void fz_inference_find_clumping(struct fz_inference *c, const struct fz_entities *functions);

/* ---- hypotheses.c ---- */

/* Gathers the evidence of k->entities. The caller sets the function and the cost of each. */
void fz_hypotheses_init(const struct fz_inference *c, struct fz_hypotheses *k);
void fz_hypotheses_release(struct fz_hypotheses *k);
/* Difference between the sides in unreadable cost, in units of a base run's cost. */
double fz_hypotheses_unattributed(const struct fz_inference *c, const struct fz_hypotheses *k);
void fz_hypotheses_exclude_unreadable(const struct fz_inference *c, struct fz_hypotheses *k);
void fz_hypotheses_test(const struct fz_inference *c, struct fz_hypotheses *k);
/* Tests one entity, with an interval of confidence 1 - alpha (0 means 0.05). */
struct fz_change fz_hypotheses_test_one(const struct fz_inference *c, const struct fz_hypotheses *k,
					enum fz_family f, uint32_t i, double alpha);

/* ---- settle.c ---- */

/* Whether the entity makes up nearly all of the run, which has its own test. */
bool fz_hypotheses_is_whole(const struct fz_inference *c, const struct fz_hypotheses *k,
			    enum fz_family f, uint32_t i);
/* Whether such an entity changed, according to the run. */
bool fz_hypotheses_changed_with_run(const struct fz_inference *c, const struct fz_hypotheses *k,
				    enum fz_family f, uint32_t i);
/* Withdraws a rejection that the 95 % interval does not support. */
void fz_hypotheses_withdraw(const struct fz_inference *c, struct fz_hypotheses *k, enum fz_family f,
			    uint32_t i);
/* Sets k->judged from k->rejected. alpha: the level at which the correction for many tests
 * rejects. */
void fz_hypotheses_settle(const struct fz_inference *c, struct fz_hypotheses *k, enum fz_family f,
			  uint32_t i, double alpha);

/* ---- correct.c ---- */

/* Decides which changes are real, one family at a time; sets k->rejected and k->judged. */
void fz_hypotheses_correct(const struct fz_inference *c, struct fz_hypotheses *k);
/* Paths of function i are entities start[i] .. start[i + 1] of `paths`. */
void fz_hypotheses_correct_paths(const struct fz_inference *c,
				 const struct fz_hypotheses *functions, const size_t *start,
				 struct fz_hypotheses *paths);

/* ---- judge_counts.c ---- */

void fz_inference_prepare_counts(struct fz_inference *c);
/* Returns the jitter bound as a test; its interval is the range of jitter. counts: of every run. */
struct fz_change fz_inference_test_count(const struct fz_inference *c,
					 const struct fz_ratio_run *counts);
struct fz_change fz_inference_test_run_counts(const struct fz_inference *c);
/* The smallest change that is reported, as a fraction of the base. */
double fz_inference_smallest_count(const struct fz_inference *c, const struct fz_change *run);

/* ---- judge_run.c ---- */

/* Prepares the test of the run from the samples of functions. */
void fz_inference_prepare_whole(struct fz_inference *c, const struct fz_hypotheses *functions);
void fz_inference_judge_run(const struct fz_inference *c, struct fz_judged_run *run);
