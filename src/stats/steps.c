/* SPDX-License-Identifier: MIT */
/* Steps in a series of counts; see steps.h.
 *
 * Walk along the series with the level of the last step. A value that differs from the one before
 * it by more than `least` is a step. A value that differs by more than that from the level alone
 * ends a gradual change and becomes the level.
 *
 * A series scatters if three robust standard deviations of the differences between neighbours
 * exceed `least`. With fewer than 8 values scatter and real steps look alike, so counts are then
 * assumed to be exact, as they usually are.
 */
#include "steps.h"

#include <math.h>

#include "base/base.h"
#include "changepoint.h"
#include "order.h"

enum { SCATTER_MIN = 8 };
static const double deviations = 3 * 1.4826;

const char *const fz_step_names[] = { "exact", "gradual", "noisy" };

static double relative(double before, double after)
{
	if (before > 0)
		return after / before - 1;
	return after > 0 ? INFINITY : 0;
}

double fz_step_change(const struct fz_step *s)
{
	return relative(s->before, s->after);
}

/* Maps a cost of 0 below any other. */
static double logarithm(double cost)
{
	return log(FZ_MAX(cost, 0.5));
}

static bool scatters(const double *cost, size_t n, double least)
{
	if (n < SCATTER_MIN)
		return false;
	fz_auto(fz_free_ptr) double *moves = fz_reallocarray(NULL, n, sizeof(*moves));
	for (size_t i = 1; i < n; i++)
		moves[i - 1] = fabs(logarithm(cost[i]) - logarithm(cost[i - 1]));
	return deviations * fz_median(moves, n - 1) > log1p(least);
}

static size_t find_noisy(const double *cost, size_t n, double least, struct fz_step **ret)
{
	struct fz_changepoint_setup setup = fz_changepoint_defaults;
	fz_auto(fz_free_ptr) struct fz_changepoint *points = NULL;
	fz_auto(fz_free_ptr) double *logs = fz_reallocarray(NULL, n, sizeof(*logs));

	for (size_t i = 0; i < n; i++)
		logs[i] = logarithm(cost[i]);
	setup.magnitude = log1p(least);
	size_t count = fz_changepoint_find(logs, n, &setup, &points);
	*ret = count ? fz_calloc(count, sizeof(**ret)) : NULL;
	for (size_t i = 0; i < count; i++)
		(*ret)[i] = (struct fz_step){ .kind = FZ_STEP_NOISY,
					      .at = points[i].at,
					      .since = points[i].at - 1,
					      .before = exp(points[i].before),
					      .after = exp(points[i].after) };
	return count;
}

static size_t find_exact(const double *cost, size_t n, double least, struct fz_step **ret)
{
	struct fz_step *list = NULL;
	size_t count = 0, cap = 0, level = 0;

	for (size_t i = 1; i < n; i++) {
		bool jump = fabs(relative(cost[i - 1], cost[i])) > least;
		bool off = fabs(relative(cost[level], cost[i])) > least;
		if (!jump && !off)
			continue;
		size_t since = jump ? i - 1 : level;
		fz_push(list, count, cap,
			(struct fz_step){ .kind = jump ? FZ_STEP_EXACT : FZ_STEP_GRADUAL,
					  .at = i,
					  .since = since,
					  .before = cost[since],
					  .after = cost[i] });
		level = i;
	}
	*ret = list;
	return count;
}

size_t fz_steps_find(const double *cost, size_t n, double least, struct fz_step **ret)
{
	return scatters(cost, n, least) ? find_noisy(cost, n, least, ret)
					: find_exact(cost, n, least, ret);
}
