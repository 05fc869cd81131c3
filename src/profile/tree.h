/* SPDX-License-Identifier: MIT */
/* The call tree of a profile with costs.
 *
 * A node is a path of functions; lines never split it (see struct fz_tree_line). Nodes are in
 * preorder, so a subtree is the range [i, i + size[i]). Siblings are ordered by descending total,
 * then by name and file, so the tree does not depend on the order of samples.
 */
#pragma once

#include "profile/profile.h"

/* Which samples count. All zero: every sample, default metric. */
struct fz_tree_options {
	uint32_t metric;     /* index or FZ_METRIC_SAMPLES; FZ_NONE: the default */
	bool inverted;       /* callers: leaf functions are the roots */
	const bool *threads; /* thread_count flags, or NULL for all */
	uint32_t run;        /* FZ_NONE: all */
	bool cells;          /* also produce per-thread cells */
	bool lines;          /* also produce line weights */
};

#define FZ_TREE_DEFAULTS ((struct fz_tree_options){ .metric = FZ_NONE, .run = FZ_NONE })

/* Self weight of one node in one thread; sorted by (node, thread), without zero weights. */
struct fz_tree_cell {
	uint32_t node, thread;
	int64_t self;
};

/* Weight of a line of a node's function while on this path; sorted by (node, line). `once` is the
 * total without samples that already count for a caller on the same line of the same function, so
 * its sum over all nodes counts each sample once, however deep the recursion. */
struct fz_tree_line {
	uint32_t node;
	int32_t line;
	int64_t self, total, once;
};

struct fz_tree {
	const struct fz_profile *profile; /* borrowed: must outlive the tree */
	uint32_t metric;
	uint32_t n;
	uint32_t *function; /* profile function of the node */
	uint32_t *parent;   /* FZ_NONE for a root */
	uint32_t *size;     /* nodes in the subtree, itself included */
	int64_t *self, *total;
	uint32_t *stack_node; /* node where a stack of the profile ends; FZ_NONE if not counted */
	/* Counted samples with a stack: their weight, which is the sum of self, and their
	 * number. */
	int64_t sum;
	uint64_t samples;
	/* Likewise without a stack, which reports cannot attribute. */
	int64_t stackless_sum;
	uint64_t stackless;
	bool whole; /* no sample was excluded by thread or run */
	struct fz_tree_cell *cells;
	size_t cell_count;
	struct fz_tree_line *lines;
	size_t line_count;
};

struct fz_tree *fz_tree_new(const struct fz_profile *p, const struct fz_tree_options *options);
void fz_tree_free(struct fz_tree *t);
void fz_tree_freep(struct fz_tree **t);

/* Costs of functions over the whole tree. A total counts a sample once despite recursion; recorded
 * totals are used if the tree is of the whole profile. Arrays of function_count entries, freed by
 * the caller. */
void fz_tree_function_costs(const struct fz_tree *t, int64_t **ret_self, int64_t **ret_total);
/* The line with most of each function's weight (self, else total), 0 if lines are unknown or the
 * tree was built without them. Array of function_count entries, freed by the caller. */
int32_t *fz_tree_function_lines(const struct fz_tree *t);

/* The line that represents each function: its first line if known, else the line with most of its
 * weight (self, else total), 0 if lines are unknown. One pass over the samples, no tree needed.
 * Array of function_count entries, freed by the caller. */
int32_t *fz_profile_function_lines(const struct fz_profile *p, uint32_t metric);
