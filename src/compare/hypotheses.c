/* SPDX-License-Identifier: MIT */
/* Hypotheses that are judged together: evidence of functions or paths, a test of each, and the
 * correction for many tests.
 */
#include "compare/judge_internal.h"

#include <math.h>

#include "base/thread.h"
#include "stats/bh.h"

/* ---- evidence ---- */

/* State while gathering evidence from the samples of one side. */
struct search {
	const struct fz_inference *c;
	struct fz_hypotheses *k;
	enum fz_side side;
};

static void gather(void *arg)
{
	const struct search *s = arg;
	uint32_t column = s->side == FZ_HEAD ? s->c->walk[FZ_BASE].run_count : 0;

	for (uint32_t run = 0; run < s->c->walk[s->side].run_count; run++, column++) {
		struct fz_ratio_run *ret[FZ_FAMILIES];

		for (enum fz_family f = 0; f < FZ_FAMILIES; f++)
			ret[f] = s->k->evidence[f] + column;
		fz_walk_run(&s->c->walk[s->side], s->side, run, &s->k->entities, ret, s->c->runs);
	}
}

void fz_hypotheses_init(const struct fz_inference *c, struct fz_hypotheses *k)
{
	struct search base = { c, k, FZ_BASE }, head = { c, k, FZ_HEAD };
	size_t room = FZ_MAX(k->entities.n, 1);

	k->n = k->entities.n;
	k->function = fz_calloc(room, sizeof(*k->function));
	k->cost = fz_calloc(room, sizeof(*k->cost));
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++) {
		k->change[f] = fz_calloc(room, sizeof(*k->change[f]));
		k->rejected[f] = fz_calloc(room, sizeof(*k->rejected[f]));
		k->judged[f] = fz_calloc(room, sizeof(*k->judged[f]));
		k->weight[f] = fz_calloc(room, sizeof(*k->weight[f]));
		k->evidence[f] = fz_calloc(room * c->runs, sizeof(*k->evidence[f]));
	}
	fz_both(gather, &base, &head);
}

void fz_hypotheses_release(struct fz_hypotheses *k)
{
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++) {
		free(k->evidence[f]);
		free(k->change[f]);
		free(k->rejected[f]);
		free(k->judged[f]);
		free(k->weight[f]);
	}
	free(k->function);
	free(k->cost);
	fz_entities_release(&k->entities);
}

/* ---- what could not be read ---- */

/* A marker of samples without a known function; it cannot have changed. */
static bool is_unreadable(const struct fz_diff_function *f)
{
	return f->kind == FZ_KIND_MARKER && fz_str_eq(f->name, FZ_STR("[unreadable]"));
}

double fz_hypotheses_unattributed(const struct fz_inference *c, const struct fz_hypotheses *k)
{
	uint32_t base_runs = c->walk[FZ_BASE].run_count;
	double difference = 0;

	for (uint32_t i = 0; i < k->n; i++) {
		if (!is_unreadable(&c->d->functions[i]))
			continue;
		const struct fz_ratio_run *own = k->evidence[FZ_FAMILY_SELF] + (size_t)i * c->runs;
		for (uint32_t r = 0; r < c->runs; r++)
			difference +=
				own[r].cost / c->exposure[r] *
				(r < base_runs ? -1.0 / base_runs : 1.0 / (c->runs - base_runs));
	}
	return fabs(difference);
}

void fz_hypotheses_exclude_unreadable(const struct fz_inference *c, struct fz_hypotheses *k)
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

/* The mean cost per run of the costlier side. */
static double larger_cost(const struct fz_inference *c, const struct fz_ratio_run *runs)
{
	double cost[FZ_SIDES] = { 0 };

	for (uint32_t r = 0; r < c->runs; r++) {
		bool is_head = r >= c->ratio.base_runs;

		cost[is_head] += runs[r].cost / c->exposure[r] /
				 (double)(is_head ? c->ratio.head_runs : c->ratio.base_runs);
	}
	return FZ_MAX(cost[FZ_BASE], cost[FZ_HEAD]);
}

/* Bits of the largest witnesses that are the function itself. */
static uint64_t witness_of(const struct fz_inference *c, uint32_t function)
{
	uint64_t bits = 0;

	for (size_t w = 0; w < c->drift.n; w++)
		bits |= (uint64_t)(c->witness[w] == function) << w;
	return bits;
}

/* The drift without the evidence of the entity itself. */
static struct fz_drift_belief drift_of(const struct fz_inference *c, const struct fz_hypotheses *k,
				       enum fz_family f, uint32_t i,
				       const struct fz_ratio_run *runs)
{
	uint32_t function = k->function[i];
	double cost = larger_cost(c, runs);
	struct fz_drift_witness own;

	if (f == FZ_FAMILY_TOTAL)
		return fz_inference_drift(c, cost, c->inside[function], NULL);
	uint64_t itself = witness_of(c, function);
	bool small = !itself && c->has_witnesses && fz_ratio_witness(&c->ratio, runs, &own);
	return fz_inference_drift(c, cost, itself, small ? &own : NULL);
}

struct fz_change fz_hypotheses_test_one(const struct fz_inference *c, const struct fz_hypotheses *k,
					enum fz_family f, uint32_t i, double alpha)
{
	const struct fz_ratio_run *runs = k->evidence[f] + (size_t)i * c->runs;
	struct fz_ratio_setup setup = c->ratio;

	if (!fz_inference_by_samples(c))
		return fz_inference_test_count(c, runs);
	struct fz_drift_belief drift = drift_of(c, k, f, i, runs);
	setup.alpha = alpha;
	return fz_ratio_test(&setup, &drift, runs);
}

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

void fz_hypotheses_test(const struct fz_inference *c, struct fz_hypotheses *k)
{
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++)
		for (uint32_t i = 0; i < k->n; i++)
			k->change[f][i] = fz_hypotheses_test_one(c, k, f, i, 0);
}

/* ---- correction ---- */

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
