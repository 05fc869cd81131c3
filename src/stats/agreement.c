/* SPDX-License-Identifier: MIT */
/* The scale that functions agree on.
 *
 * With x = ln(head/base) of a function and s the logarithm of the scale, a function is either
 * unchanged, x ~ N(s, v), or changed, x ~ N(s, v + CHANGE^2): a mixture, so the influence of each
 * is bounded. v is the noise of its counts and from run to run. The scale is either the usual one,
 * up to the drift of the machine, or an arbitrary one. The posterior of s is computed on a grid;
 * the functions agree if its highest peak, down to the valleys on both sides, has nearly all of the
 * mass. Two functions that changed relative to each other do not agree, because either may be the
 * unchanged one.
 *
 * Votes must be independent, so only functions with at least 1 % of a side have a vote of their
 * own.
 */
#include "agreement.h"

#include <math.h>

#include "base/base.h"

enum {
	MIN_SAMPLES = 20,         /* of both sides together */
	VOTERS_MAX = 2 * 100 + 1, /* 100 large functions per side, and the rest */
	POINTS = 4096,
};

static const double dispersion = 2;   /* variance of counts over Poisson's */
static const double run_noise = 0.08; /* of a function's ratio, from run to run */
static const double drift = 0.12;     /* of the whole machine, from run to run */
static const double change = 1;       /* usual size of a change: a factor of e */
static const double reach = 1.5;      /* deviation of a scale that is not the usual one */
static const double still = 0.7;      /* fraction of functions that are unchanged */
static const double usually = 0.85;   /* probability of the usual scale, if there is one */
static const double small = 0.01;     /* of a run */
static const double certain = 0.95;

struct vote {
	double ratio, variance; /* of the logarithm */
};

struct grid {
	double from, step;
	double density[POINTS]; /* sums up to 1 */
};

static double point(const struct grid *g, size_t i)
{
	return g->from + (double)i * g->step;
}

static double normal(double distance, double variance)
{
	return exp(-distance * distance / (2 * variance)) / sqrt(2 * M_PI * variance);
}

/* Variance between the means of the runs, relative to that between two single runs. */
static double runs_part(const struct fz_agreement_setup *setup)
{
	return (1 / setup->runs[0] + 1 / setup->runs[1]) / 2;
}

static void add_vote(const struct fz_agreement_setup *setup, double base, double head,
		     struct vote *votes, size_t *used)
{
	if (base <= 0 || head <= 0 || base + head < MIN_SAMPLES)
		return;
	fz_assert(*used < VOTERS_MAX);
	votes[(*used)++] = (struct vote){
		.ratio = log((head + 0.5) / (base + 0.5)),
		.variance = dispersion * (1 / (base + 0.5) + 1 / (head + 0.5)) +
			    run_noise * run_noise * runs_part(setup),
	};
}

static double sum(const double *values, size_t n)
{
	double all = 0;

	for (size_t i = 0; i < n; i++)
		all += values[i];
	return all;
}

/* Small functions often run at one moment, such as startup, and share the machine's state then, so
 * all together have one vote. */
static size_t collect(const struct fz_agreement_setup *setup, const double *base,
		      const double *head, size_t n, struct vote *votes)
{
	double large[2] = { small * sum(base, n), small * sum(head, n) }, rest[2] = { 0 };
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		if (base[i] >= large[0] || head[i] >= large[1]) {
			add_vote(setup, base[i], head[i], votes, &used);
			continue;
		}
		rest[0] += base[i];
		rest[1] += head[i];
	}
	add_vote(setup, rest[0], rest[1], votes, &used);
	return used;
}

static void init_grid(const struct vote *votes, size_t n, double usual, struct grid *g)
{
	double low = usual > 0 ? log(usual) : votes[0].ratio, high = low;

	for (size_t i = 0; i < n; i++) {
		low = fmin(low, votes[i].ratio);
		high = fmax(high, votes[i].ratio);
	}
	g->from = low - 1;
	g->step = (high - low + 2) / (POINTS - 1);
}

/* Prior density of s. Without a usual scale it is centered on the middle of the functions'
 * ratios. */
static double prior(const struct fz_agreement_setup *setup, double s, double middle)
{
	double anything = normal(s - middle, reach * reach);

	if (setup->usual <= 0)
		return anything;
	return usually * normal(s - log(setup->usual), drift * drift * runs_part(setup)) +
	       (1 - usually) * anything;
}

/* Likelihood of an unchanged and of a changed function, given a scale. */
static double still_density(const struct vote *v, double s)
{
	return still * normal(v->ratio - s, v->variance);
}

static double changed_density(const struct vote *v, double s)
{
	return (1 - still) * normal(v->ratio - s, v->variance + change * change);
}

static double likelihood(const struct vote *v, double s)
{
	return still_density(v, s) + changed_density(v, s);
}

static void fill(const struct fz_agreement_setup *setup, const struct vote *votes, size_t n,
		 struct grid *g)
{
	double middle = setup->usual > 0 ? log(setup->usual) : point(g, POINTS / 2);
	double peak = -INFINITY, all = 0;

	for (size_t i = 0; i < POINTS; i++) {
		double s = point(g, i), log_density = log(prior(setup, s, middle));
		for (size_t k = 0; k < n; k++)
			log_density += log(likelihood(&votes[k], s));
		g->density[i] = log_density;
		peak = fmax(peak, log_density);
	}
	for (size_t i = 0; i < POINTS; i++)
		all += g->density[i] = exp(g->density[i] - peak);
	for (size_t i = 0; i < POINTS; i++)
		g->density[i] /= all;
}

/* Mean and standard deviation over a part of the grid; returns the mass of that part. */
static double moments(const struct grid *g, size_t from, size_t to, double *ret_mean,
		      double *ret_deviation)
{
	double mass = 0, mean = 0, square = 0;

	for (size_t i = from; i < to; i++) {
		mass += g->density[i];
		mean += g->density[i] * point(g, i);
	}
	mean /= mass;
	for (size_t i = from; i < to; i++)
		square += g->density[i] * (point(g, i) - mean) * (point(g, i) - mean);
	*ret_mean = mean;
	*ret_deviation = sqrt(square / mass);
	return mass;
}

/* Moments of the highest peak, down to the valleys on both sides. */
static double peak_moments(const struct grid *g, double *ret_mean, double *ret_deviation)
{
	const double *density = g->density;
	size_t peak = 0, from, to;

	for (size_t i = 0; i < POINTS; i++)
		if (density[i] > density[peak])
			peak = i;
	for (from = peak; from > 0 && density[from - 1] <= density[from];)
		from--;
	for (to = peak + 1; to < POINTS && density[to] <= density[to - 1];)
		to++;
	return moments(g, from, to, ret_mean, ret_deviation);
}

/* Mean of the functions that are unchanged at s, and of the usual scale; changed functions do not
 * bias it. */
static double mean_of_still(const struct fz_agreement_setup *setup, const struct vote *votes,
			    size_t n, double s)
{
	double weighted = 0, weight = 0;

	for (size_t i = 0; i < n; i++) {
		double w =
			still_density(&votes[i], s) / likelihood(&votes[i], s) / votes[i].variance;
		weighted += w * votes[i].ratio;
		weight += w;
	}
	if (setup->usual > 0) {
		double variance = drift * drift * runs_part(setup);
		double usual = usually * normal(s - log(setup->usual), variance);
		double w = usual / prior(setup, s, log(setup->usual)) / variance;
		weighted += w * log(setup->usual);
		weight += w;
	}
	return weight > 0 ? weighted / weight : s;
}

struct fz_agreement fz_agreement_of(const struct fz_agreement_setup *setup, const double *base,
				    const double *head, size_t n)
{
	fz_auto(fz_free_ptr) struct vote *votes = fz_calloc(VOTERS_MAX, sizeof(*votes));
	fz_auto(fz_free_ptr) struct grid *g = fz_calloc(1, sizeof(*g));
	size_t used = collect(setup, base, head, n, votes);
	struct fz_agreement a = { 0 };
	double mean;

	if (!used)
		return a;
	init_grid(votes, used, setup->usual, g);
	fill(setup, votes, used, g);
	a.agreed = peak_moments(g, &mean, &a.error) >= certain;
	if (a.agreed)
		mean = mean_of_still(setup, votes, used, mean);
	else
		moments(g, 0, POINTS, &mean, &a.error);
	a.scale = exp(mean);
	return a;
}
