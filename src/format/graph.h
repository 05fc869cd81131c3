/* SPDX-License-Identifier: MIT */
/* A call tree from a call graph, for formats that keep who called whom but no stacks.
 *
 *   function: self cost on lines          main 1 --60--> parse 50
 *   call: caller, callee, what the                \-39--> load 9 --30--> parse
 *         callee cost below that caller
 *
 * What a function costs is divided over the paths to it in proportion to what its calls from there
 * cost: the best guess there is, and wrong where a function behaves differently for each caller
 * (so recording.reconstructed is set). Functions keep their exact self cost. Paths too small to
 * matter are not told apart: their cost stands below a marker "[other callers]".
 */
#pragma once

#include "profile/profile.h"

struct fz_graph;

/* A graph for that profile, whose metrics were added before, all with a column. */
struct fz_graph *fz_graph_new(struct fz_profile *p);
void fz_graph_freep(struct fz_graph **g);
/* A function with its frame as a caller sees it; returns its number. */
uint32_t fz_graph_function(struct fz_graph *g, uint32_t frame);
/* Self cost, one for each metric, on a frame of that function. */
void fz_graph_self(struct fz_graph *g, uint32_t function, uint32_t frame, const int64_t *weights);
/* `cost` of the callee below a call from `frame` of the caller, in the default metric; calls
 * decide where costs are 0. */
void fz_graph_call(struct fz_graph *g, uint32_t caller, uint32_t frame, uint32_t callee,
		   double cost, double calls);
/* The tree, as samples of one thread. */
void fz_graph_make_stacks(struct fz_graph *g);
