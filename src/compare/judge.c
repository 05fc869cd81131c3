/* SPDX-License-Identifier: MIT */
/* Judging a comparison; judge_internal.h has the parts.
 */
#include "compare/judge.h"

#include "compare/judge_internal.h"

#include <math.h>

/* ---- functions ---- */

/* Uses recorded function totals of counts, because the walk only has the reconstructed tree.
 * Several runs are exempt, because their totals are not stored separately. */
static void use_recorded_totals(const struct fz_inference *c, struct fz_hypotheses *k)
{
	const struct fz_diff *d = c->d;
	struct fz_ratio_run *runs = k->evidence[FZ_FAMILY_TOTAL];

	if (c->method != FZ_JUDGE_COUNTS || c->runs != FZ_SIDES ||
	    (!d->profile[FZ_BASE]->callgraph && !d->profile[FZ_HEAD]->callgraph))
		return;
	for (uint32_t i = 0; i < k->n; i++)
		for (enum fz_side s = 0; s < FZ_SIDES; s++)
			runs[(size_t)i * FZ_SIDES + s].cost = (double)d->functions[i].cost.total[s];
}

static void learn(struct fz_inference *c, const struct fz_hypotheses *k)
{
	if (!fz_inference_by_samples(c))
		return;
	c->ratio.slack = fz_hypotheses_unattributed(c, k);
	fz_inference_learn(c, k);
	fz_inference_prepare_whole(c, k);
}

static void judge_functions(struct fz_inference *c, struct fz_hypotheses *k, struct fz_judgement *j)
{
	struct fz_judged *by_family[FZ_FAMILIES] = { j->self, j->total };

	fz_entities_functions(c->d, &k->entities);
	fz_inference_find_clumping(c, &k->entities);
	fz_hypotheses_init(c, k);
	for (uint32_t i = 0; i < k->n; i++) {
		k->function[i] = i;
		k->cost[i] = &c->d->functions[i].cost;
	}
	use_recorded_totals(c, k);
	learn(c, k);
	fz_inference_judge_run(c, &j->run);
	fz_hypotheses_test(c, k);
	fz_hypotheses_exclude_unreadable(c, k);
	fz_hypotheses_correct(c, k);
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++)
		for (uint32_t i = 0; i < k->n; i++)
			by_family[f][i] = k->judged[f][i];
}

/* Numbers the paths of changed functions, grouped by function: slot[node], and the start of each
 * function. */
static uint32_t number_paths(const struct fz_inference *c, const struct fz_hypotheses *functions,
			     uint32_t *slot, size_t *start)
{
	const struct fz_diff *d = c->d;
	fz_auto(fz_free_ptr) size_t *next = NULL;

	for (uint32_t i = 0; i < d->node_count; i++) {
		uint32_t f = d->nodes[i].function;

		slot[i] = FZ_NONE;
		if (d->nodes[i].wraps) /* the calls shown below it are not in samples */
			continue;
		start[f + 1] += functions->rejected[FZ_FAMILY_SELF][f] ||
				functions->rejected[FZ_FAMILY_TOTAL][f];
	}
	for (uint32_t f = 0; f < d->function_count; f++)
		start[f + 1] += start[f];
	next = fz_calloc((size_t)d->function_count + 1, sizeof(*next));
	memcpy(next, start, d->function_count * sizeof(*next));
	for (uint32_t i = 0; i < d->node_count; i++) {
		uint32_t f = d->nodes[i].function;

		if (start[f + 1] > start[f] && !d->nodes[i].wraps)
			slot[i] = (uint32_t)next[f]++;
	}
	return (uint32_t)start[d->function_count];
}

/* Marks paths of unchanged functions as unchanged if their own change is small, because paths of a
 * function can change in opposite directions. */
static void copy_unchanged(const struct fz_inference *c, struct fz_judgement *j)
{
	const struct fz_diff *d = c->d;
	double run = (d->factor * (double)d->total[FZ_BASE] + (double)d->total[FZ_HEAD]) / 2;
	double margin = c->o->delta * run;

	for (uint32_t i = 0; i < d->node_count; i++) {
		const struct fz_diff_node *node = &d->nodes[i];
		const int64_t *self = node->cost.self, *total = node->cost.total;

		if (j->self[node->function].verdict == FZ_VERDICT_UNCHANGED &&
		    fabs(fz_diff_delta(d, self[FZ_BASE], self[FZ_HEAD])) <= margin)
			j->path_self[i].verdict = FZ_VERDICT_UNCHANGED;
		if (j->total[node->function].verdict == FZ_VERDICT_UNCHANGED &&
		    fabs(fz_diff_delta(d, total[FZ_BASE], total[FZ_HEAD])) <= margin)
			j->path_total[i].verdict = FZ_VERDICT_UNCHANGED;
	}
}

static int sign_of(const struct fz_diff *d, const struct fz_diff_cost *cost, enum fz_family f)
{
	const int64_t *of = f == FZ_FAMILY_TOTAL ? cost->total : cost->self;
	double delta = fz_diff_delta(d, of[FZ_BASE], of[FZ_HEAD]);

	return FZ_CMP(delta, 0);
}

/* Sets of_sum for paths that together make up a change that none of them shows alone. */
static void find_sums(const struct fz_diff *d, enum fz_family family,
		      const struct fz_judged *functions, struct fz_judged *paths)
{
	/* Direction in which a function changed; 0: uncertain, or one of its paths changed the same
	 * way. */
	fz_auto(fz_free_ptr) int8_t *way = fz_calloc(d->function_count + 1ul, sizeof(*way));

	for (uint32_t f = 0; f < d->function_count; f++)
		if (functions[f].verdict == FZ_VERDICT_CHANGED)
			way[f] = (int8_t)sign_of(d, &d->functions[f].cost, family);
	for (uint32_t i = 0; i < d->node_count; i++) {
		uint32_t f = d->nodes[i].function;
		if (paths[i].verdict == FZ_VERDICT_CHANGED &&
		    sign_of(d, &d->nodes[i].cost, family) == way[f])
			way[f] = 0;
	}
	for (uint32_t i = 0; i < d->node_count; i++) {
		int at = way[d->nodes[i].function];
		paths[i].of_sum = at && !isnan(paths[i].low) &&
				  paths[i].verdict != FZ_VERDICT_CHANGED &&
				  sign_of(d, &d->nodes[i].cost, family) == at;
	}
}

static void judge_paths(struct fz_inference *c, const struct fz_hypotheses *functions,
			struct fz_judgement *j)
{
	const struct fz_diff *d = c->d;
	struct fz_judged *by_family[FZ_FAMILIES] = { j->path_self, j->path_total };
	fz_auto(fz_free_ptr) uint32_t *slot = fz_calloc(d->node_count, sizeof(*slot));
	fz_auto(fz_free_ptr) size_t *start =
		fz_calloc((size_t)d->function_count + 1, sizeof(*start));
	uint32_t n = number_paths(c, functions, slot, start);
	struct fz_hypotheses k = { 0 };

	copy_unchanged(c, j);
	if (n == 0)
		return;
	fz_entities_paths(d, slot, n, &k.entities);
	fz_hypotheses_init(c, &k);
	for (uint32_t i = 0; i < d->node_count; i++) {
		if (slot[i] == FZ_NONE)
			continue;
		k.function[slot[i]] = d->nodes[i].function;
		k.cost[slot[i]] = &d->nodes[i].cost;
	}
	fz_hypotheses_test(c, &k);
	fz_hypotheses_correct_paths(c, functions, start, &k);
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++)
		for (uint32_t i = 0; i < d->node_count; i++)
			if (slot[i] != FZ_NONE && functions->rejected[f][d->nodes[i].function])
				by_family[f][i] = k.judged[f][slot[i]];
	find_sums(d, FZ_FAMILY_SELF, j->self, j->path_self);
	find_sums(d, FZ_FAMILY_TOTAL, j->total, j->path_total);
	fz_hypotheses_release(&k);
}

/* ---- all of it ---- */

static const struct fz_judged not_judged = {
	.verdict = FZ_VERDICT_UNKNOWN,
	.low = NAN,
	.high = NAN,
	.confidence = NAN,
	.z = NAN,
	.p = NAN,
};
static const struct fz_judged identical = {
	.verdict = FZ_VERDICT_UNCHANGED, .confidence = 1, .z = NAN, .p = NAN
};
static const struct fz_judged_run run_not_judged = {
	FZ_RUN_UNKNOWN, NAN, NAN, NAN, NAN, NAN, NAN, 1, NAN
};
static const struct fz_judged_run run_identical = {
	.word = FZ_RUN_SAME, .z = NAN, .p = NAN, .visible_share = 1
};

static struct fz_judged *new_verdicts(uint32_t n, enum fz_judge_method method)
{
	struct fz_judged *v = fz_reallocarray(NULL, FZ_MAX(n, 1), sizeof(*v));

	for (uint32_t i = 0; i < n; i++)
		v[i] = method == FZ_JUDGE_IDENTICAL ? identical : not_judged;
	return v;
}

static struct fz_judgement *new_judgement(const struct fz_inference *c)
{
	const struct fz_diff *d = c->d;
	struct fz_judgement *j = fz_calloc(1, sizeof(*j));

	j->method = c->method;
	j->empty_run = c->empty_run;
	j->cpu_clock = c->cpu_clock;
	j->delta = c->o->delta;
	j->run = c->method == FZ_JUDGE_IDENTICAL ? run_identical : run_not_judged;
	j->self = new_verdicts(d->function_count, c->method);
	j->total = new_verdicts(d->function_count, c->method);
	if (c->o->paths) {
		j->path_self = new_verdicts(d->node_count, c->method);
		j->path_total = new_verdicts(d->node_count, c->method);
	}
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		j->bursts[side] = c->walk[side].bursts;
	return j;
}

struct fz_judgement *fz_judge(const struct fz_diff *d, const struct fz_judge_options *o)
{
	struct fz_inference c = { .d = d, .o = o };
	struct fz_hypotheses functions = { 0 };
	struct fz_judgement *j;

	fz_assert(!d->per_run && !(o->paths && d->inverted));
	fz_inference_init(&c);
	j = new_judgement(&c);
	c.run = &j->run;
	if (c.method != FZ_JUDGE_NONE && c.method != FZ_JUDGE_IDENTICAL) {
		judge_functions(&c, &functions, j);
		if (o->paths)
			judge_paths(&c, &functions, j);
		fz_hypotheses_release(&functions);
	}
	fz_inference_release(&c);
	return j;
}
