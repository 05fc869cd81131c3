/* SPDX-License-Identifier: MIT */
/* Sets a consistent verdict and interval for each function or path.
 *
 * The interval of a test is in cost of a base run. Reports show measured costs, so the interval is
 * scaled to these, extended to contain the reported change, and limited to -100 %:
 *
 *     tested     ---[-----x---]---         of 485 ms
 *     reported   --[------x--X]---         of 510 ms: x moved to X, which it contains
 *
 * The correction for many tests requires more than 95 % confidence. It uses the level of Benjamini
 * and Yekutieli (2005), R q/m for R of m rejected; at that level exactly the rejected functions are
 * rejected:
 *
 *     rejected        the corrected interval, or the 95 % interval if the corrected one contains
 *                     0, since the interval is not exactly the inverse of the test
 *     not rejected    the 95 % interval; if that excludes 0, the corrected one, extended to 0 if
 *                     it also excludes 0, since only the part beyond the margin is tested
 *
 * Entities that make up nearly all of the run get the run's verdict and its interval, shifted by
 * the difference between their change and the run's.
 */
#include "compare/judge_internal.h"

#include <math.h>

#include "stats/bh.h"

/* An entity with at least this share of both sides counts as the run. */
static const double nearly_all = 0.90;

struct interval {
	double low, high;
};

static bool excludes_zero(struct interval v)
{
	return v.low > 0 || v.high < 0;
}

static const int64_t *shown_of(const struct fz_hypotheses *k, enum fz_family f, uint32_t i)
{
	return f == FZ_FAMILY_SELF ? k->cost[i]->self : k->cost[i]->total;
}

bool fz_hypotheses_is_whole(const struct fz_inference *c, const struct fz_hypotheses *k,
			    enum fz_family f, uint32_t i)
{
	const int64_t *shown = shown_of(k, f, i), *total = c->d->total;

	if (!fz_inference_by_samples(c) || !isfinite(c->run->low) || shown[FZ_BASE] <= 0)
		return false;
	return (double)shown[FZ_BASE] >= nearly_all * (double)total[FZ_BASE] &&
	       (double)shown[FZ_HEAD] >= nearly_all * (double)total[FZ_HEAD];
}

/* Scales the interval of a test to reported costs. Without samples that count there is no
 * interval. */
static struct interval show(const struct fz_inference *c, const int64_t shown[FZ_SIDES],
			    const struct fz_change *change)
{
	double delta = fz_diff_delta(c->d, shown[FZ_BASE], shown[FZ_HEAD]);
	double expected = fz_diff_expected(c->d, shown[FZ_BASE]);
	double tested = c->reach * (change->base + change->head), scale = 1;

	if (isnan(change->low) || (tested == 0 && (shown[FZ_BASE] || shown[FZ_HEAD])))
		return (struct interval){ NAN, NAN };
	if (fz_inference_by_samples(c) && tested > 0)
		scale = (expected + (double)shown[FZ_HEAD]) / tested;
	return (struct interval){
		fmax(fmin(change->low * c->reach * scale, delta), fmin(-fabs(expected), delta)),
		fmax(change->high * c->reach * scale, delta),
	};
}

static double margin_of(const struct fz_inference *c)
{
	return c->margin * c->reach;
}

static bool is_within(struct interval v, double margin)
{
	return v.low >= -margin && v.high <= margin;
}

/* Interval of an entity that makes up nearly all of the run. */
static struct interval interval_of_run(const struct fz_inference *c, const int64_t shown[FZ_SIDES])
{
	const struct fz_judged_run *run = c->run;
	double expected = fz_diff_expected(c->d, shown[FZ_BASE]), head = (double)shown[FZ_HEAD];
	double moved = run->change > -1 ? head / expected / (1 + run->change) : 1;

	return (struct interval){
		fmin(expected * ((1 + run->low) * moved - 1), head - expected),
		fmax(expected * ((1 + run->high) * moved - 1), head - expected),
	};
}

static bool is_certain(const struct fz_judged_run *run)
{
	return run->word == FZ_RUN_SLOWER || run->word == FZ_RUN_FASTER;
}

bool fz_hypotheses_changed_with_run(const struct fz_inference *c, const struct fz_hypotheses *k,
				    enum fz_family f, uint32_t i)
{
	struct interval v = interval_of_run(c, shown_of(k, f, i));

	return is_certain(c->run) && excludes_zero(v) && !is_within(v, margin_of(c));
}

void fz_hypotheses_withdraw(const struct fz_inference *c, struct fz_hypotheses *k, enum fz_family f,
			    uint32_t i)
{
	struct interval v = show(c, shown_of(k, f, i), &k->change[f][i]);

	if (fz_hypotheses_is_whole(c, k, f, i))
		return;
	/* A weight above 1 must not make a change certain that is not even so by itself. */
	if (!excludes_zero(v) || is_within(v, margin_of(c)) ||
	    k->change[f][i].p > FZ_FALSE_DISCOVERY_RATE)
		k->rejected[f][i] = false;
}

/* Chooses the interval that agrees with the decision. */
static struct interval agree(const struct fz_inference *c, const struct fz_hypotheses *k,
			     enum fz_family f, uint32_t i, double *alpha)
{
	const int64_t *shown = shown_of(k, f, i);
	struct interval usual = show(c, shown, &k->change[f][i]);
	bool rejected = k->rejected[f][i];
	double level = *alpha;

	*alpha = 0.05;
	if (fz_hypotheses_is_whole(c, k, f, i))
		return interval_of_run(c, shown);
	if (!fz_inference_by_samples(c) || !(level < *alpha) || !excludes_zero(usual) ||
	    is_within(usual, margin_of(c)))
		return usual;
	struct fz_change strict = fz_hypotheses_test_one(c, k, f, i, level);
	struct interval corrected = show(c, shown, &strict);
	if (rejected && !excludes_zero(corrected))
		return usual;
	*alpha = level;
	return corrected;
}

static void check(const struct fz_judged *v, double expected, double delta, double margin)
{
	bool excludes = v->low > 0 || v->high < 0;
	double rounding = 1 + 1e-9 * fabs(expected);

	if (isnan(v->low)) {
		fz_assert(v->verdict == FZ_VERDICT_UNKNOWN);
		return;
	}
	fz_assert(isfinite(v->low) && isfinite(v->high));
	fz_assert(v->low <= delta && delta <= v->high && v->low >= -fabs(expected) - rounding);
	if (v->verdict != FZ_VERDICT_UNCHANGED)
		fz_assert((v->verdict == FZ_VERDICT_CHANGED) == excludes);
	else
		fz_assert(v->low >= -margin && v->high <= margin);
}

void fz_hypotheses_settle(const struct fz_inference *c, struct fz_hypotheses *k, enum fz_family f,
			  uint32_t i, double alpha)
{
	const int64_t *shown = shown_of(k, f, i);
	double margin = margin_of(c);
	struct interval v = agree(c, k, f, i, &alpha);
	bool rejected = k->rejected[f][i];

	if (excludes_zero(v) && !rejected && !is_within(v, margin)) {
		v.low = fmin(v.low, 0);
		v.high = fmax(v.high, 0);
	}
	k->judged[f][i] = (struct fz_judged){
		.verdict = fz_verdict_of(v.low, v.high, rejected, margin),
		.low = v.low,
		.high = v.high,
		.confidence = isnan(v.low) ? NAN : 1 - alpha,
		.z = k->change[f][i].statistic,
		.p = k->change[f][i].p,
	};
	check(&k->judged[f][i], fz_diff_expected(c->d, shown[FZ_BASE]),
	      fz_diff_delta(c->d, shown[FZ_BASE], shown[FZ_HEAD]), margin);
}
