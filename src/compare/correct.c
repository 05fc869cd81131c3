/* SPDX-License-Identifier: MIT */
/* Corrects for many tests: decides which changes are real. */
#include "compare/judge_internal.h"

#include <math.h>

#include "stats/bh.h"

/* Entities that make up nearly all of the run are tested with the run and are not in the family. */
static double *p_values(const struct fz_inference *c, const struct fz_hypotheses *k,
			enum fz_family f)
{
	double *p = fz_calloc(FZ_MAX(k->n, 1), sizeof(*p));

	for (uint32_t i = 0; i < k->n; i++)
		p[i] = fz_hypotheses_is_whole(c, k, f, i) ? NAN : k->change[f][i].p;
	return p;
}

/* Weighs the tests first .. first + n of a family of this weight, and divides each p by its own
 * weight. */
static void weigh(const struct fz_hypotheses *k, enum fz_family f, size_t first, size_t n,
		  double of_family, double *p)
{
	fz_auto(fz_free_ptr) double *cost = fz_calloc(FZ_MAX(n, 1), sizeof(*cost));
	const struct fz_change *change = k->change[f] + first;
	double *weight = k->weight[f] + first;

	for (size_t i = 0; i < n; i++)
		cost[i] = change[i].base + change[i].head;
	fz_bh_weigh(p + first, cost, n, weight);
	for (size_t i = 0; i < n; i++) {
		weight[i] *= of_family;
		p[first + i] /= weight[i];
	}
}

/* Hypotheses first .. first + n, tested together at q, and the p of each. k->rejected has the
 * results. */
struct together {
	const double *p;
	size_t first, n;
	double q;
};

/* Rejections without correction: counts, which have a bound instead of a test, and entities that
 * make up nearly all of the run, which has its own test. */
static void reject_alone(const struct fz_inference *c, struct fz_hypotheses *k, enum fz_family f,
			 uint32_t i)
{
	const struct fz_change *change = &k->change[f][i];

	if (c->method == FZ_JUDGE_COUNTS)
		k->rejected[f][i] = change->tested;
	else if (fz_hypotheses_is_whole(c, k, f, i))
		k->rejected[f][i] = fz_hypotheses_changed_with_run(c, k, f, i);
}

/* The level at which Benjamini and Hochberg's correction rejects a test of weight 1; at least that
 * for one rejection. */
static double level_of(const struct fz_hypotheses *k, enum fz_family f, const struct together *t)
{
	size_t rejected = 0, tested = 0;

	for (size_t i = 0; i < t->n; i++) {
		tested += !isnan(t->p[i]);
		rejected += !isnan(t->p[i]) && k->rejected[f][t->first + i];
	}
	return t->q * (double)FZ_MAX(rejected, 1) / (double)FZ_MAX(tested, 1);
}

static void settle(const struct fz_inference *c, struct fz_hypotheses *k, enum fz_family f,
		   const struct together *t)
{
	uint32_t first = (uint32_t)t->first, until = first + (uint32_t)t->n;

	for (uint32_t i = first; i < until; i++) {
		reject_alone(c, k, f, i);
		fz_hypotheses_withdraw(c, k, f, i);
	}
	double level = level_of(k, f, t);
	for (uint32_t i = first; i < until; i++)
		fz_hypotheses_settle(c, k, f, i,
				     isnan(t->p[i - first]) ? FZ_FALSE_DISCOVERY_RATE
							    : FZ_MIN(level * k->weight[f][i],
								     FZ_FALSE_DISCOVERY_RATE));
}

void fz_hypotheses_correct(const struct fz_inference *c, struct fz_hypotheses *k)
{
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++) {
		fz_auto(fz_free_ptr) double *p = p_values(c, k, f);

		weigh(k, f, 0, k->n, 1, p);
		fz_bh(p, k->n, FZ_FALSE_DISCOVERY_RATE, k->rejected[f]);
		settle(c, k, f, &(struct together){ p, 0, k->n, FZ_FALSE_DISCOVERY_RATE });
	}
}

static size_t tested_count(const struct fz_hypotheses *k, enum fz_family f)
{
	size_t n = 0;

	for (uint32_t i = 0; i < k->n; i++)
		n += k->change[f][i].tested;
	return n;
}

static size_t rejected_count(const struct fz_hypotheses *k, enum fz_family f)
{
	size_t n = 0;

	for (uint32_t i = 0; i < k->n; i++)
		n += k->rejected[f][i];
	return n;
}

void fz_hypotheses_correct_paths(const struct fz_inference *c,
				 const struct fz_hypotheses *functions, const size_t *start,
				 struct fz_hypotheses *paths)
{
	fz_assert(start[functions->n] == paths->n);
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++) {
		const bool *selected = functions->rejected[f];
		size_t tested = tested_count(functions, f), chosen = rejected_count(functions, f);
		fz_auto(fz_free_ptr) double *p = p_values(c, paths, f);
		double q = FZ_FALSE_DISCOVERY_RATE * (double)chosen / (double)FZ_MAX(tested, 1);

		for (uint32_t i = 0; i < functions->n; i++)
			if (selected[i])
				weigh(paths, f, start[i], start[i + 1] - start[i],
				      functions->weight[f][i], p);

		fz_bh_inside(p, start, selected, functions->n, tested, FZ_FALSE_DISCOVERY_RATE,
			     paths->rejected[f]);
		for (uint32_t i = 0; i < functions->n; i++)
			if (selected[i])
				settle(c, paths, f,
				       &(struct together){ p + start[i], start[i],
							   start[i + 1] - start[i], q });
	}
}
