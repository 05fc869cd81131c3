/* SPDX-License-Identifier: MIT */
/* The memory of a call graph (callgraph.h), which a profile owns.
 *
 * Costs are rows with one value for each metric; FZ_NONE: not stated.
 */
#pragma once

#include "base/map.h"

struct fz_callgraph_function {
	uint32_t frame;            /* as called */
	uint32_t variant;          /* string: suffix of its name, "'2", or "" */
	bool inner;                /* only called inside another variant, whose total includes it */
	uint64_t calls, primitive; /* number of calls, and without recursive ones */
	uint32_t total;            /* row */
};

struct fz_callgraph_self {
	uint32_t function, frame;
	uint32_t cost; /* row */
};

struct fz_callgraph_call {
	uint32_t caller, frame, callee; /* frame: where in the caller */
	uint64_t calls, primitive;
	uint32_t self, total; /* rows: of the callee when called from there */
};

struct fz_callgraph {
	uint32_t metrics; /* values in a row */
	uint32_t stated;  /* bits of the metrics with function totals */
	struct fz_callgraph_function *functions;
	uint32_t n, cap;
	struct fz_callgraph_self *selves;
	uint32_t self_n, self_cap;
	struct fz_callgraph_call *calls;
	uint32_t call_n, call_cap;
	int64_t *values;
	uint32_t row_n;
	size_t value_cap;
	struct fz_map function_of, self_of, call_of; /* existing entries */
};

/* Returns an empty graph with that number of values in a row. */
struct fz_callgraph *fz_callgraph_new(uint32_t metrics);
struct fz_callgraph *fz_callgraph_copy(const struct fz_callgraph *g);
void fz_callgraph_free(struct fz_callgraph *g);

static inline const int64_t *fz_callgraph_row(const struct fz_callgraph *g, uint32_t row)
{
	fz_assert(row == FZ_NONE || row < g->row_n);
	return row == FZ_NONE ? NULL : g->values + (size_t)row * g->metrics;
}
