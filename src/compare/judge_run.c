/* SPDX-License-Identifier: MIT */
/* Judges the run as a whole: slower, faster, the same or unknown, and the smallest visible change.
 */
#include "compare/judge_internal.h"

#include <math.h>

#include "stats/power.h"

/* Factor of functions' own noise that the run has: their errors are independent. */
static double concentration(const struct fz_hypotheses *k, uint32_t runs)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < k->n; i++) {
		double cost = 0;

		for (uint32_t r = 0; r < runs; r++)
			cost += k->evidence[FZ_FAMILY_SELF][(size_t)i * runs + r].cost;
		sum += cost;
		squares += cost * cost;
	}
	return sum > 0 ? sqrt(squares) / sum : 1;
}

/* A run is one visit, but if stalls are possible it has the visits of all its functions. Several
 * runs show the effect of stalls themselves. */
static void sum_stalls(struct fz_inference *c, const struct fz_hypotheses *k)
{
	bool any = c->ratio.stalls.possible && c->runs == 2;

	c->whole_stalls = fz_calloc(c->runs, sizeof(*c->whole_stalls));
	for (size_t i = 0; any && i < (size_t)k->n * c->runs; i++) {
		c->whole_stalls[i % c->runs].visits += k->evidence[FZ_FAMILY_SELF][i].visits;
		c->whole_stalls[i % c->runs].square += k->evidence[FZ_FAMILY_SELF][i].square;
		c->whole_stalls[i % c->runs].on += k->evidence[FZ_FAMILY_SELF][i].on;
	}
}

void fz_inference_prepare_whole(struct fz_inference *c, const struct fz_hypotheses *k)
{
	double most = FZ_MAX(c->walk[FZ_BASE].weight / c->ratio.base_runs,
			     c->walk[FZ_HEAD].weight / c->reach);

	c->whole = c->ratio;
	/* Unreadable samples belong to the run in any case. */
	c->whole.margin = c->whole.slack = 0;
	c->whole.noise.own *= concentration(k, c->runs);
	c->whole_drift = fz_inference_drift(c, most, UINT64_MAX, NULL);
	sum_stalls(c, k);
}

/* Tests the run, and sets *power for this comparison. */
static struct fz_change test_run_samples(const struct fz_inference *c, struct fz_power *power)
{
	fz_auto(fz_free_ptr) struct fz_ratio_run *whole = fz_calloc(c->runs, sizeof(*whole));
	uint32_t n = 0;

	for (enum fz_side side = 0; side < FZ_SIDES; side++) {
		const struct fz_walk *w = &c->walk[side];

		for (uint32_t run = 0; run < w->run_count; run++, n++)
			whole[n] = (struct fz_ratio_run){
				.cost = w->run_weight[run],
				.samples = w->run_samples[run],
				.visits = 1 + c->whole_stalls[n].visits,
				.square = c->whole_stalls[n].square,
				.on = c->whole_stalls[n].on,
				.doubt = fz_walk_doubted(w, run),
			};
	}
	power->samples = (c->walk[FZ_BASE].samples + c->walk[FZ_HEAD].samples) / c->runs;
	power->phi = 1 / power->samples; /* one visit */
	fz_ratio_set_power(&c->whole, c->whole_drift.variance, power);
	return fz_ratio_test(&c->whole, &c->whole_drift, whole);
}

/* Sets the interval of the test relative to the base, extended to contain the reported change. */
static void set_interval(struct fz_judged_run *run, const struct fz_change *t)
{
	run->low = FZ_MAX(-1, fmin(t->low / t->base, run->change));
	run->high = fmax(t->high / t->base, run->change);
	run->z = t->statistic;
	run->p = t->p;
}

static bool excludes_zero(const struct fz_judged_run *run)
{
	return run->low > 0 || run->high < 0;
}

static bool is_within(const struct fz_judged_run *run, double margin)
{
	return run->low >= -margin && run->high <= margin;
}

static enum fz_run_word word_of(const struct fz_inference *c, const struct fz_judged_run *run,
				bool changed)
{
	if (changed)
		return run->low > 0 ? FZ_RUN_SLOWER : FZ_RUN_FASTER;
	return is_within(run, c->o->run_delta) ? FZ_RUN_SAME : FZ_RUN_UNKNOWN;
}

/* Asserts that verdict and interval agree. A certain change of counts may still be too small to
 * report. */
static void check(const struct fz_inference *c, const struct fz_judged_run *run)
{
	bool certain = run->word == FZ_RUN_SLOWER || run->word == FZ_RUN_FASTER;

	fz_assert(isfinite(run->low) && isfinite(run->high) && run->low >= -1);
	fz_assert(run->low <= run->change && run->change <= run->high);
	fz_assert(certain == excludes_zero(run) || run->word == FZ_RUN_SAME);
	fz_assert(run->word != FZ_RUN_SLOWER || run->low > 0);
	fz_assert(run->word != FZ_RUN_FASTER || run->high < 0);
	fz_assert(run->word != FZ_RUN_SAME || is_within(run, c->o->run_delta));
}

static void set_word(const struct fz_inference *c, const struct fz_change *t,
		     struct fz_judged_run *run)
{
	bool changed =
		excludes_zero(run) && (c->method == FZ_JUDGE_COUNTS ? t->tested : t->p < 0.05);

	/* With few samples the interval may exclude 0 although the test does not reject. */
	if (!changed && !(c->method == FZ_JUDGE_COUNTS && is_within(run, c->o->run_delta))) {
		run->low = fmin(run->low, 0);
		run->high = fmax(run->high, 0);
	}
	run->word = word_of(c, run, changed);
	check(c, run);
}

static struct fz_change test_run(const struct fz_inference *c, struct fz_power *power)
{
	if (c->method == FZ_JUDGE_COUNTS)
		return fz_inference_test_run_counts(c);
	return test_run_samples(c, power);
}

/* Changes *power from the run to a function with the typical share of it. */
static void narrow_power(const struct fz_inference *c, struct fz_power *power)
{
	struct fz_drift_belief drift = fz_drift_without(&c->drift, 0, 0, NULL);

	power->share = FZ_JUDGE_TYPICAL_SHARE;
	power->alpha = FZ_POWER_ALPHA_FAMILY;
	power->phi = c->dispersion * c->ratio.noise.clumping *
		     FZ_MAX(c->walk[FZ_BASE].clumping, c->walk[FZ_HEAD].clumping);
	fz_ratio_set_power(&c->ratio, drift.variance, power);
}

/* Sets the smallest visible change, relative to the run even if it is that of a function. */
static void set_smallest_visible(const struct fz_inference *c, const struct fz_power *power,
				 struct fz_judged_run *run)
{
	uint32_t base_runs = c->walk[FZ_BASE].run_count, head_runs = c->walk[FZ_HEAD].run_count;
	double goal = c->o->run_delta;

	run->visible_share = power->share;
	run->smallest_visible =
		power->share * fz_power_smallest_change(power, base_runs, head_runs);
	/* Only the part beyond the margin is tested. */
	if (power->share < 1) {
		run->smallest_visible += c->o->delta;
		goal = FZ_MAX(goal - c->o->delta, goal / 2);
	}
	if (!fz_diff_is_one_recording(c->d))
		run->more_runs = FZ_MAX(0, fz_power_runs_needed(power, goal / power->share) -
						   FZ_MIN(base_runs, head_runs));
}

/* Scaled by reference, the run has no verdict, because scaling removed the change that all
 * functions share, whether it was the machine's or the program's. */
void fz_inference_judge_run(const struct fz_inference *c, struct fz_judged_run *run)
{
	struct fz_power power = { .share = 1, .phi = 1, .alpha = FZ_POWER_ALPHA_ONE };
	struct fz_change t = test_run(c, &power);
	bool by_share = !fz_diff_knows_whole(c->d);

	if (!by_share)
		run->change = fz_diff_ratio(c->d, c->d->total[FZ_BASE], c->d->total[FZ_HEAD]);
	if (!by_share && c->d->scale != FZ_SCALE_REFERENCE && isfinite(run->change) && t.base > 0) {
		set_interval(run, &t);
		set_word(c, &t, run);
	}
	if (c->method == FZ_JUDGE_COUNTS) {
		run->smallest_visible = fz_inference_smallest_count(c, &t);
		run->more_runs = 0;
		return;
	}
	if (by_share)
		narrow_power(c, &power);
	set_smallest_visible(c, &power, run);
}
