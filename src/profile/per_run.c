/* SPDX-License-Identifier: MIT */
/* Divides weights; see per_run.h. Remainders are carried from row to row of each stack, so rounding
 * applies to its whole cost, not to each row. */
#include "profile/per_run.h"

#include "profile/benchmarks.h"
#include "profile/callgraph.h"
#include "profile/fleet_fact.h"

bool fz_metric_is_per_run(const char *name)
{
	return strcmp(name, "samples") != 0;
}

static void divide_column(struct fz_profile *p, int64_t *column)
{
	fz_auto(fz_free_ptr) struct fz_share_out *of_stack =
		fz_calloc((size_t)p->stack_count + 1, sizeof(*of_stack));

	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t stack = p->samples.stack[row];
		struct fz_share_out *s = &of_stack[stack == FZ_NONE ? p->stack_count : stack];
		s->parts = p->run_count;
		column[row] = fz_share_out_next(s, column[row]);
	}
}

bool fz_profile_has_rounds(const struct fz_profile *p)
{
	uint32_t wall = fz_profile_find_metric(p, FZ_STR("wall"));

	return !p->per_round && wall != FZ_NONE && p->metrics[wall].column && fz_benchmarks_any(p);
}

void fz_profile_per_round(struct fz_profile *p)
{
	uint32_t wall = fz_profile_find_metric(p, FZ_STR("wall"));

	if (!fz_profile_has_rounds(p))
		return;
	int64_t *column = p->metrics[wall].column;
	fz_auto(fz_free_ptr) struct fz_share_out *of_stack =
		fz_calloc((size_t)p->stack_count + 1, sizeof(*of_stack));
	p->per_round = true;
	for (size_t row = 0; row < p->samples.n; row++)
		if (column[row] > 0 && p->samples.stack[row] != FZ_NONE)
			of_stack[p->samples.stack[row]].parts++;
	for (size_t row = 0; row < p->samples.n; row++)
		if (column[row] > 0 && p->samples.stack[row] != FZ_NONE)
			column[row] =
				fz_share_out_next(&of_stack[p->samples.stack[row]], column[row]);
}

void fz_profile_per_run(struct fz_profile *p)
{
	fz_profile_per_round(p);
	if (p->run_count < 2 || p->per_run || fz_profile_is_fleet(p))
		return;
	p->per_run = true;
	if (p->callgraph)
		fz_callgraph_per_run(p->callgraph, p->run_count);
	for (uint32_t i = 0; i < p->metric_count; i++) {
		struct fz_metric *m = &p->metrics[i];
		if (!fz_metric_is_per_run(m->name))
			continue;
		if (m->column)
			divide_column(p, m->column);
		else
			m->each = (m->each + p->run_count / 2) / p->run_count;
	}
}
