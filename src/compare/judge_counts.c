/* SPDX-License-Identifier: MIT */
/* Deterministic counts (instructions, bytes) have a bound on jitter instead of a test.
 *
 * A change above the bound is certain but may be irrelevant, so only changes worth reporting count
 * as tested, for functions and for the run.
 */
#include "compare/judge.h"
#include "compare/judge_internal.h"

#include <math.h>

#include "profile/benchmarks.h"
#include "stats/jitter.h"

void fz_inference_prepare_counts(struct fz_inference *c)
{
	const struct fz_walk *base = &c->walk[FZ_BASE], *head = &c->walk[FZ_HEAD];

	c->count_scale = c->d->factor * base->run_count / head->run_count;
	c->count_total = FZ_MAX(c->count_scale * base->weight / base->run_count,
				head->weight / head->run_count);
	c->count_least = strcmp(c->d->metric, "instructions") == 0 ? FZ_JITTER_INSTRUCTIONS : 0;
	c->count_floor = FZ_MAX(fz_benchmarks_floor(base->profile, c->d->metric),
				fz_benchmarks_floor(head->profile, c->d->metric));
	c->reach = head->run_count;
	c->margin = c->o->delta * c->count_total;
}

struct fz_change fz_inference_test_count(const struct fz_inference *c,
					 const struct fz_ratio_run *counts)
{
	uint32_t base_runs = c->walk[FZ_BASE].run_count, head_runs = c->walk[FZ_HEAD].run_count;
	fz_auto(fz_free_ptr) double *cost = fz_calloc(base_runs + head_runs, sizeof(*cost));
	struct fz_jitter j;

	for (uint32_t r = 0; r < base_runs + head_runs; r++)
		cost[r] = (r < base_runs ? c->count_scale : 1) * counts[r].cost;
	j = fz_jitter_bound(cost, base_runs, cost + base_runs, head_runs, c->count_total,
			    c->count_least, c->count_floor);
	return (struct fz_change){
		.base = j.base,
		.head = j.head,
		.change = j.change,
		.low = j.change - j.bound,
		.high = j.change + j.bound,
		.statistic = NAN,
		.p = NAN,
		.tested = j.worth_reporting,
	};
}

struct fz_change fz_inference_test_run_counts(const struct fz_inference *c)
{
	fz_auto(fz_free_ptr) struct fz_ratio_run *counts = fz_calloc(c->runs, sizeof(*counts));
	uint32_t n = 0;

	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		for (uint32_t run = 0; run < c->walk[side].run_count; run++)
			counts[n++].cost = c->walk[side].run_weight[run];
	return fz_inference_test_count(c, counts);
}

double fz_inference_smallest_count(const struct fz_inference *c, const struct fz_change *run)
{
	return FZ_MAX((run->high - run->low) / 2, FZ_JITTER_REPORTED * c->count_total) / run->base;
}

/* Measured effect of the environment on a benchmark; 0: not measured. */
static double floor_of(const struct fz_diff *d, enum fz_side side, struct fz_str benchmark)
{
	struct fz_str rest = fz_benchmarks_floors(d->profile[side], d->metric), name;
	double floor;

	while (fz_benchmark_next_floor(&rest, &name, &floor))
		if (fz_str_eq(name, benchmark) && floor < 1)
			return floor;
	return 0;
}

double fz_judge_benchmark_bound(const struct fz_diff *d, uint32_t root)
{
	const struct fz_diff_node *node = &d->nodes[root];
	struct fz_str name = d->functions[node->function].name;
	double floor = FZ_MAX(floor_of(d, FZ_BASE, name), floor_of(d, FZ_HEAD, name));
	double total = FZ_MAX(fz_diff_expected(d, node->cost.total[FZ_BASE]),
			      (double)node->cost.total[FZ_HEAD]);

	return FZ_MAX(FZ_JITTER_REPORTED, FZ_JITTER_FLOORS * floor) * total;
}
