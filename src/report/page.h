/* SPDX-License-Identifier: MIT */
/* The data of a page or picture, in one form for profiles and diffs.
 *
 *   fz_profile -> fz_tree \
 *                          > fz_page {functions, nodes, cells, threads} -> HTML, SVG
 *   fz_diff ------------- /
 *
 * Nodes are columns in preorder: a subtree is [i, i + size[i]). A page of one profile is the head
 * side of a diff without a base: is_diff is false, and all columns of the base are NULL.
 */
#pragma once

#include "base/arena.h"
#include "compare/judge.h"
#include "profile/tree.h"

struct fz_page_function {
	struct fz_str name, file;
	int32_t line;     /* 0 when unknown */
	uint8_t kind;     /* enum fz_kind */
	uint8_t presence; /* enum fz_presence */
	uint8_t origin;   /* the head's if it is on both sides */
	uint32_t on_side[FZ_SIDES];
	uint32_t judged; /* number in the diff; FZ_NONE: folded frames */
	struct fz_diff_cost cost;
};

struct fz_page_thread {
	uint32_t on_side[FZ_SIDES];
	char *label;
	char *process; /* label of its process; NULL if there is only one */
};

/* Weight of a line of a function in the whole tree, counting each sample once; sorted by (function,
 * line). */
struct fz_page_line {
	uint32_t function;
	int32_t line;
	int64_t self[FZ_SIDES], total[FZ_SIDES];
};

struct fz_page {
	bool is_diff;
	const struct fz_profile *profile[FZ_SIDES]; /* borrowed */
	const char *metric, *unit;
	int64_t sum[FZ_SIDES]; /* weight of all samples with a stack */
	uint64_t samples[FZ_SIDES];
	const struct fz_diff *diff;           /* borrowed; NULL when not a diff */
	const struct fz_judgement *judgement; /* borrowed; NULL when not judged */
	double factor;                        /* multiplies base values before they are compared */

	struct fz_page_function *functions;
	uint32_t function_count;
	struct fz_page_thread *threads;
	uint32_t thread_count;

	uint32_t n;
	uint32_t *function, *parent, *size;
	uint32_t *origin; /* the diff's node, FZ_NONE: several; NULL: the same number */
	struct fz_arena texts;
	int64_t *self[FZ_SIDES], *total[FZ_SIDES];
	struct fz_diff_cell *cells; /* none if there is only one thread */
	size_t cell_count;
	/* Neither for pictures nor for inverted trees. */
	struct fz_page_line *lines;
	size_t line_count;
	struct fz_page_opcodes *opcodes;
	struct fz_page_calls *calls;
	struct fz_page_time *time; /* also NULL without times */
};

/* Title of a kind of page: "Differential flame graph". */
const char *fz_page_kind(const struct fz_page *page, bool inverted);

/* Name of the function that all stacks begin with, if the user selected it (--root); else "". */
struct fz_str fz_page_root(const struct fz_page *page);

/* The diff's node of a page's node; FZ_NONE if several were folded into it. */
static inline uint32_t fz_page_origin(const struct fz_page *page, uint32_t node)
{
	return page->origin ? page->origin[node] : node;
}

/* Function indices by descending self (total on a tie), for a diff by descending |difference|;
 * freed by the caller. */
uint32_t *fz_page_rank_functions(const struct fz_page *page);
