/* SPDX-License-Identifier: MIT */
/* Judging a comparison.
 *
 *   court    what is fixed for the whole comparison: method, exposures, what the families taught
 *   docket   what is judged together: functions, or the paths inside changed functions, each with
 *            its evidence by self and by total
 *
 * Tests count samples, reports show weights (nanoseconds, say): an interval is turned into the
 * unit by the mean weight of the samples that it is about, and lies around the difference that is
 * shown.
 */
#include "diff/judge.h"

#include <math.h>

#include "diff/evidence.h"
#include "stats/bh.h"
#include "stats/exposure.h"
#include "stats/jitter.h"
#include "stats/power.h"
#include "stats/quasi.h"

const char *const fz_judge_method_names[FZ_JUDGE_METHODS] = {
	"none", "identical", "visits", "approximate", "runs", "counts"
};
const char *const fz_run_word_names[FZ_RUN_WORDS] = { "unknown", "same", "slower", "faster" };

struct court {
	const struct fz_diff *d;
	const struct fz_judge_options *o;
	enum fz_judge_method method;
	bool cpu_clock;
	struct fz_walk walk[FZ_SIDES];
	uint32_t runs; /* of both sides */
	/* One base sample of the comparison's unit of exposure is `reach` samples of the head. */
	double reach;
	double margin; /* changes up to it are none, in samples (counts: weight) of a base run */
	struct fz_visit_setup visit;
	struct fz_visit_null null[FZ_FAMILIES];
	struct fz_quasi_setup quasi;
	double *exposure; /* of each run */
	struct fz_quasi_trend trend[FZ_FAMILIES];
	double count_scale; /* counts: factor for one run of the base */
	double count_total; /* of a run: the larger side */
};

struct docket {
	struct fz_entities entities;
	uint32_t n;
	struct fz_visit_sum *sum[FZ_SIDES][FZ_FAMILIES]; /* visits, approximate */
	double *counts[FZ_FAMILIES];                     /* by entity and run: runs, counts */
	const struct fz_diff_cost **cost;
	struct fz_change *change[FZ_FAMILIES];
	bool *rejected[FZ_FAMILIES];
};

/* ---- how to judge ---- */

static bool by_visits(const struct court *c)
{
	return c->method == FZ_JUDGE_VISITS || c->method == FZ_JUDGE_APPROXIMATE;
}

static bool has_empty_run(const struct fz_walk *w)
{
	for (uint32_t run = 0; run < w->run_count; run++)
		if (w->run_samples[run] <= 0)
			return true;
	return false;
}

/* Whether both sides are one recording. Two runs of a program never agree in the times of all
 * samples; where there are no times, not in the cost of every path. */
static bool is_identical(const struct court *c)
{
	const struct fz_walk *base = &c->walk[FZ_BASE], *head = &c->walk[FZ_HEAD];
	const struct fz_samples *a = &base->profile->samples, *b = &head->profile->samples;
	size_t n = base->run_start[base->run_count];

	if (n != head->run_start[head->run_count] || c->d->factor != 1)
		return false;
	for (uint32_t i = 0; i < c->d->node_count; i++) {
		const struct fz_diff_cost *cost = &c->d->nodes[i].cost;

		if (cost->self[FZ_BASE] != cost->self[FZ_HEAD] ||
		    cost->total[FZ_BASE] != cost->total[FZ_HEAD])
			return false;
	}
	if (a->timed != b->timed)
		return false;
	for (size_t i = 0; a->timed && i < n; i++)
		if (a->time[base->rows[i]] != b->time[head->rows[i]])
			return false;
	return true;
}

static enum fz_judge_method choose_method(const struct court *c)
{
	const struct fz_walk *base = &c->walk[FZ_BASE], *head = &c->walk[FZ_HEAD];
	const char *metric = c->d->metric;

	if (has_empty_run(base) || has_empty_run(head))
		return FZ_JUDGE_NONE;
	if (is_identical(c))
		return FZ_JUDGE_IDENTICAL;
	if (strcmp(metric, "instructions") == 0)
		return FZ_JUDGE_COUNTS;
	if (strcmp(c->d->unit, "ns") != 0 && strcmp(metric, "samples") != 0 &&
	    strcmp(metric, "cycles") != 0)
		return FZ_JUDGE_NONE;
	if (c->runs > 2)
		return FZ_JUDGE_RUNS;
	return base->profile->samples.ordered && head->profile->samples.ordered
		       ? FZ_JUDGE_VISITS
		       : FZ_JUDGE_APPROXIMATE;
}

/* Only a clock that really stands still while a thread waits has the small noise of one: Tachyon's
 * CPU mode and schedstat's steps of a scheduler tick have not. */
static bool is_cpu_clock(const struct fz_diff *d)
{
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		if (!fz_str_starts(fz_profile_fact(d->profile[side], "clock"), "perf task-clock"))
			return false;
	return strcmp(d->metric, "cpu") == 0;
}

/* Head samples for each base sample, all runs of a side together, if nothing changed. */
static double expected_ratio(const struct court *c)
{
	const struct fz_walk *base = &c->walk[FZ_BASE], *head = &c->walk[FZ_HEAD];

	if (c->d->scale == FZ_SCALE_SHARE)
		return fz_exposure_share(base->samples, head->samples);
	return c->d->factor *
	       fz_exposure_time(base->weight / base->samples, head->weight / head->samples);
}

static void prepare_visits(struct court *c)
{
	c->visit = (struct fz_visit_setup){
		.rho = expected_ratio(c),
		.run = { c->walk[FZ_BASE].samples, c->walk[FZ_HEAD].samples },
		.delta = c->o->delta,
		.ordered = c->method == FZ_JUDGE_VISITS,
		.noise = c->cpu_clock ? fz_visit_noise_cpu : fz_visit_noise_wall,
	};
	if (c->o->kappa > 0)
		c->visit.noise.kappa = c->o->kappa;
	c->reach = c->visit.rho;
	c->margin = fz_visit_margin(&c->visit);
}

/* By reference each run is as long as its typical function says; without any that has enough
 * samples in all runs, exposures stay as they are. */
static void refer_runs(const struct court *c)
{
	struct fz_entities e = { 0 };

	fz_entities_functions(c->d, &e);
	fz_auto(fz_free_ptr) double *counts =
		fz_calloc((size_t)FZ_MAX(e.n, 1) * c->runs, sizeof(*counts));
	fz_auto(fz_free_ptr) double *total = fz_calloc(FZ_MAX(e.n, 1), sizeof(*total));
	uint32_t column = 0;

	for (enum fz_side side = 0; side < FZ_SIDES; side++) {
		for (uint32_t run = 0; run < c->walk[side].run_count; run++, column++) {
			fz_auto(fz_free_ptr) double *self =
				fz_calloc(FZ_MAX(e.n, 1), sizeof(*self));
			double *weight[FZ_FAMILIES] = { self, total };

			fz_walk_counts(&c->walk[side], side, run, FZ_NONE, &e, weight);
			for (uint32_t i = 0; i < e.n; i++)
				counts[(size_t)i * c->runs + column] = self[i];
		}
	}
	fz_exposure_runs(counts, e.n, c->runs, c->exposure);
	fz_entities_release(&e);
}

/* Exposures have mean 1; those of a side's runs are alike but in share and reference mode. */
static void prepare_runs(struct court *c)
{
	const struct fz_walk *base = &c->walk[FZ_BASE], *head = &c->walk[FZ_HEAD];
	double each = expected_ratio(c) * base->run_count / head->run_count;
	double sum = 0, of_side[FZ_SIDES] = { 0 };

	c->exposure = fz_calloc(c->runs, sizeof(*c->exposure));
	for (uint32_t r = 0; r < c->runs; r++) {
		bool is_head = r >= base->run_count;
		uint32_t run = is_head ? r - base->run_count : r;

		c->exposure[r] = is_head ? each : 1;
		if (c->d->scale == FZ_SCALE_SHARE)
			c->exposure[r] = c->walk[is_head].run_samples[run];
		sum += c->exposure[r];
	}
	for (uint32_t r = 0; r < c->runs; r++)
		c->exposure[r] *= c->runs / sum;
	if (c->d->scale == FZ_SCALE_REFERENCE)
		refer_runs(c);
	for (uint32_t r = 0; r < c->runs; r++)
		of_side[r >= base->run_count] += c->exposure[r];
	c->quasi =
		(struct fz_quasi_setup){ .base_runs = base->run_count,
					 .head_runs = head->run_count,
					 .exposure = c->exposure,
					 .kappa = c->o->kappa > 0 ? c->o->kappa : FZ_QUASI_KAPPA };
	c->reach = of_side[FZ_HEAD];
	c->margin = c->o->delta / 2 *
		    (base->samples / of_side[FZ_BASE] + head->samples / of_side[FZ_HEAD]);
}

static void prepare_counts(struct court *c)
{
	const struct fz_walk *base = &c->walk[FZ_BASE], *head = &c->walk[FZ_HEAD];

	c->count_scale = c->d->factor * base->run_count / head->run_count;
	c->count_total = FZ_MAX(c->count_scale * base->weight / base->run_count,
				head->weight / head->run_count);
	c->reach = head->run_count;
	c->margin = c->o->delta * c->count_total;
}

static void prepare(struct court *c)
{
	for (enum fz_side side = 0; side < FZ_SIDES; side++) {
		fz_walk_init(&c->walk[side], c->d->profile[side], c->d->tree[side]->metric);
		c->runs += c->walk[side].run_count;
	}
	c->cpu_clock = is_cpu_clock(c->d);
	c->method = choose_method(c);
	if (by_visits(c))
		prepare_visits(c);
	else if (c->method == FZ_JUDGE_RUNS)
		prepare_runs(c);
	else if (c->method == FZ_JUDGE_COUNTS)
		prepare_counts(c);
}

/* ---- evidence ---- */

static void gather_visits(const struct court *c, struct docket *k)
{
	for (enum fz_side side = 0; side < FZ_SIDES; side++) {
		for (enum fz_family f = 0; f < FZ_FAMILIES; f++)
			k->sum[side][f] = fz_calloc(FZ_MAX(k->n, 1), sizeof(*k->sum[side][f]));
		fz_walk_visits(&c->walk[side], side, 0, &k->entities, k->sum[side]);
	}
}

/* One run's column of the counts. */
static void gather_run(const struct court *c, enum fz_side side, uint32_t run, uint32_t column,
		       struct docket *k)
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

static void gather_runs(const struct court *c, struct docket *k)
{
	uint32_t column = 0;

	for (enum fz_family f = 0; f < FZ_FAMILIES; f++)
		k->counts[f] = fz_calloc((size_t)FZ_MAX(k->n, 1) * c->runs, sizeof(*k->counts[f]));
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		for (uint32_t run = 0; run < c->walk[side].run_count; run++)
			gather_run(c, side, run, column++, k);
}

static void docket_init(const struct court *c, struct docket *k)
{
	k->n = k->entities.n;
	k->cost = fz_calloc(FZ_MAX(k->n, 1), sizeof(*k->cost));
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++) {
		k->change[f] = fz_calloc(FZ_MAX(k->n, 1), sizeof(*k->change[f]));
		k->rejected[f] = fz_calloc(FZ_MAX(k->n, 1), sizeof(*k->rejected[f]));
	}
	if (by_visits(c))
		gather_visits(c, k);
	else
		gather_runs(c, k);
}

static void docket_release(struct docket *k)
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

/* ---- what could not be read ---- */

/* A marker for samples whose function is not known: no function that could have changed. */
static bool is_unreadable(const struct fz_diff_function *f)
{
	return f->kind == FZ_KIND_MARKER && fz_str_eq(f->name, FZ_STR("[unreadable]"));
}

/* Head samples by which the sides differ in it. */
static double unattributed(const struct court *c, const struct docket *k)
{
	double difference = 0;

	for (uint32_t i = 0; i < k->n; i++)
		if (is_unreadable(&c->d->functions[i]))
			difference += k->sum[FZ_HEAD][FZ_FAMILY_SELF][i].samples -
				      c->visit.rho * k->sum[FZ_BASE][FZ_FAMILY_SELF][i].samples;
	return fabs(difference);
}

static void exclude_unreadable(const struct court *c, struct docket *k)
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

/* A bound in the shape of a test: the interval is what jitter may hide. */
static struct fz_change test_count(const struct court *c, const double *counts)
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

static struct fz_change test_entity(const struct court *c, const struct docket *k, enum fz_family f,
				    uint32_t i)
{
	if (by_visits(c))
		return fz_visit_test(&c->visit, &c->null[f], &k->sum[FZ_BASE][f][i],
				     &k->sum[FZ_HEAD][f][i]);
	if (c->method == FZ_JUDGE_RUNS)
		return fz_quasi_test(&c->quasi, &c->trend[f], k->counts[f] + (size_t)i * c->runs,
				     NULL);
	return test_count(c, k->counts[f] + (size_t)i * c->runs);
}

static void learn(struct court *c, const struct docket *k)
{
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++) {
		if (by_visits(c))
			fz_visit_null_fit(&c->visit, k->sum[FZ_BASE][f], k->sum[FZ_HEAD][f], k->n,
					  &c->null[f]);
		else if (c->method == FZ_JUDGE_RUNS)
			fz_quasi_trend_fit(&c->quasi, k->counts[f], k->n, &c->trend[f]);
	}
}

static double *p_values(const struct docket *k, enum fz_family f)
{
	double *p = fz_calloc(FZ_MAX(k->n, 1), sizeof(*p));

	for (uint32_t i = 0; i < k->n; i++)
		p[i] = k->change[f][i].p;
	return p;
}

static void test_all(const struct court *c, struct docket *k)
{
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++)
		for (uint32_t i = 0; i < k->n; i++)
			k->change[f][i] = test_entity(c, k, f, i);
}

/* Which changes are real, one family at a time. A bound needs no correction. */
static void correct_functions(const struct court *c, struct docket *k)
{
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++) {
		fz_auto(fz_free_ptr) double *p = p_values(k, f);

		fz_bh(p, k->n, FZ_FALSE_DISCOVERY_RATE, k->rejected[f]);
		for (uint32_t i = 0; c->method == FZ_JUDGE_COUNTS && i < k->n; i++)
			k->rejected[f][i] = k->change[f][i].tested;
	}
}

static size_t tested_count(const struct docket *k, enum fz_family f)
{
	size_t n = 0;

	for (uint32_t i = 0; i < k->n; i++)
		n += k->change[f][i].tested;
	return n;
}

/* Paths of function i are entities start[i] .. start[i + 1] of `paths`. */
static void correct_paths(const struct court *c, const struct docket *functions,
			  const size_t *start, struct docket *paths)
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

/* ---- verdicts ---- */

/* An interval in samples becomes one in the unit, around the difference that is shown. */
static struct fz_judged judge_entity(const struct court *c, const struct docket *k,
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

static void judge_functions(struct court *c, struct docket *k, struct fz_judgement *j)
{
	struct fz_judged *by_family[FZ_FAMILIES] = { j->self, j->total };

	fz_entities_functions(c->d, &k->entities);
	docket_init(c, k);
	for (uint32_t i = 0; i < k->n; i++)
		k->cost[i] = &c->d->functions[i].cost;
	if (by_visits(c))
		c->visit.unattributed = unattributed(c, k);
	learn(c, k);
	test_all(c, k);
	exclude_unreadable(c, k);
	correct_functions(c, k);
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++)
		for (uint32_t i = 0; i < k->n; i++)
			by_family[f][i] = judge_entity(c, k, f, i);
}

/* Number the paths of changed functions, those of one function together: slot[node], and where
 * each function's begin. */
static uint32_t number_paths(const struct court *c, const struct docket *functions, uint32_t *slot,
			     size_t *start)
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

static void judge_paths(struct court *c, const struct docket *functions, struct fz_judgement *j)
{
	const struct fz_diff *d = c->d;
	struct fz_judged *by_family[FZ_FAMILIES] = { j->path_self, j->path_total };
	fz_auto(fz_free_ptr) uint32_t *slot = fz_calloc(d->node_count, sizeof(*slot));
	fz_auto(fz_free_ptr) size_t *start =
		fz_calloc((size_t)d->function_count + 1, sizeof(*start));
	uint32_t n = number_paths(c, functions, slot, start);
	struct docket k = { 0 };

	if (n == 0)
		return;
	fz_entities_paths(d, slot, n, &k.entities);
	docket_init(c, &k);
	for (uint32_t i = 0; i < d->node_count; i++)
		if (slot[i] != FZ_NONE)
			k.cost[slot[i]] = &d->nodes[i].cost;
	test_all(c, &k);
	correct_paths(c, functions, start, &k);
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++)
		for (uint32_t i = 0; i < d->node_count; i++)
			if (slot[i] != FZ_NONE && functions->rejected[f][d->nodes[i].function])
				by_family[f][i] = judge_entity(c, &k, f, slot[i]);
	docket_release(&k);
}

/* ---- the run ---- */

/* The ratio at which the typical function stands, by self samples. */
static double reference_ratio(const struct docket *k)
{
	fz_auto(fz_free_ptr) double *base = fz_calloc(FZ_MAX(k->n, 1), sizeof(*base));
	fz_auto(fz_free_ptr) double *head = fz_calloc(FZ_MAX(k->n, 1), sizeof(*head));

	for (uint32_t i = 0; i < k->n; i++) {
		base[i] = k->sum[FZ_BASE][FZ_FAMILY_SELF][i].samples;
		head[i] = k->sum[FZ_HEAD][FZ_FAMILY_SELF][i].samples;
	}
	return fz_exposure_reference(base, head, k->n);
}

/* Fills what fz_power needs to know about this comparison. */
static struct fz_change test_run_visits(const struct court *c, const struct docket *k,
					struct fz_power *power)
{
	const struct fz_visit_null *null = &c->null[FZ_FAMILY_TOTAL];
	double reference = reference_ratio(k);
	double phi = (null->phi[FZ_BASE] + null->phi[FZ_HEAD]) / 2;
	double drift = reference > 0 ? fabs(log(reference / c->visit.rho)) * M_SQRT1_2 : 0;

	power->samples = (c->visit.run[FZ_BASE] + c->visit.run[FZ_HEAD]) / (1 + c->visit.rho);
	power->phi = null->scale * null->scale * (c->visit.ordered ? 1 + phi : c->visit.noise.phi);
	power->kappa = null->scale * FZ_MAX(c->visit.noise.kappa, drift);
	return fz_visit_test_run(&c->visit, null, reference);
}

static struct fz_change test_run_runs(const struct court *c, struct fz_power *power)
{
	fz_auto(fz_free_ptr) double *counts = fz_calloc(c->runs, sizeof(*counts));
	uint32_t n = 0;

	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		for (uint32_t run = 0; run < c->walk[side].run_count; run++)
			counts[n++] = c->walk[side].run_samples[run];
	power->samples = (c->walk[FZ_BASE].samples + c->walk[FZ_HEAD].samples) / c->runs;
	return fz_quasi_test(&c->quasi, &c->trend[FZ_FAMILY_TOTAL], counts, &power->phi);
}

static struct fz_change test_run_counts(const struct court *c)
{
	fz_auto(fz_free_ptr) double *counts = fz_calloc(c->runs, sizeof(*counts));
	uint32_t n = 0;

	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		for (uint32_t run = 0; run < c->walk[side].run_count; run++)
			counts[n++] = c->walk[side].run_weight[run];
	return test_count(c, counts);
}

static enum fz_run_word run_word(const struct court *c, const struct fz_judged_run *run,
				 const struct fz_change *t)
{
	bool changed = c->method == FZ_JUDGE_COUNTS ? t->tested : t->p < 0.05;

	if (changed)
		return run->change > 0 ? FZ_RUN_SLOWER : FZ_RUN_FASTER;
	if (run->low >= -c->o->run_delta && run->high <= c->o->run_delta)
		return FZ_RUN_SAME;
	return FZ_RUN_UNKNOWN;
}

static void judge_run(const struct court *c, const struct docket *k, struct fz_judged_run *run)
{
	uint32_t base_runs = c->walk[FZ_BASE].run_count, head_runs = c->walk[FZ_HEAD].run_count;
	struct fz_power power = { .share = 1, .phi = 1, .alpha = FZ_POWER_ALPHA_ONE };
	struct fz_change t;

	if (c->method == FZ_JUDGE_COUNTS)
		t = test_run_counts(c);
	else if (c->method == FZ_JUDGE_RUNS)
		t = test_run_runs(c, &power);
	else
		t = test_run_visits(c, k, &power);
	run->change = fz_diff_ratio(c->d, c->d->total[FZ_BASE], c->d->total[FZ_HEAD]);
	run->low = run->change + (t.low - t.change) / t.base;
	run->high = run->change + (t.high - t.change) / t.base;
	run->z = t.statistic;
	run->p = t.p;
	run->word = run_word(c, run, &t);
	if (c->method == FZ_JUDGE_COUNTS) {
		run->smallest_visible = (t.high - t.low) / 2 / t.base;
		run->more_runs = 0;
		return;
	}
	run->smallest_visible = fz_power_smallest_change(&power, base_runs, head_runs);
	run->more_runs = FZ_MAX(0, fz_power_runs_needed(&power, c->o->run_delta) -
					   FZ_MIN(base_runs, head_runs));
}

/* ---- all of it ---- */

static const struct fz_judged not_judged = {
	.verdict = FZ_VERDICT_UNKNOWN, .low = NAN, .high = NAN, .z = NAN, .p = NAN
};
static const struct fz_judged identical = { .verdict = FZ_VERDICT_UNCHANGED, .z = NAN, .p = NAN };
static const struct fz_judged_run run_not_judged = {
	FZ_RUN_UNKNOWN, NAN, NAN, NAN, NAN, NAN, NAN, NAN
};
static const struct fz_judged_run run_identical = {
	.word = FZ_RUN_SAME, .z = NAN, .p = NAN, .smallest_visible = NAN, .more_runs = NAN
};

static struct fz_judged *new_verdicts(uint32_t n, enum fz_judge_method method)
{
	struct fz_judged *v = fz_reallocarray(NULL, FZ_MAX(n, 1), sizeof(*v));

	for (uint32_t i = 0; i < n; i++)
		v[i] = method == FZ_JUDGE_IDENTICAL ? identical : not_judged;
	return v;
}

static struct fz_judgement *new_judgement(const struct court *c)
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
	struct court c = { .d = d, .o = o };
	struct docket functions = { 0 };
	struct fz_judgement *j;

	prepare(&c);
	j = new_judgement(&c);
	if (c.method != FZ_JUDGE_NONE && c.method != FZ_JUDGE_IDENTICAL) {
		judge_functions(&c, &functions, j);
		if (d->scale != FZ_SCALE_SHARE)
			judge_run(&c, &functions, &j->run);
		if (o->paths)
			judge_paths(&c, &functions, j);
		docket_release(&functions);
	}
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		fz_walk_release(&c.walk[side]);
	free(c.exposure);
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
