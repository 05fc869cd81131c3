/* SPDX-License-Identifier: MIT */
/* Makes, copies and frees call graphs; see callgraph_data.h. */
#include "profile/callgraph_data.h"

struct fz_callgraph *fz_callgraph_new(uint32_t metrics)
{
	struct fz_callgraph *g = fz_calloc(1, sizeof(*g));

	g->metrics = metrics;
	return g;
}

struct fz_callgraph *fz_callgraph_copy(const struct fz_callgraph *g)
{
	struct fz_callgraph *copy = fz_memdup(g, sizeof(*g));

	copy->functions = fz_memdup(g->functions, g->cap * sizeof(*g->functions));
	copy->selves = fz_memdup(g->selves, g->self_cap * sizeof(*g->selves));
	copy->calls = fz_memdup(g->calls, g->call_cap * sizeof(*g->calls));
	copy->values = fz_memdup(g->values, g->value_cap * sizeof(*g->values));
	copy->function_of = fz_map_copy(&g->function_of);
	copy->self_of = fz_map_copy(&g->self_of);
	copy->call_of = fz_map_copy(&g->call_of);
	return copy;
}

void fz_callgraph_free(struct fz_callgraph *g)
{
	if (!g)
		return;
	free(g->functions);
	free(g->selves);
	free(g->calls);
	free(g->values);
	fz_map_release(&g->function_of);
	fz_map_release(&g->self_of);
	fz_map_release(&g->call_of);
	free(g);
}
