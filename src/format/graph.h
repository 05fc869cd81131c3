/* SPDX-License-Identifier: MIT */
/* Reconstructs a call tree from a call graph (profile/callgraph.h), for formats with calls but
 * without stacks.
 *
 * The cost of a function is divided over the paths to it in proportion to the cost of its calls on
 * them. That is the best estimate, but wrong if a function behaves differently for each caller (so
 * recording.reconstructed is set). Functions keep their exact self cost; their totals are those of
 * the graph, not of the tree. Very small paths are merged below a marker "[other callers]".
 */
#pragma once

#include "profile/callgraph.h"

/* Adds the tree as samples of one thread. All metrics need a column; the default one determines the
 * shares. */
void fz_graph_make_stacks(struct fz_profile *p, const struct fz_callgraph *graph);
