/* SPDX-License-Identifier: MIT */
/* The run as a whole: slower, faster, the same or unknown, and what could have been seen.
 */
#include "diff/judge_internal.h"

#include <math.h>

#include "stats/exposure.h"
#include "stats/power.h"

/* Fills what fz_power needs to know about this comparison. */
static struct fz_change test_run_visits(const struct fz_court *c, const struct fz_docket *k,
					struct fz_power *power)
{
	const struct fz_visit_null *null = &c->null[FZ_FAMILY_TOTAL];
	double reference = fz_docket_reference(k);
	double phi = (null->phi[FZ_BASE] + null->phi[FZ_HEAD]) / 2;

	power->samples = (c->visit.run[FZ_BASE] + c->visit.run[FZ_HEAD]) / (1 + c->visit.rho);
	power->phi = null->scale * null->scale * (c->visit.ordered ? 1 + phi : c->visit.noise.phi);
	power->kappa = null->scale * FZ_MAX(c->visit.noise.kappa, fz_court_drift(c, reference));
	return fz_visit_test_run(&c->visit, null, reference);
}

static struct fz_change test_run_runs(const struct fz_court *c, struct fz_power *power)
{
	fz_auto(fz_free_ptr) double *counts = fz_calloc(c->runs, sizeof(*counts));
	uint32_t n = 0;

	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		for (uint32_t run = 0; run < c->walk[side].run_count; run++)
			counts[n++] = c->walk[side].run_samples[run];
	power->samples = (c->walk[FZ_BASE].samples + c->walk[FZ_HEAD].samples) / c->runs;
	return fz_quasi_test(&c->quasi, &c->trend[FZ_FAMILY_TOTAL], counts, &power->phi);
}

static struct fz_change test_run_counts(const struct fz_court *c)
{
	fz_auto(fz_free_ptr) double *counts = fz_calloc(c->runs, sizeof(*counts));
	uint32_t n = 0;

	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		for (uint32_t run = 0; run < c->walk[side].run_count; run++)
			counts[n++] = c->walk[side].run_weight[run];
	return fz_court_test_count(c, counts);
}

static enum fz_run_word run_word(const struct fz_court *c, const struct fz_judged_run *run,
				 const struct fz_change *t)
{
	bool changed = c->method == FZ_JUDGE_COUNTS ? t->tested : t->p < 0.05;

	if (changed)
		return run->change > 0 ? FZ_RUN_SLOWER : FZ_RUN_FASTER;
	if (run->low >= -c->o->run_delta && run->high <= c->o->run_delta)
		return FZ_RUN_SAME;
	return FZ_RUN_UNKNOWN;
}

static struct fz_change test_run(const struct fz_court *c, const struct fz_docket *k,
				 struct fz_power *power)
{
	if (c->method == FZ_JUDGE_COUNTS)
		return test_run_counts(c);
	if (c->method == FZ_JUDGE_RUNS)
		return test_run_runs(c, power);
	return test_run_visits(c, k, power);
}

/* What is known of a function with that part of the run, instead of the run. */
static void narrow_power(const struct fz_court *c, double share, struct fz_power *power)
{
	const struct fz_visit_null *null = &c->null[FZ_FAMILY_SELF];
	const struct fz_quasi_trend *trend = &c->trend[FZ_FAMILY_SELF];
	double phi = (null->phi[FZ_BASE] + null->phi[FZ_HEAD]) / 2;
	double mean = power->samples * share;

	power->share = share;
	power->alpha = FZ_POWER_ALPHA_FAMILY;
	if (c->method == FZ_JUDGE_RUNS) {
		double floor = 1 + c->quasi.kappa * c->quasi.kappa * mean;
		power->phi = FZ_MAX(trend->level + trend->slope * mean, floor);
		return;
	}
	power->phi = null->scale * null->scale * (c->visit.ordered ? 1 + phi : c->visit.noise.phi);
	power->kappa = null->scale * c->visit.noise.kappa;
}

/* Relative to the run, also when it is about a function. */
static void see_smallest(const struct fz_court *c, const struct fz_power *power,
			 struct fz_judged_run *run)
{
	uint32_t base_runs = c->walk[FZ_BASE].run_count, head_runs = c->walk[FZ_HEAD].run_count;
	double goal = c->o->run_delta;

	run->visible_share = power->share;
	run->smallest_visible =
		power->share * fz_power_smallest_change(power, base_runs, head_runs);
	/* One run a side: only what is beyond the margin is tested. */
	if (power->share < 1 && fz_court_by_visits(c)) {
		run->smallest_visible += c->o->delta;
		goal = FZ_MAX(goal - c->o->delta, goal / 2);
	}
	run->more_runs = FZ_MAX(0, fz_power_runs_needed(power, goal / power->share) -
					   FZ_MIN(base_runs, head_runs));
}

void fz_court_judge_run(const struct fz_court *c, const struct fz_docket *k,
			struct fz_judged_run *run)
{
	struct fz_power power = { .share = 1, .phi = 1, .alpha = FZ_POWER_ALPHA_ONE };
	struct fz_change t = test_run(c, k, &power);
	bool by_share = c->d->scale == FZ_SCALE_SHARE;

	if (!by_share) {
		run->change = fz_diff_ratio(c->d, c->d->total[FZ_BASE], c->d->total[FZ_HEAD]);
		run->low = run->change + (t.low - t.change) / t.base;
		run->high = run->change + (t.high - t.change) / t.base;
		run->z = t.statistic;
		run->p = t.p;
		run->word = run_word(c, run, &t);
	}
	if (c->method == FZ_JUDGE_COUNTS) {
		run->smallest_visible = (t.high - t.low) / 2 / t.base;
		run->more_runs = 0;
		return;
	}
	if (by_share)
		narrow_power(c, FZ_JUDGE_TYPICAL_SHARE, &power);
	see_smallest(c, &power, run);
}
