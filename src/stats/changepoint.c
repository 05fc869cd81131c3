/* SPDX-License-Identifier: MIT */
/* Change points by description length: the cheapest explanation of the series by steps,
 * autocorrelated noise (regress.h) and, if necessary, two modes (modes.h):
 *
 *     -2 log likelihood  +  a penalty for each step  +  the code of the modes
 *
 * Noise is fitted with and without a step: there is no step if noise alone explains the series
 * nearly as well, for example slow drift, or one of many outliers. The search begins without steps,
 * and adds the step, the pair of steps (there and back) or the modes that reduce the cost most,
 * until nothing does.
 *
 * Outliers are clipped to a fence around the levels before each pass. The penalty grows with the
 * correlation of neighbours in the residuals, from `penalty` to `penalty_most`, because
 * autocorrelated noise often resembles steps. The numbers were chosen by simulation, so that less
 * than 5 % of series have a false point in all kinds of noise of docs/statistics.md.
 *
 * Long series are searched in overlapping reaches; each decides about the points in its middle.
 */
#include "changepoint.h"

#include <math.h>

#include "base/base.h"
#include "modes.h"
#include "order.h"
#include "regress.h"

enum {
	REACH = FZ_REGRESS_MAX,
	MARGIN = 40, /* values at each end of a reach, whose points its neighbours decide */
	SERIES_MIN = 8,
	WINDOW = 40, /* values that define a level */
	LAGS = 3,
};

static const double penalty = 10, penalty_most = 17;
static const double correlation_low = 0.1, correlation_high = 0.25;
static const double return_penalty = 8; /* added to the penalty of a pair of steps */
static const double return_bonus = 8;   /* for modes, against steps back and forth */
static const double floor_part = 0.05;  /* part of the magnitude: smaller noise does not matter */

const struct fz_changepoint_setup fz_changepoint_defaults = { .magnitude = 0.02 };

/* A reach of a series, and its explanation. */
struct account {
	size_t n;
	double floor;    /* least variance of noise */
	double x[REACH]; /* the series without its modes */
	double y[REACH]; /* the same with clipped outliers */
	struct fz_breaks steps;
	double modes; /* cost of the modes; 0: none */
};

/* ---- levels ---- */

static size_t level_end(const struct fz_breaks *steps, size_t n, size_t level)
{
	return level < steps->n ? steps->at[level] : n;
}

/* Sets out to x less the mean or the median of its level. */
static void subtract_levels(const double *x, size_t n, const struct fz_breaks *steps, bool median,
			    double *out)
{
	double work[REACH];

	for (size_t level = 0, from = 0; level <= steps->n; level++) {
		size_t end = level_end(steps, n, level);
		double middle = 0;

		memcpy(work, x + from, (end - from) * sizeof(*x));
		if (median)
			middle = fz_median(work, end - from);
		else
			for (size_t t = from; t < end; t++)
				middle += x[t] / (double)(end - from);
		for (; from < end; from++)
			out[from] = x[from] - middle;
	}
}

static void cut_outliers(struct account *s)
{
	double rest[REACH], work[REACH], median, fence;

	subtract_levels(s->x, s->n, &s->steps, true, rest);
	fence = fz_fence(rest, s->n, work, &median) + sqrt(s->floor);
	for (size_t t = 0; t < s->n; t++) {
		double off = rest[t] - median;
		s->y[t] = s->x[t] - off + FZ_MIN(FZ_MAX(off, -fence), fence);
	}
}

/* ---- cost ---- */

/* Mean of the first autocorrelations of the residuals, plus one standard error. */
static double correlation_at_most(const struct account *s)
{
	double rest[REACH], squares = 0, products = 0;

	subtract_levels(s->y, s->n, &s->steps, false, rest);
	for (size_t t = 0; t < s->n; t++) {
		squares += rest[t] * rest[t];
		for (size_t lag = 1; lag <= FZ_MIN(t, LAGS); lag++)
			products += rest[t] * rest[t - lag] / LAGS;
	}
	return products / FZ_MAX(squares, 1e-300) + 1 / sqrt((double)s->n);
}

static double penalty_of(const struct account *s)
{
	double part =
		(correlation_at_most(s) - correlation_low) / (correlation_high - correlation_low);
	double each = penalty + (penalty_most - penalty) * FZ_MIN(FZ_MAX(part, 0), 1);

	return (double)s->steps.n * each + s->modes;
}

/* ---- the search ---- */

/* Sets *ret to the account with those steps added; returns its cost. */
static double add_steps(const struct account *s, const struct fz_extension *more, size_t count,
			struct account *ret)
{
	*ret = *s;
	if (!isfinite(more->cost) || s->steps.n + count > FZ_REGRESS_STEPS)
		return INFINITY;
	for (size_t i = 0; i < count; i++)
		fz_breaks_add(&ret->steps, more->at[i]);
	return more->cost + penalty_of(ret) + (count == 2 ? return_penalty : 0);
}

/* Adds a step, or a pair of them; false if neither reduces the cost. */
static bool advance(struct account *s)
{
	struct fz_extension more[2];
	struct account one, two;
	double cost, cost_one, cost_two;

	cut_outliers(s);
	cost = fz_regress(s->y, s->n, &s->steps, s->floor, more) + penalty_of(s);
	cost_one = add_steps(s, &more[0], 1, &one);
	cost_two = add_steps(s, &more[1], 2, &two);
	if (FZ_MIN(cost_one, cost_two) >= cost)
		return false;
	*s = cost_two < cost_one ? two : one;
	return true;
}

/* Moves the values of both modes to the middle between them, so that negating the series negates
 * the result. False if there are no modes. */
static bool take_out_modes(struct account *s)
{
	double rest[REACH];
	struct fz_modes m;

	subtract_levels(s->x, s->n, &s->steps, false, rest);
	if (!fz_modes_find(rest, s->n, s->floor, &m))
		return false;
	for (size_t t = 0; t < s->n; t++)
		s->x[t] += rest[t] > m.boundary ? -m.gap / 2 : m.gap / 2;
	s->modes = m.code;
	return true;
}

/* Adds steps until the cost is minimal; returns the cost, with outliers clipped around the
 * account's own levels. */
static double settle(struct account *s)
{
	while (advance(s))
		;
	return fz_regress(s->y, s->n, &s->steps, s->floor, NULL) + penalty_of(s);
}

/* Finds the cheapest explanation of the series in s: by steps, by modes and steps, or by modes
 * around the first step. */
static void explain(struct account *s)
{
	struct account other[2] = { *s, *s };
	bool known[2];
	double least;

	known[0] = take_out_modes(&other[0]);
	known[1] = advance(&other[1]) && take_out_modes(&other[1]);
	least = settle(s);
	if (s->steps.n >= FZ_MODES_CHANGES)
		least += return_bonus;
	for (int i = 0; i < 2; i++) {
		double cost = known[i] ? settle(&other[i]) : INFINITY;
		if (cost >= least)
			continue;
		least = cost;
		*s = other[i];
	}
}

/* ---- sizes ---- */

/* Mean of n values with clipped outliers. */
static double mean_of(const double *x, size_t n)
{
	double work[WINDOW], median, fence = fz_fence(x, n, work, &median), mean = 0;

	for (size_t t = 0; t < n; t++)
		mean += FZ_MIN(FZ_MAX(x[t], median - fence), median + fence) / (double)n;
	return mean;
}

static struct fz_changepoint weigh(const double *x, size_t from, size_t at, size_t end)
{
	size_t left = FZ_MIN(at - from, WINDOW), right = FZ_MIN(end - at, WINDOW);

	return (struct fz_changepoint){ .at = at,
					.before = mean_of(x + at - left, left),
					.after = mean_of(x + at, right) };
}

/* Drop the smallest step until all are large enough; this changes only its two neighbours. */
static size_t drop_small(const double *x, size_t n, double magnitude, struct fz_changepoint *points,
			 size_t count)
{
	for (;;) {
		size_t worst = count;
		double least = magnitude;

		for (size_t i = 0; i < count; i++) {
			size_t from = i > 0 ? points[i - 1].at : 0;
			size_t end = i + 1 < count ? points[i + 1].at : n;

			points[i] = weigh(x, from, points[i].at, end);
			if (fabs(points[i].after - points[i].before) < least) {
				least = fabs(points[i].after - points[i].before);
				worst = i;
			}
		}
		if (worst == count)
			return count;
		count--;
		memmove(points + worst, points + worst + 1, (count - worst) * sizeof(*points));
	}
}

/* ---- the whole ---- */

/* Explain the n values; append the points in [from, to), and copy the values there without modes.
 */
static size_t search_reach(struct account *s, const double *series, size_t n, size_t from,
			   size_t to, struct fz_changepoint *points, double *without_modes)
{
	size_t count = 0;

	s->n = n;
	s->steps.n = 0;
	s->modes = 0;
	memcpy(s->x, series, n * sizeof(*series));
	explain(s);
	for (size_t i = 0; i < s->steps.n; i++)
		if (s->steps.at[i] >= from && s->steps.at[i] < to)
			points[count++].at = s->steps.at[i];
	memcpy(without_modes + from, s->x + from, (to - from) * sizeof(*s->x));
	return count;
}

size_t fz_changepoint_find(const double *series, size_t n, const struct fz_changepoint_setup *setup,
			   struct fz_changepoint **ret)
{
	fz_auto(fz_free_ptr) struct fz_changepoint *points = fz_calloc(n + 1, sizeof(*points));
	fz_auto(fz_free_ptr) double *x = fz_calloc(n + 1, sizeof(*x));
	fz_auto(fz_free_ptr) struct account *s = fz_calloc(1, sizeof(*s));
	size_t count = 0;

	*ret = NULL;
	if (n < SERIES_MIN)
		return 0;
	s->floor = pow(setup->magnitude * floor_part, 2);
	for (size_t at = 0, decided = 0; decided < n; at += REACH - 2 * MARGIN) {
		size_t low = n > REACH ? FZ_MIN(at, n - REACH) : 0, length = FZ_MIN(n - low, REACH);
		size_t end = low + length == n ? n : low + length - MARGIN;
		size_t more = search_reach(s, series + low, length, decided - low, end - low,
					   points + count, x + low);
		for (size_t i = count; i < count + more; i++)
			points[i].at += low;
		count += more;
		decided = end;
	}
	count = drop_small(x, n, setup->magnitude, points, count);
	*ret = count ? fz_steal(points) : NULL;
	return count;
}
