/* SPDX-License-Identifier: MIT */
/* What a format without stacks states: a graph of calls with the costs of both its ends.
 *
 *   function: self cost on lines, total        main 1 --2 calls, 60--> parse 50, total 60
 *   call: caller, callee, how often, cost           \--1 call,  39--> load 9, total 39
 *
 * A tree made of it is a guess (format/graph.h); its totals are not, so a profile keeps the graph
 * for as long as it holds all that the graph was made for: whoever takes samples away or turns
 * stacks round drops it. There may be variants of a function: of one level of a recursion, "fib'2",
 * or of certain callers, "fib'main".
 *
 * Costs are rows of one value for each metric of the profile; FZ_NONE is a cost that nobody stated.
 */
#pragma once

#include "profile/profile.h"

struct fz_callgraph_function {
	uint32_t frame;   /* as a caller sees it */
	uint32_t variant; /* string: what its name has more, "'2"; "": nothing */
	bool inner;       /* only called inside another variant, whose total holds this one's */
	uint64_t calls, primitive; /* how often it was called, and that without recursion */
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
	uint32_t stated;  /* bit for each metric of which functions have totals */
	struct fz_callgraph_function *functions;
	uint32_t n, cap;
	struct fz_callgraph_self *selves;
	uint32_t self_n, self_cap;
	struct fz_callgraph_call *calls;
	uint32_t call_n, call_cap;
	int64_t *values;
	uint32_t row_n;
	size_t value_cap;
	struct fz_map function_of, self_of, call_of; /* what is there already */
};

/* An empty graph for a profile whose metrics are known. */
struct fz_callgraph *fz_callgraph_new(const struct fz_profile *p);
struct fz_callgraph *fz_callgraph_copy(const struct fz_callgraph *g);
void fz_callgraph_free(struct fz_callgraph *g);

/* The function with that frame and variant, made when it is new; memory is paid for by `p`. */
uint32_t fz_callgraph_function(struct fz_callgraph *g, struct fz_profile *p, uint32_t frame,
			       uint32_t variant, bool inner);
/* What follows adds to what was said of the same before. A total, or a call's costs, may be NULL:
 * not stated. */
void fz_callgraph_total(struct fz_callgraph *g, struct fz_profile *p, uint32_t function,
			const int64_t *values);
void fz_callgraph_self(struct fz_callgraph *g, struct fz_profile *p, uint32_t function,
		       uint32_t frame, const int64_t *values);
/* Ends and counts are those of `call`, its rows are not looked at. */
void fz_callgraph_call(struct fz_callgraph *g, struct fz_profile *p,
		       const struct fz_callgraph_call *call, const int64_t *self,
		       const int64_t *total);

static inline const int64_t *fz_callgraph_row(const struct fz_callgraph *g, uint32_t row)
{
	return row == FZ_NONE ? NULL : g->values + (size_t)row * g->metrics;
}

/* What indices of another profile's graph are in ours; of a metric of ours what it is there. */
struct fz_callgraph_tables {
	const uint32_t *strings, *frames, *metrics;
};
/* Add all of another graph; tables: NULL when it is of the same profile. */
void fz_callgraph_merge(struct fz_callgraph *g, struct fz_profile *p,
			const struct fz_callgraph *from, const struct fz_callgraph_tables *tables);
/* Divide all costs and counts by a number of runs. */
void fz_callgraph_per_run(struct fz_callgraph *g, uint32_t runs);

/* Give the profile, which is that of several files perhaps, the graph of one; takes over g. first:
 * it had no samples before. Where a file has none, the profile has none: it would be of a part. */
void fz_profile_take_callgraph(struct fz_profile *p, struct fz_callgraph *g, bool first);
void fz_profile_drop_callgraph(struct fz_profile *p);

/* What the counts of a profile with a reconstructed tree are of: "call", or "sample" of a sampling
 * profiler that keeps a graph. Rows are neither. */
const char *fz_profile_counted(const struct fz_profile *p);
uint64_t fz_profile_count(const struct fz_profile *p);

/* Whether totals of functions are recorded for that metric. */
bool fz_callgraph_states(const struct fz_profile *p, uint32_t metric);
/* Recorded totals of groups of functions in that metric, where they are known; ret_total is left as
 * it is where they are not. group_of: of each function of the profile, FZ_NONE: none; NULL: each
 * is one of its own. */
void fz_callgraph_totals(const struct fz_profile *p, uint32_t metric, const uint32_t *group_of,
			 uint32_t groups, int64_t *ret_total);
/* The same for groups of the graph's functions. */
void fz_callgraph_group_totals(const struct fz_profile *p, uint32_t metric,
			       const uint32_t *group_of, uint32_t groups, int64_t *ret_total);
