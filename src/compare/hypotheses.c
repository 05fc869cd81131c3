/* SPDX-License-Identifier: MIT */
/* Hypotheses that are judged together: evidence of functions or paths, and a test of each. */
#include "compare/judge_internal.h"

#include <math.h>

#include "base/thread.h"

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

	fz_assert(k->n == c->d->function_count);
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
	fz_assert(k->n == c->d->function_count);
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

	fz_assert(k->cost[i] && k->function[i] < c->d->function_count);
	if (!fz_inference_by_samples(c))
		return fz_inference_test_count(c, runs);
	struct fz_drift_belief drift = drift_of(c, k, f, i, runs);
	setup.alpha = alpha;
	return fz_ratio_test(&setup, &drift, runs);
}

void fz_hypotheses_test(const struct fz_inference *c, struct fz_hypotheses *k)
{
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++)
		for (uint32_t i = 0; i < k->n; i++)
			k->change[f][i] = fz_hypotheses_test_one(c, k, f, i, 0);
}
