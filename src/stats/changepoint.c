/* SPDX-License-Identifier: MIT */
/* Change points: propose, then weed.
 *
 * Propose. In windows of 40 that start every 20 values, and recursively in the whole series, the
 * best split of x into m and n values is the one with the largest energy distance
 *
 *     Q = mn/(m + n) * (2 E|X - Y| - E|X - X'| - E|Y - Y'|)
 *
 * and it is taken when Welch's test between its (up to 40) neighbours gives p < 10 p_max.
 *
 * Weed. Drop the weakest point until each has p < p_max between its up to 40 neighbours on both
 * sides, which end at the next points, and a step of at least `magnitude`.
 *
 * Two additions that measurements asked for: each segment is winsorised at median +- 4 * 1.4826 *
 * MAD, or one outlier hides a step; and Welch's variance is multiplied by (1 + r)/(1 - r), r the
 * first autocorrelation within 0 .. 0.9, or slow drift gives steps (a false point in 40 % of
 * series of correlated noise without this, 12 % with it; 2 % in independent noise).
 */
#include "changepoint.h"

#include <math.h>

#include "base/base.h"
#include "distribution.h"
#include "order.h"

enum {
	WINDOW = 40,
	WINDOW_STEP = 20,
	SEGMENT_MIN = 8,
	SIDE_MIN = 3, /* values that a level consists of */
};
static const double winsor_width = 4 * 1.4826;
static const double proposal_slack = 10;
static const double correlation_max = 0.9;

const struct fz_changepoint_setup fz_changepoint_defaults = { .p_max = 1e-3, .magnitude = 0.02 };

/* What is being worked on. Scratch arrays have n values each. */
struct search {
	const double *series;
	size_t n;
	double p_max, magnitude;
	double *segment; /* winsorised copy */
	double *sort;
	bool *is_point; /* proposed, later kept: n flags */
};

/* Copy with outliers moved to the fence; into out. */
static void winsorise(const double *x, size_t n, double *sort, double *out)
{
	double middle, fence;

	memcpy(sort, x, n * sizeof(*x));
	middle = fz_median(sort, n);
	for (size_t i = 0; i < n; i++)
		sort[i] = fabs(x[i] - middle);
	fence = winsor_width * fz_median(sort, n) + 1e-12;
	for (size_t i = 0; i < n; i++)
		out[i] = FZ_MIN(FZ_MAX(x[i], middle - fence), middle + fence);
}

/* Sum of |x[at] - x[i]| over i in [from, to). */
static double distances(const double *x, size_t at, size_t from, size_t to)
{
	double sum = 0;

	for (size_t i = from; i < to; i++)
		sum += fabs(x[at] - x[i]);
	return sum;
}

/* The best split of x: the length of its left part, or 0 when there is none. Values move from
 * right to left one by one and take their distances with them. */
static size_t best_split(const double *x, size_t n)
{
	double left = 0, right = 0, across = 0, best = 0; /* sums over unordered pairs */
	size_t at = 0;

	for (size_t i = 0; i < n; i++)
		right += distances(x, i, i + 1, n);
	for (size_t m = 1; m + SIDE_MIN <= n; m++) {
		double to_left = distances(x, m - 1, 0, m - 1);
		double to_right = distances(x, m - 1, m, n);
		double a = (double)m, b = (double)(n - m), q;

		left += to_left;
		right -= to_right;
		across += to_right - to_left;
		if (m < SIDE_MIN)
			continue;
		q = a * b / (a + b) *
		    (2 * across / (a * b) - 2 * left / (a * a) - 2 * right / (b * b));
		if (q > best) {
			best = q;
			at = m;
		}
	}
	return at;
}

struct level {
	double n, mean, variance;
	double correlation;
};

static struct level level_of(const double *x, size_t n)
{
	struct level l = { .n = (double)n };
	double squares = 0, products = 0;

	for (size_t i = 0; i < n; i++)
		l.mean += x[i] / (double)n;
	for (size_t i = 0; i < n; i++) {
		squares += (x[i] - l.mean) * (x[i] - l.mean);
		if (i > 0)
			products += (x[i] - l.mean) * (x[i - 1] - l.mean);
	}
	l.variance = n > 1 ? squares / (double)(n - 1) : 0;
	/* 1/n corrects the bias of an estimate around the sample mean; in few values there is
	 * nothing to be seen. */
	if (n >= SEGMENT_MIN)
		l.correlation = FZ_MIN(FZ_MAX(products / FZ_MAX(squares, 1e-18) + 1 / l.n, 0),
				       correlation_max);
	return l;
}

/* Two-sided p of Welch's test for different means, with the variance of correlated noise. */
static double welch(const struct level *a, const struct level *b)
{
	double r = (a->n * a->correlation + b->n * b->correlation) / (a->n + b->n);
	double inflation = (1 + r) / (1 - r);
	double va = a->variance / a->n * inflation, vb = b->variance / b->n * inflation;
	double sum = va + vb;

	if (sum <= 0)
		return a->mean == b->mean ? 1 : 0;
	return fz_t_two_sided((b->mean - a->mean) / sqrt(sum),
			      sum * sum / (va * va / (a->n - 1) + vb * vb / (b->n - 1)));
}

/* Look for a point in [low, high); false when there is none that could be significant. */
static bool propose(struct search *s, size_t low, size_t high, size_t *ret_at)
{
	size_t n = high - low, at, left, right;
	struct level a, b;

	if (n < SEGMENT_MIN)
		return false;
	winsorise(s->series + low, n, s->sort, s->segment);
	at = best_split(s->segment, n);
	if (at == 0)
		return false;
	left = FZ_MIN(at, WINDOW);
	right = FZ_MIN(n - at, WINDOW);
	a = level_of(s->segment + at - left, left);
	b = level_of(s->segment + at, right);
	if (welch(&a, &b) >= proposal_slack * s->p_max)
		return false;
	*ret_at = low + at;
	s->is_point[*ret_at] = true;
	return true;
}

/* The longer part is looped over, so the recursion is at most log2 n deep. */
static void propose_recursively(struct search *s, size_t low, size_t high)
{
	size_t at;

	while (propose(s, low, high, &at)) {
		if (at - low < high - at) {
			propose_recursively(s, low, at);
			low = at;
		} else {
			propose_recursively(s, at, high);
			high = at;
		}
	}
}

static void propose_all(struct search *s)
{
	size_t at;

	for (size_t low = 0; low == 0 || low + WINDOW_STEP < s->n; low += WINDOW_STEP)
		propose(s, low, FZ_MIN(s->n, low + WINDOW), &at);
	propose_recursively(s, 0, s->n);
}

/* The level of series[from .. from + n), outliers cut back. */
static struct level level_at(struct search *s, size_t from, size_t n)
{
	winsorise(s->series + from, n, s->sort, s->segment);
	return level_of(s->segment, n);
}

/* Significance of a point whose neighbours are `before` and `after`. Fewer than 3 values are no
 * level. */
static struct fz_changepoint weigh(struct search *s, size_t before, size_t at, size_t after)
{
	size_t left = FZ_MIN(at - before, WINDOW), right = FZ_MIN(after - at, WINDOW);
	struct level a = level_at(s, at - left, left), b = level_at(s, at, right);

	return (struct fz_changepoint){
		.at = at,
		.before = a.mean,
		.after = b.mean,
		.p = left >= SIDE_MIN && right >= SIDE_MIN ? welch(&a, &b) : 1,
	};
}

/* Is a weaker than b? Larger p first, then the smaller step. */
static bool weaker(const struct fz_changepoint *a, const struct fz_changepoint *b)
{
	if (a->p != b->p)
		return a->p > b->p;
	return fabs(a->after - a->before) < fabs(b->after - b->before);
}

static bool significant(const struct search *s, const struct fz_changepoint *c)
{
	return c->p < s->p_max && fabs(c->after - c->before) >= s->magnitude;
}

/* Drop the weakest point until all are significant; a drop only changes its two neighbours. */
static size_t weed(struct search *s, struct fz_changepoint *points, size_t count)
{
	for (;;) {
		size_t worst = count;

		for (size_t i = 0; i < count; i++) {
			size_t before = i > 0 ? points[i - 1].at : 0;
			size_t after = i + 1 < count ? points[i + 1].at : s->n;

			points[i] = weigh(s, before, points[i].at, after);
			if (!significant(s, &points[i]) &&
			    (worst == count || weaker(&points[i], &points[worst])))
				worst = i;
		}
		if (worst == count)
			return count;
		count--;
		memmove(points + worst, points + worst + 1, (count - worst) * sizeof(*points));
	}
}

size_t fz_changepoint_find(const double *series, size_t n, const struct fz_changepoint_setup *setup,
			   struct fz_changepoint **ret)
{
	size_t room = FZ_MAX(n, 1), count = 0;
	fz_auto(fz_free_ptr) double *segment = fz_reallocarray(NULL, room, sizeof(*segment));
	fz_auto(fz_free_ptr) double *sort = fz_reallocarray(NULL, room, sizeof(*sort));
	fz_auto(fz_free_ptr) bool *is_point = fz_calloc(room, sizeof(*is_point));
	fz_auto(fz_free_ptr) struct fz_changepoint *points = NULL;
	struct search s = { .series = series,
			    .n = n,
			    .p_max = setup->p_max,
			    .magnitude = setup->magnitude,
			    .segment = segment,
			    .sort = sort,
			    .is_point = is_point };

	propose_all(&s);
	points = fz_reallocarray(NULL, room, sizeof(*points));
	for (size_t i = 0; i < n; i++)
		if (is_point[i])
			points[count++] = (struct fz_changepoint){ .at = i };
	count = weed(&s, points, count);
	*ret = count ? fz_steal(points) : NULL;
	return count;
}
