/* SPDX-License-Identifier: MIT */
/* Judging a comparison; judge_internal.h has the parts.
 *
 * Tests count samples, reports show weights (nanoseconds, say): an interval is turned into the
 * unit by the mean weight of the samples that it is about, and lies around the difference that is
 * shown.
 */
#include "diff/judge_internal.h"

#include <math.h>

const char *const fz_judge_method_names[FZ_JUDGE_METHODS] = {
	"none", "identical", "visits", "approximate", "runs", "counts"
};
const char *const fz_run_word_names[FZ_RUN_WORDS] = { "unknown", "same", "slower", "faster" };

/* ---- verdicts ---- */

/* An interval in samples becomes one in the unit, around the difference that is shown. */
static struct fz_judged judge_entity(const struct fz_court *c, const struct fz_docket *k,
				     enum fz_family f, uint32_t i)
{
	const struct fz_change *change = &k->change[f][i];
	const struct fz_diff_cost *cost = k->cost[i];
	int64_t base = f == FZ_FAMILY_SELF ? cost->self[FZ_BASE] : cost->total[FZ_BASE];
	int64_t head = f == FZ_FAMILY_SELF ? cost->self[FZ_HEAD] : cost->total[FZ_HEAD];
	double delta = fz_diff_delta(c->d, base, head);
	double samples = c->reach * (change->base + change->head);
	double weight = samples > 0 ? (c->d->factor * (double)base + (double)head) / samples : 0;

	if (c->method == FZ_JUDGE_COUNTS)
		weight = 1;
	return (struct fz_judged){
		.verdict = fz_verdict_of(change, k->rejected[f][i], c->margin),
		.low = delta + (change->low - change->change) * c->reach * weight,
		.high = delta + (change->high - change->change) * c->reach * weight,
		.z = change->statistic,
		.p = change->p,
	};
}

/* When all functions cost more by the same part, one run a side cannot tell a slower program from a
 * busier machine: of each function only what goes beyond it can be told. By share or reference that
 * part was taken out, or is not there. */
static void take_drift(struct fz_court *c, const struct fz_docket *k)
{
	if (c->d->scale == FZ_SCALE_TIME || c->d->scale == FZ_SCALE_UNIT)
		c->visit.noise.kappa =
			FZ_MAX(c->visit.noise.kappa, fz_court_drift(c, fz_docket_reference(k)));
}

static void judge_functions(struct fz_court *c, struct fz_docket *k, struct fz_judgement *j)
{
	struct fz_judged *by_family[FZ_FAMILIES] = { j->self, j->total };

	fz_entities_functions(c->d, &k->entities);
	fz_docket_init(c, k);
	for (uint32_t i = 0; i < k->n; i++)
		k->cost[i] = &c->d->functions[i].cost;
	if (fz_court_by_visits(c)) {
		c->visit.unattributed = fz_docket_unattributed(c, k);
		take_drift(c, k);
	}
	fz_court_learn(c, k);
	fz_docket_test(c, k);
	fz_docket_exclude_unreadable(c, k);
	fz_docket_correct(c, k);
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++)
		for (uint32_t i = 0; i < k->n; i++)
			by_family[f][i] = judge_entity(c, k, f, i);
}

/* Number the paths of changed functions, those of one function together: slot[node], and where
 * each function's begin. */
static uint32_t number_paths(const struct fz_court *c, const struct fz_docket *functions,
			     uint32_t *slot, size_t *start)
{
	const struct fz_diff *d = c->d;
	fz_auto(fz_free_ptr) size_t *next = NULL;

	for (uint32_t i = 0; i < d->node_count; i++) {
		uint32_t f = d->nodes[i].function;

		slot[i] = FZ_NONE;
		if (d->nodes[i].wraps) /* samples know nothing of what is shown below it */
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

/* A function may be unchanged while its paths change against each other: what is shown of a path
 * must be small as well. */
static void take_over_unchanged(const struct fz_court *c, struct fz_judgement *j)
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

static void judge_paths(struct fz_court *c, const struct fz_docket *functions,
			struct fz_judgement *j)
{
	const struct fz_diff *d = c->d;
	struct fz_judged *by_family[FZ_FAMILIES] = { j->path_self, j->path_total };
	fz_auto(fz_free_ptr) uint32_t *slot = fz_calloc(d->node_count, sizeof(*slot));
	fz_auto(fz_free_ptr) size_t *start =
		fz_calloc((size_t)d->function_count + 1, sizeof(*start));
	uint32_t n = number_paths(c, functions, slot, start);
	struct fz_docket k = { 0 };

	take_over_unchanged(c, j);
	if (n == 0)
		return;
	fz_entities_paths(d, slot, n, &k.entities);
	fz_docket_init(c, &k);
	for (uint32_t i = 0; i < d->node_count; i++)
		if (slot[i] != FZ_NONE)
			k.cost[slot[i]] = &d->nodes[i].cost;
	fz_docket_test(c, &k);
	fz_docket_correct_paths(c, functions, start, &k);
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++)
		for (uint32_t i = 0; i < d->node_count; i++)
			if (slot[i] != FZ_NONE && functions->rejected[f][d->nodes[i].function])
				by_family[f][i] = judge_entity(c, &k, f, slot[i]);
	fz_docket_release(&k);
}

/* ---- all of it ---- */

static const struct fz_judged not_judged = {
	.verdict = FZ_VERDICT_UNKNOWN, .low = NAN, .high = NAN, .z = NAN, .p = NAN
};
static const struct fz_judged identical = { .verdict = FZ_VERDICT_UNCHANGED, .z = NAN, .p = NAN };
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

static struct fz_judgement *new_judgement(const struct fz_court *c)
{
	const struct fz_diff *d = c->d;
	struct fz_judgement *j = fz_calloc(1, sizeof(*j));

	j->method = c->method;
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
	struct fz_court c = { .d = d, .o = o };
	struct fz_docket functions = { 0 };
	struct fz_judgement *j;

	fz_court_init(&c);
	j = new_judgement(&c);
	if (c.method != FZ_JUDGE_NONE && c.method != FZ_JUDGE_IDENTICAL) {
		judge_functions(&c, &functions, j);
		fz_court_judge_run(&c, &functions, &j->run);
		if (o->paths)
			judge_paths(&c, &functions, j);
		fz_docket_release(&functions);
	}
	fz_court_release(&c);
	return j;
}

void fz_judgement_free(struct fz_judgement *j)
{
	if (!j)
		return;
	free(j->self);
	free(j->total);
	free(j->path_self);
	free(j->path_total);
	free(j);
}

void fz_judgement_freep(struct fz_judgement **j)
{
	fz_judgement_free(*j);
}
