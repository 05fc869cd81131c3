/* SPDX-License-Identifier: MIT */
/* What is judged together: evidence of functions or paths, a test each, and the correction for
 * having made so many of them.
 */
#include "diff/judge_internal.h"

#include <math.h>

#include "base/both.h"
#include "stats/bh.h"
#include "stats/exposure.h"
#include "stats/jitter.h"

/* ---- evidence ---- */

/* What is gathered from one side's samples. */
struct search {
	const struct fz_court *c;
	struct fz_docket *k;
	enum fz_side side;
};

static void gather_visits(void *arg)
{
	const struct search *s = arg;
	struct fz_docket *k = s->k;

	for (enum fz_family f = 0; f < FZ_FAMILIES; f++)
		k->sum[s->side][f] = fz_calloc(FZ_MAX(k->n, 1), sizeof(*k->sum[s->side][f]));
	fz_walk_visits(&s->c->walk[s->side], s->side, 0, &k->entities, k->sum[s->side]);
}

/* One run's column of the counts. */
static void gather_run(const struct fz_court *c, enum fz_side side, uint32_t run, uint32_t column,
		       struct fz_docket *k)
{
	fz_auto(fz_free_ptr) double *self = fz_calloc(FZ_MAX(k->n, 1), sizeof(*self));
	fz_auto(fz_free_ptr) double *total = fz_calloc(FZ_MAX(k->n, 1), sizeof(*total));
	double *weight[FZ_FAMILIES] = { self, total };

	fz_walk_counts(&c->walk[side], side, run,
		       c->method == FZ_JUDGE_COUNTS ? c->d->tree[side]->metric : FZ_NONE,
		       &k->entities, weight);
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++)
		for (uint32_t i = 0; i < k->n; i++)
			k->counts[f][(size_t)i * c->runs + column] = weight[f][i];
}

static void gather_runs(void *arg)
{
	const struct search *s = arg;
	uint32_t column = s->side == FZ_HEAD ? s->c->walk[FZ_BASE].run_count : 0;

	for (uint32_t run = 0; run < s->c->walk[s->side].run_count; run++)
		gather_run(s->c, s->side, run, column++, s->k);
}

void fz_docket_init(const struct fz_court *c, struct fz_docket *k)
{
	struct search base = { c, k, FZ_BASE }, head = { c, k, FZ_HEAD };

	k->n = k->entities.n;
	k->cost = fz_calloc(FZ_MAX(k->n, 1), sizeof(*k->cost));
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++) {
		k->change[f] = fz_calloc(FZ_MAX(k->n, 1), sizeof(*k->change[f]));
		k->rejected[f] = fz_calloc(FZ_MAX(k->n, 1), sizeof(*k->rejected[f]));
	}
	if (fz_court_by_visits(c)) {
		fz_both(gather_visits, &base, &head);
		return;
	}
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++)
		k->counts[f] = fz_calloc((size_t)FZ_MAX(k->n, 1) * c->runs, sizeof(*k->counts[f]));
	fz_both(gather_runs, &base, &head);
}

void fz_docket_release(struct fz_docket *k)
{
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++) {
		for (enum fz_side side = 0; side < FZ_SIDES; side++)
			free(k->sum[side][f]);
		free(k->counts[f]);
		free(k->change[f]);
		free(k->rejected[f]);
	}
	free(k->cost);
	fz_entities_release(&k->entities);
}

/* ---- what all functions have in common ---- */

/* The ratio at which the typical function stands, by self samples. */
double fz_docket_reference(const struct fz_docket *k)
{
	fz_auto(fz_free_ptr) double *base = fz_calloc(FZ_MAX(k->n, 1), sizeof(*base));
	fz_auto(fz_free_ptr) double *head = fz_calloc(FZ_MAX(k->n, 1), sizeof(*head));

	for (uint32_t i = 0; i < k->n; i++) {
		base[i] = k->sum[FZ_BASE][FZ_FAMILY_SELF][i].samples;
		head[i] = k->sum[FZ_HEAD][FZ_FAMILY_SELF][i].samples;
	}
	return fz_exposure_reference(base, head, k->n);
}

double fz_court_drift(const struct fz_court *c, double reference)
{
	return reference > 0 ? fabs(log(reference / c->visit.rho)) * M_SQRT1_2 : 0;
}

/* ---- what could not be read ---- */

/* A marker for samples whose function is not known: no function that could have changed. */
static bool is_unreadable(const struct fz_diff_function *f)
{
	return f->kind == FZ_KIND_MARKER && fz_str_eq(f->name, FZ_STR("[unreadable]"));
}

double fz_docket_unattributed(const struct fz_court *c, const struct fz_docket *k)
{
	double difference = 0;

	for (uint32_t i = 0; i < k->n; i++)
		if (is_unreadable(&c->d->functions[i]))
			difference += k->sum[FZ_HEAD][FZ_FAMILY_SELF][i].samples -
				      c->visit.rho * k->sum[FZ_BASE][FZ_FAMILY_SELF][i].samples;
	return fabs(difference);
}

void fz_docket_exclude_unreadable(const struct fz_court *c, struct fz_docket *k)
{
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++) {
		for (uint32_t i = 0; i < k->n; i++) {
			struct fz_change *change = &k->change[f][i];

			if (!is_unreadable(&c->d->functions[i]))
				continue;
			change->tested = false;
			change->statistic = change->p = change->low = change->high = NAN;
		}
	}
}

/* ---- tests ---- */

struct fz_change fz_court_test_count(const struct fz_court *c, const double *counts)
{
	uint32_t base_runs = c->walk[FZ_BASE].run_count, head_runs = c->walk[FZ_HEAD].run_count;
	fz_auto(fz_free_ptr) double *base = fz_calloc(base_runs, sizeof(*base));
	struct fz_jitter j;

	for (uint32_t r = 0; r < base_runs; r++)
		base[r] = c->count_scale * counts[r];
	j = fz_jitter_bound(base, base_runs, counts + base_runs, head_runs, c->count_total);
	return (struct fz_change){
		.base = j.base,
		.head = j.head,
		.change = j.change,
		.low = j.change - j.bound,
		.high = j.change + j.bound,
		.statistic = NAN,
		.p = NAN,
		.tested = j.changed,
	};
}

static struct fz_change test_entity(const struct fz_court *c, const struct fz_docket *k,
				    enum fz_family f, uint32_t i)
{
	if (fz_court_by_visits(c))
		return fz_visit_test(&c->visit, &c->null[f], &k->sum[FZ_BASE][f][i],
				     &k->sum[FZ_HEAD][f][i]);
	if (c->method == FZ_JUDGE_RUNS)
		return fz_quasi_test(&c->quasi, &c->trend[f], k->counts[f] + (size_t)i * c->runs,
				     NULL);
	return fz_court_test_count(c, k->counts[f] + (size_t)i * c->runs);
}

void fz_court_learn(struct fz_court *c, const struct fz_docket *k)
{
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++) {
		if (fz_court_by_visits(c))
			fz_visit_null_fit(&c->visit, k->sum[FZ_BASE][f], k->sum[FZ_HEAD][f], k->n,
					  &c->null[f]);
		else if (c->method == FZ_JUDGE_RUNS)
			fz_quasi_trend_fit(&c->quasi, k->counts[f], k->n, &c->trend[f]);
	}
}

static double *p_values(const struct fz_docket *k, enum fz_family f)
{
	double *p = fz_calloc(FZ_MAX(k->n, 1), sizeof(*p));

	for (uint32_t i = 0; i < k->n; i++)
		p[i] = k->change[f][i].p;
	return p;
}

void fz_docket_test(const struct fz_court *c, struct fz_docket *k)
{
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++)
		for (uint32_t i = 0; i < k->n; i++)
			k->change[f][i] = test_entity(c, k, f, i);
}

/* Which changes are real, one family at a time. A bound needs no correction. */
void fz_docket_correct(const struct fz_court *c, struct fz_docket *k)
{
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++) {
		fz_auto(fz_free_ptr) double *p = p_values(k, f);

		fz_bh(p, k->n, FZ_FALSE_DISCOVERY_RATE, k->rejected[f]);
		for (uint32_t i = 0; c->method == FZ_JUDGE_COUNTS && i < k->n; i++)
			k->rejected[f][i] = k->change[f][i].tested;
	}
}

static size_t tested_count(const struct fz_docket *k, enum fz_family f)
{
	size_t n = 0;

	for (uint32_t i = 0; i < k->n; i++)
		n += k->change[f][i].tested;
	return n;
}

void fz_docket_correct_paths(const struct fz_court *c, const struct fz_docket *functions,
			     const size_t *start, struct fz_docket *paths)
{
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++) {
		const bool *selected = functions->rejected[f];
		fz_auto(fz_free_ptr) double *p = p_values(paths, f);

		fz_bh_inside(p, start, selected, functions->n, tested_count(functions, f),
			     FZ_FALSE_DISCOVERY_RATE, paths->rejected[f]);
		for (uint32_t i = 0; c->method == FZ_JUDGE_COUNTS && i < functions->n; i++)
			for (size_t path = start[i]; path < start[i + 1]; path++)
				paths->rejected[f][path] =
					selected[i] && paths->change[f][path].tested;
	}
}
