/* SPDX-License-Identifier: MIT */
/* A call tree from a call graph (profile/callgraph.h), for formats that keep who called whom but no
 * stacks.
 *
 * What a function costs is divided over the paths to it in proportion to what its calls from there
 * cost: the best guess there is, and wrong where a function behaves differently for each caller
 * (so recording.reconstructed is set). Functions keep their exact self cost; their totals are those
 * that the graph states, not the tree's. Paths too small to
 * matter are not told apart: their cost stands below a marker "[other callers]".
 */
#pragma once

#include "profile/callgraph.h"

/* The tree, as samples of one thread. Metrics all have a column; the default one decides. */
void fz_graph_make_stacks(struct fz_profile *p, const struct fz_callgraph *graph);
