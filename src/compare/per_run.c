/* SPDX-License-Identifier: MIT */
/* Converts a judged diff of several runs per side to costs per run.
 *
 * Values in the unit of the comparison are divided by the number of runs of their side, intervals
 * by that of the head. From then on, the factor does not include the ratio of these numbers.
 */
#include "compare/judge.h"

#include "profile/fleet_fact.h"
#include "profile/per_run.h"

struct divisor {
	int64_t runs[FZ_SIDES];
};

static int64_t rounded(int64_t value, int64_t runs)
{
	return (value + (value < 0 ? -runs : runs) / 2) / runs;
}

static void divide_functions(struct fz_diff *d, const struct divisor *v)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		struct fz_share_out self = { .parts = v->runs[s] };
		for (uint32_t i = 0; i < d->function_count; i++) {
			struct fz_diff_cost *c = &d->functions[i].cost;
			c->self[s] = fz_share_out_next(&self, c->self[s]);
			c->total[s] = rounded(c->total[s], v->runs[s]);
		}
	}
	for (uint32_t i = 0; i < d->function_count; i++) {
		struct fz_diff_function *f = &d->functions[i];
		f->measured_self = rounded(f->measured_self, v->runs[FZ_HEAD]);
		f->measured_total = rounded(f->measured_total, v->runs[FZ_HEAD]);
	}
}

static void divide_nodes(struct fz_diff *d, const struct divisor *v)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		struct fz_share_out self = { .parts = v->runs[s] }, cell = { .parts = v->runs[s] };
		for (uint32_t i = 0; i < d->node_count; i++) {
			struct fz_diff_cost *c = &d->nodes[i].cost;
			c->self[s] = fz_share_out_next(&self, c->self[s]);
			c->total[s] = rounded(c->total[s], v->runs[s]);
		}
		for (size_t i = 0; i < d->cell_count; i++)
			d->cells[i].self[s] = fz_share_out_next(&cell, d->cells[i].self[s]);
		for (uint32_t i = 0; i < d->shift_count; i++)
			d->shifts[i].cost[s] = rounded(d->shifts[i].cost[s], v->runs[s]);
	}
}

static void divide_lines(struct fz_tree *t, int64_t runs)
{
	struct fz_share_out self = { .parts = runs };

	for (size_t i = 0; i < t->line_count; i++) {
		t->lines[i].self = fz_share_out_next(&self, t->lines[i].self);
		t->lines[i].total = rounded(t->lines[i].total, runs);
		t->lines[i].once = rounded(t->lines[i].once, runs);
	}
}

static void divide_intervals(struct fz_judged *judged, uint32_t n, int64_t runs)
{
	for (uint32_t i = 0; judged && i < n; i++) {
		judged[i].low /= (double)runs;
		judged[i].high /= (double)runs;
	}
}

/* Divides the samples, too, because costs of instructions come from them. The view shares all
 * columns but one with the measured head, which is not read afterwards. */
static void divide_samples(struct fz_diff *d, struct fz_profile *base, struct fz_profile *head)
{
	fz_profile_per_run(base);
	fz_profile_per_run(d->speed_scale.used ? &d->speed_scale.view : head);
}

void fz_diff_per_run(struct fz_diff *d, struct fz_judgement *j, struct fz_profile *base,
		     struct fz_profile *head)
{
	struct divisor v = { { FZ_MAX(d->profile[FZ_BASE]->run_count, 1),
			       FZ_MAX(d->profile[FZ_HEAD]->run_count, 1) } };

	if (d->per_run || !fz_metric_is_per_run(d->metric) ||
	    (v.runs[FZ_BASE] == 1 && v.runs[FZ_HEAD] == 1) || fz_profile_is_fleet(base) ||
	    fz_profile_is_fleet(head))
		return;
	d->per_run = true;
	d->factor *= (double)v.runs[FZ_BASE] / (double)v.runs[FZ_HEAD];
	divide_functions(d, &v);
	divide_nodes(d, &v);
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		d->total[s] /= v.runs[s]; /* the sum of the nodes' shares */
		divide_lines(d->tree[s], v.runs[s]);
	}
	d->elided_time = rounded(d->elided_time, v.runs[FZ_BASE]);
	d->speed_scale.total = rounded(d->speed_scale.total, v.runs[FZ_HEAD]);
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		d->speed_scale.side[s].waited = rounded(d->speed_scale.side[s].waited, v.runs[s]);
	divide_samples(d, base, head);
	divide_intervals(j->self, d->function_count, v.runs[FZ_HEAD]);
	divide_intervals(j->total, d->function_count, v.runs[FZ_HEAD]);
	divide_intervals(j->path_self, d->node_count, v.runs[FZ_HEAD]);
	divide_intervals(j->path_total, d->node_count, v.runs[FZ_HEAD]);
}
