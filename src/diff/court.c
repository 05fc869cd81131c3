/* SPDX-License-Identifier: MIT */
/* How a comparison is judged: by which test, and what is expected if nothing changed.
 *
 * Exposures say how much of the head stands against how much of the base: in samples, because
 * tests count samples.
 */
#include "diff/judge_internal.h"

#include "base/both.h"
#include "stats/exposure.h"

static bool has_empty_run(const struct fz_walk *w)
{
	for (uint32_t run = 0; run < w->run_count; run++)
		if (w->run_samples[run] <= 0)
			return true;
	return false;
}

/* Whether both sides are one recording. Two runs of a program never agree in the times of all
 * samples; where there are no times, not in the cost of every path. */
static bool is_identical(const struct fz_court *c)
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

/* Rows of other tools' profiles may be calls that were all timed, or places of a graph: no test
 * here knows how those vary. */
static bool was_sampled(const struct fz_profile *p)
{
	return !p->recording.reconstructed &&
	       (p->recording.interval_ns > 0 ||
		fz_profile_find_metric(p, FZ_STR("samples")) != FZ_NONE);
}

/* Instructions that were counted; where samples were, too, they are what samples stand for. */
static bool is_counted(const struct fz_profile *p)
{
	return fz_profile_find_metric(p, FZ_STR("samples")) == FZ_NONE;
}

static enum fz_judge_method choose_method(const struct fz_court *c)
{
	const struct fz_walk *base = &c->walk[FZ_BASE], *head = &c->walk[FZ_HEAD];
	const char *metric = c->d->metric;
	bool instructions = strcmp(metric, "instructions") == 0;

	if (has_empty_run(base) || has_empty_run(head))
		return FZ_JUDGE_NONE;
	if (is_identical(c))
		return FZ_JUDGE_IDENTICAL;
	if (instructions && is_counted(base->profile) && is_counted(head->profile))
		return FZ_JUDGE_COUNTS;
	if (strcmp(c->d->unit, "ns") != 0 && strcmp(metric, "samples") != 0 &&
	    strcmp(metric, "cycles") != 0 && !instructions)
		return FZ_JUDGE_NONE;
	if (c->runs > 2)
		return FZ_JUDGE_RUNS;
	if (!was_sampled(base->profile) || !was_sampled(head->profile))
		return FZ_JUDGE_NONE;
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
static double expected_ratio(const struct fz_court *c)
{
	const struct fz_walk *base = &c->walk[FZ_BASE], *head = &c->walk[FZ_HEAD];

	if (c->d->scale == FZ_SCALE_SHARE)
		return fz_exposure_share(base->samples, head->samples);
	return c->d->factor *
	       fz_exposure_time(base->weight / base->samples, head->weight / head->samples);
}

static void prepare_visits(struct fz_court *c)
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
static void refer_runs(const struct fz_court *c)
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
static void prepare_runs(struct fz_court *c)
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

static void prepare_counts(struct fz_court *c)
{
	const struct fz_walk *base = &c->walk[FZ_BASE], *head = &c->walk[FZ_HEAD];

	c->count_scale = c->d->factor * base->run_count / head->run_count;
	c->count_total = FZ_MAX(c->count_scale * base->weight / base->run_count,
				head->weight / head->run_count);
	c->reach = head->run_count;
	c->margin = c->o->delta * c->count_total;
}

struct route {
	struct fz_walk *walk;
	const struct fz_tree *tree;
};

static void prepare_walk(void *arg)
{
	const struct route *r = arg;

	fz_walk_init(r->walk, r->tree->profile, r->tree->metric);
}

void fz_court_init(struct fz_court *c)
{
	struct route base = { &c->walk[FZ_BASE], c->d->tree[FZ_BASE] };
	struct route head = { &c->walk[FZ_HEAD], c->d->tree[FZ_HEAD] };

	fz_both(prepare_walk, &base, &head);
	c->runs = c->walk[FZ_BASE].run_count + c->walk[FZ_HEAD].run_count;
	c->cpu_clock = is_cpu_clock(c->d);
	c->method = choose_method(c);
	if (fz_court_by_visits(c))
		prepare_visits(c);
	else if (c->method == FZ_JUDGE_RUNS)
		prepare_runs(c);
	else if (c->method == FZ_JUDGE_COUNTS)
		prepare_counts(c);
}

void fz_court_release(struct fz_court *c)
{
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		fz_walk_release(&c->walk[side]);
	free(c->exposure);
}
