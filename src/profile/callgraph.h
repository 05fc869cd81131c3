/* SPDX-License-Identifier: MIT */
/* The contents of a format without stacks: a call graph with the costs of both ends of each call.
 *
 *   function: self cost on lines, total        main 1 --2 calls, 60--> parse 50, total 60
 *   call: caller, callee, count, cost               \--1 call,  39--> load 9, total 39
 *
 * A tree reconstructed from it is an estimate (format/graph.h); its totals are exact, so a profile
 * keeps the graph as long as it is complete: removing samples or reversing stacks drops it. A
 * function may have variants, one for each level of a recursion, "fib'2", or for certain callers,
 * "fib'main".
 */
#pragma once

#include "profile/callgraph_data.h"
#include "profile/profile.h"

/* Finds or creates the function with that frame and variant; memory counts towards the limit of
 * `p`. */
uint32_t fz_callgraph_function(struct fz_callgraph *g, struct fz_profile *p, uint32_t frame,
			       uint32_t variant, bool inner);
/* The following functions add to earlier values. A total, or a call's costs, may be NULL: not
 * stated. */
void fz_callgraph_total(struct fz_callgraph *g, struct fz_profile *p, uint32_t function,
			const int64_t *values);
void fz_callgraph_self(struct fz_callgraph *g, struct fz_profile *p, uint32_t function,
		       uint32_t frame, const int64_t *values);
/* Counts are limited to 2^60. */
void fz_callgraph_count(struct fz_callgraph *g, uint32_t function, uint64_t calls,
			uint64_t primitive);
/* Ends and counts are those of `call`; its rows are ignored. */
void fz_callgraph_call(struct fz_callgraph *g, struct fz_profile *p,
		       const struct fz_callgraph_call *call, const int64_t *self,
		       const int64_t *total);

/* Maps indices of another profile to ours, and our metrics to those of the other. */
struct fz_callgraph_tables {
	const uint32_t *strings, *frames, *metrics;
};
/* Adds another graph. tables: NULL if both graphs belong to the same profile. */
void fz_callgraph_merge(struct fz_callgraph *g, struct fz_profile *p,
			const struct fz_callgraph *from, const struct fz_callgraph_tables *tables);
/* Divide all costs and counts by a number of runs. */
void fz_callgraph_per_run(struct fz_callgraph *g, uint32_t runs);

/* Adds the graph of one file (NULL: none) to a profile, which may be read from several; takes
 * ownership of g. first: the profile had no samples before. If any file has no graph, the profile
 * gets none, because it would be incomplete. */
void fz_profile_take_callgraph(struct fz_profile *p, struct fz_callgraph *g, bool first);
void fz_profile_drop_callgraph(struct fz_profile *p);

/* What a profile with a reconstructed tree counts: "call", or "sample" from a sampling profiler
 * that stores a graph. Its rows are neither. */
const char *fz_profile_counted(const struct fz_profile *p);
uint64_t fz_profile_count(const struct fz_profile *p);

/* Whether totals of functions are recorded for that metric. */
bool fz_callgraph_states(const struct fz_profile *p, uint32_t metric);
/* Sets ret_total to the recorded totals of groups of functions in that metric; entries without one
 * are left unchanged. group_of: of each function of the profile, or FZ_NONE; NULL: each function is
 * a group. */
void fz_callgraph_totals(const struct fz_profile *p, uint32_t metric, const uint32_t *group_of,
			 uint32_t groups, int64_t *ret_total);
/* Likewise for groups of the graph's functions. */
void fz_callgraph_group_totals(const struct fz_profile *p, uint32_t metric,
			       const uint32_t *group_of, uint32_t groups, int64_t *ret_total);
