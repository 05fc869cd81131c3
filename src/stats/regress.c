/* SPDX-License-Identifier: MIT */
/* For each kind of noise the series and the regressors (1 for the first level, a step for each
 * break) are whitened, and the regressors are made orthonormal. Squares are those of the residuals:
 *
 *     -2 log L = n log(squares/n) + log det(covariance)
 *
 * A further step at t reduces the squares by product^2/size, where product is that of the step and
 * the residuals, and size is the square of the step less its projection. One pass backwards
 * computes all products (arma.h), so all steps cost O(n), and all pairs O(n^2) with 2x2 equations.
 */
#include <math.h>

#include "arma.h"
#include "base/base.h"
#include "regress.h"

enum { REGRESSORS = FZ_REGRESS_STEPS + 1 };

/* A step whose remaining part is smaller is collinear with others. */
static const double collinear = 1e-6;

/* From independent values to drift under measurement noise. */
static const struct {
	double phi, white;
} noises[] = {
	{ 0, 0 },      { 0.2, 0 },   { 0.4, 0 },    { 0.6, 0 },    { 0.6, 0.4 },  { 0.8, 0 },
	{ 0.8, 0.3 },  { 0.8, 0.6 }, { 0.9, 0 },    { 0.9, 0.3 },  { 0.9, 0.6 },  { 0.95, 0 },
	{ 0.95, 0.3 }, { 0.98, 0 },  { 0.98, 0.3 }, { 0.98, 0.7 }, { 0.99, 0.9 },
};

struct regression {
	size_t n;
	const struct fz_breaks *breaks;
	struct fz_whitener white;
	struct fz_step_products steps;
	double basis[REGRESSORS][FZ_REGRESS_MAX];  /* white regressors, orthonormal */
	double shadow[REGRESSORS][FZ_REGRESS_MAX]; /* their products with a step at t */
	double rest[FZ_REGRESS_MAX];               /* residuals of the series */
	double squares;                            /* of the residuals */
	double product[FZ_REGRESS_MAX];            /* of the residuals and a step at t */
	double size[FZ_REGRESS_MAX];               /* of the step less its projection; 0: no room */
};

/* Least squares after adding one or two steps, for one kind of noise. */
struct best {
	double squares;
	size_t at[2];
};

void fz_breaks_add(struct fz_breaks *b, size_t at)
{
	fz_assert(b->n < FZ_REGRESS_STEPS);
	size_t i = b->n++;

	for (; i > 0 && b->at[i - 1] > at; i--)
		b->at[i] = b->at[i - 1];
	b->at[i] = at;
}

static size_t distance(size_t a, size_t b)
{
	return a > b ? a - b : b - a;
}

bool fz_breaks_fit(const struct fz_breaks *b, size_t n, size_t at)
{
	if (at < FZ_END_MIN || at + FZ_END_MIN > n)
		return false;
	for (size_t i = 0; i < b->n; i++)
		if (distance(b->at[i], at) < FZ_LEVEL_MIN)
			return false;
	return true;
}

static double dot(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t t = 0; t < n; t++)
		sum += a[t] * b[t];
	return sum;
}

/* Subtract from v its projection on the first `count` regressors. */
static void project(const struct regression *r, size_t count, double *v)
{
	for (size_t i = 0; i < count; i++) {
		double part = dot(r->basis[i], v, r->n);
		for (size_t t = 0; t < r->n; t++)
			v[t] -= part * r->basis[i][t];
	}
}

static void make_basis(struct regression *r)
{
	double indicator[FZ_REGRESS_MAX];

	for (size_t i = 0; i <= r->breaks->n; i++) {
		for (size_t t = 0; t < r->n; t++)
			indicator[t] = i == 0 || t >= r->breaks->at[i - 1];
		fz_whiten(&r->white, indicator, r->basis[i]);
		project(r, i, r->basis[i]);
		project(r, i, r->basis[i]); /* again: rounding */
		double norm = sqrt(dot(r->basis[i], r->basis[i], r->n));
		for (size_t t = 0; t < r->n; t++)
			r->basis[i][t] /= norm;
	}
}

static void fit(struct regression *r, const double *y)
{
	make_basis(r);
	fz_whiten(&r->white, y, r->rest);
	project(r, r->breaks->n + 1, r->rest);
	r->squares = dot(r->rest, r->rest, r->n);
}

static void measure_steps(struct regression *r)
{
	fz_whitened_steps(&r->white, r->rest, r->product);
	fz_step_products(&r->white, &r->steps);
	for (size_t t = 0; t < r->n; t++)
		r->size[t] = r->steps.a[t] + r->steps.b[t] + r->steps.c[t];
	for (size_t i = 0; i <= r->breaks->n; i++) {
		fz_whitened_steps(&r->white, r->basis[i], r->shadow[i]);
		for (size_t t = 0; t < r->n; t++)
			r->size[t] -= r->shadow[i][t] * r->shadow[i][t];
	}
	for (size_t t = 0; t < r->n; t++)
		if (!fz_breaks_fit(r->breaks, r->n, t) || r->size[t] < collinear)
			r->size[t] = 0;
}

static void keep_best(struct best *best, double squares, size_t at, size_t second)
{
	if (squares < best->squares)
		*best = (struct best){ squares, { at, second } };
}

/* Pairs whose first step is at s. */
static void try_pairs(const struct regression *r, size_t s, struct best *best)
{
	double left = 1; /* remaining part of the first step, at the second */

	for (size_t t = s + 1; t < r->n; t++) {
		left = 1 - r->white.phi + r->white.gain[t - 1] * left;
		if (t - s < FZ_LEVEL_MIN || r->size[t] <= 0)
			continue;
		double both = r->steps.a[t] + r->steps.b[t] * (1 + left) / 2 + r->steps.c[t] * left;
		for (size_t i = 0; i <= r->breaks->n; i++)
			both -= r->shadow[i][s] * r->shadow[i][t];
		double determinant = r->size[s] * r->size[t] - both * both;
		if (determinant < collinear * r->size[s] * r->size[t])
			continue;
		double p = r->product[s], q = r->product[t];
		double explained = p * p * r->size[t] - 2 * p * q * both + q * q * r->size[s];
		keep_best(best, r->squares - explained / determinant, s, t);
	}
}

static void extend(struct regression *r, struct best best[2])
{
	measure_steps(r);
	for (size_t t = 0; t < r->n; t++) {
		double product = r->product[t];

		if (r->size[t] <= 0)
			continue;
		keep_best(&best[0], r->squares - product * product / r->size[t], t, t);
		try_pairs(r, t, &best[1]);
	}
}

static double cost_of(const struct regression *r, double squares, double floor)
{
	double n = (double)r->n;

	return n * log(FZ_MAX(squares, 0) / n + floor) + r->white.log_determinant;
}

double fz_regress(const double *y, size_t n, const struct fz_breaks *breaks, double floor,
		  struct fz_extension ret[2])
{
	fz_auto(fz_free_ptr) struct regression *r = fz_calloc(1, sizeof(*r));
	double cost = INFINITY;

	r->n = n;
	r->breaks = breaks;
	for (int i = 0; ret && i < 2; i++)
		ret[i].cost = INFINITY;
	for (size_t k = 0; k < FZ_ARRAY_LEN(noises); k++) {
		struct fz_arma noise = fz_arma_of(noises[k].phi, noises[k].white);
		struct best best[2] = { { INFINITY, { 0 } }, { INFINITY, { 0 } } };

		fz_whitener_init(&r->white, &noise, n);
		fit(r, y);
		cost = FZ_MIN(cost, cost_of(r, r->squares, floor));
		if (!ret)
			continue;
		extend(r, best);
		for (int i = 0; i < 2; i++) {
			double with = cost_of(r, best[i].squares, floor);
			if (with < ret[i].cost)
				ret[i] = (struct fz_extension){ with,
								{ best[i].at[0], best[i].at[1] } };
		}
	}
	return cost;
}
