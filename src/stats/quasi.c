/* SPDX-License-Identifier: MIT */
/* The quasi-likelihood count test.
 *
 * Y_r are the counts of a function, e_r the exposures (scaled to mean 1), k and e their sums over
 * a side, n the number of runs:
 *
 *     lambda_A = k_A/e_A,  lambda_B = k_B/e_B,  lambda_0 = (k_A + k_B)/(e_A + e_B)
 *     mean     = (k_A + k_B)/n
 *     own      = sum (Y - mu)^2/max(mu, 1/2) / df      mu = e_r lambda of its side, df = n - 2
 *     trend    = max(1, c0 + c1 mean, 1 + kappa^2 mean)
 *     phi      = max((d0 trend + df own)/(d0 + df), 1 + kappa^2 mean)
 *     t        = (lambda_B - lambda_A)/sqrt(phi lambda_0 (1/e_A + 1/e_B)),  d0 + df degrees
 *
 * c0, c1 >= 0 are fitted by least squares to the medians of `own` in up to five bins of equally
 * many functions, each divided by the median of chi-square/df, which is below 1: medians, so that
 * the functions that do vary more than others do not set the trend.
 *
 * An ordinary moderated t-test on log counts (limma) needs five runs for what this sees in three.
 */
#include "quasi.h"

#include <math.h>

#include "base/base.h"
#include "distribution.h"
#include "order.h"

enum { BINS_MAX = 5, BIN_FUNCTIONS = 6, BIN_SAMPLES_A_RUN = 10 };
static const double level_without_trend = 1.5;

/* One function, with everything that both steps need. */
struct fit {
	double exposure[2], rate[2]; /* of a side */
	double pooled;               /* lambda_0 */
	double mean;
	double sum;
	double own; /* dispersion */
	double df;
};

static size_t run_count(const struct fz_quasi_setup *setup)
{
	return setup->base_runs + setup->head_runs;
}

static double mean_exposure(const struct fz_quasi_setup *setup)
{
	double sum = 0;

	for (size_t r = 0; r < run_count(setup); r++) {
		fz_assert(setup->exposure[r] > 0);
		sum += setup->exposure[r];
	}
	return sum / (double)run_count(setup);
}

static struct fit fit_function(const struct fz_quasi_setup *setup, double unit, const double *y)
{
	size_t runs = run_count(setup);
	struct fit f = { .df = (double)runs - 2 };
	double count[2] = { 0 }, squares = 0;

	for (size_t r = 0; r < runs; r++) {
		count[r >= setup->base_runs] += y[r];
		f.exposure[r >= setup->base_runs] += setup->exposure[r] / unit;
	}
	for (int side = 0; side < 2; side++)
		f.rate[side] = count[side] / f.exposure[side];
	f.sum = count[0] + count[1];
	f.pooled = f.sum / (f.exposure[0] + f.exposure[1]);
	f.mean = f.sum / (double)runs;
	for (size_t r = 0; r < runs; r++) {
		double mu = setup->exposure[r] / unit * f.rate[r >= setup->base_runs];

		squares += (y[r] - mu) * (y[r] - mu) / FZ_MAX(mu, 0.5);
	}
	f.own = squares / f.df;
	return f;
}

static void check_setup(const struct fz_quasi_setup *setup)
{
	fz_assert(setup->base_runs > 0 && setup->head_runs > 0 && run_count(setup) >= 3);
}

struct point {
	double mean, own;
};

static int compare_point(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	if (x->mean != y->mean)
		return x->mean < y->mean ? -1 : 1;
	return (x->own > y->own) - (x->own < y->own);
}

/* Least squares of y = level + slope x with neither below 0. All y >= 0 and x > 0, so at most one
 * of the two can want to be negative, and then it is 0. */
static void fit_line(const struct point *bin, size_t n, struct fz_quasi_trend *ret)
{
	double x = 0, y = 0, xx = 0, xy = 0, spread;

	for (size_t i = 0; i < n; i++) {
		x += bin[i].mean;
		y += bin[i].own;
		xx += bin[i].mean * bin[i].mean;
		xy += bin[i].mean * bin[i].own;
	}
	spread = (double)n * xx - x * x;
	ret->slope = spread > 1e-12 * xx ? ((double)n * xy - x * y) / spread : 0;
	ret->level = (y - ret->slope * x) / (double)n;
	if (ret->slope < 0) {
		ret->slope = 0;
		ret->level = y / (double)n;
	} else if (ret->level < 0) {
		ret->slope = xy / xx;
		ret->level = 0;
	}
}

/* Medians of one bin, through scratch. */
static struct point bin_medians(const struct point *points, size_t n, double *scratch)
{
	struct point bin;

	for (size_t i = 0; i < n; i++)
		scratch[i] = points[i].mean;
	bin.mean = fz_median(scratch, n);
	for (size_t i = 0; i < n; i++)
		scratch[i] = points[i].own;
	bin.own = fz_median(scratch, n);
	return bin;
}

void fz_quasi_trend_fit(const struct fz_quasi_setup *setup, const double *counts, size_t functions,
			struct fz_quasi_trend *ret)
{
	size_t runs = run_count(setup), room = FZ_MAX(functions, 1), n = 0, bins, next = 0;
	fz_auto(fz_free_ptr) struct point *points = fz_reallocarray(NULL, room, sizeof(*points));
	fz_auto(fz_free_ptr) double *scratch = fz_reallocarray(NULL, room, sizeof(*scratch));
	struct point bin[BINS_MAX];
	double unit = mean_exposure(setup), df = (double)runs - 2;

	check_setup(setup);
	for (size_t i = 0; i < functions; i++) {
		struct fit f = fit_function(setup, unit, counts + i * runs);

		if (f.mean >= BIN_SAMPLES_A_RUN)
			points[n++] = (struct point){ .mean = f.mean, .own = f.own };
	}
	ret->critical = fz_t_critical(0.05, FZ_QUASI_PRIOR_DF + df);
	if (n < BIN_FUNCTIONS) {
		ret->level = level_without_trend;
		ret->slope = 0;
		return;
	}
	qsort(points, n, sizeof(*points), compare_point);
	bins = FZ_MAX(2, FZ_MIN(BINS_MAX, n / BIN_FUNCTIONS));
	for (size_t i = 0; i < bins; i++) {
		size_t size = n / bins + (i < n % bins);

		bin[i] = bin_medians(points + next, size, scratch);
		bin[i].own /= fz_chi2_median(df) / df;
		next += size;
	}
	fit_line(bin, bins, ret);
}

struct fz_change fz_quasi_test(const struct fz_quasi_setup *setup,
			       const struct fz_quasi_trend *trend, const double *counts,
			       double *ret_dispersion)
{
	const double d0 = FZ_QUASI_PRIOR_DF;
	struct fit f = fit_function(setup, mean_exposure(setup), counts);
	double least = 1 + setup->kappa * setup->kappa * f.mean;
	double prior = FZ_MAX(FZ_MAX(1, trend->level + trend->slope * f.mean), least);
	double phi = FZ_MAX((d0 * prior + f.df * f.own) / (d0 + f.df), least);
	double error = sqrt(phi * f.pooled * (1 / f.exposure[0] + 1 / f.exposure[1]));
	double half = trend->critical * error;
	double change = f.rate[1] - f.rate[0];
	struct fz_change c = {
		.base = f.rate[0],
		.head = f.rate[1],
		.change = change,
		.low = change - half,
		.high = change + half,
		.statistic = NAN,
		.p = NAN,
		.tested = f.sum >= FZ_QUASI_MIN_SAMPLES,
	};

	check_setup(setup);
	if (c.tested) {
		c.statistic = change / error;
		c.p = fz_t_two_sided(c.statistic, d0 + f.df);
	}
	if (ret_dispersion)
		*ret_dispersion = phi;
	return c;
}
