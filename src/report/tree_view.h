/* SPDX-License-Identifier: MIT */
/* The visible rows of a folded call tree, their order and verdicts.
 *
 * A profile shows rows above a minimum cost, a diff the paths to significant changes. Hidden rows
 * below a visible row become one row (FZ_CALL_REST), if they cost enough.
 */
#pragma once

#include "report/call_tree.h"
#include "report/text.h"

enum fz_tree_word {
	FZ_TREE_WORD_NONE, /* the row stands for several paths, or nothing is judged */
	FZ_TREE_WORD_SLOWER,
	FZ_TREE_WORD_FASTER,
	FZ_TREE_WORD_SAME,
	FZ_TREE_WORD_UNSURE,
	FZ_TREE_WORD_NEW,
	FZ_TREE_WORD_GONE,
	FZ_TREE_WORD_SLOWER_IN_SUM, /* certain only together with the function's other paths */
	FZ_TREE_WORD_FASTER_IN_SUM
};

struct fz_tree_view {
	const struct fz_text_options *o; /* borrowed */
	const struct fz_diff *d;         /* borrowed; NULL: one profile */
	const struct fz_judgement *j;
	bool inverted;
	const char *unit;
	double whole; /* base of shares; in a diff the larger side */
	struct fz_arena arena;
	struct fz_call_function *functions;
	struct fz_call_tree tree;
	char **group_labels; /* of GROUP rows, by their `function` */
	uint32_t groups;
	double *weight; /* by row: decides whether it is shown, and its order */
	bool *shown;
	uint32_t *first, *next; /* lists of shown rows: first[0] is the first root, first[row + 1]
				 * the first row below a row */
};

/* t: the tree of the profile's default metric, not inverted. */
void fz_tree_view_of_profile(struct fz_tree_view *ret, const struct fz_tree *t, bool inverted,
			     const struct fz_text_options *o);
void fz_tree_view_of_diff(struct fz_tree_view *ret, const struct fz_diff *d,
			  const struct fz_judgement *j, const struct fz_text_options *o);
void fz_tree_view_release(struct fz_tree_view *v);

/* For a diff, like the functions below: head - expected. */
double fz_tree_view_delta(const struct fz_tree_view *v, const int64_t cost[FZ_SIDES]);
enum fz_tree_word fz_tree_view_word(const struct fz_tree_view *v, const struct fz_call *c);
/* Did a row's own cost certainly change? */
bool fz_tree_view_changed_itself(const struct fz_tree_view *v, const struct fz_call *c);
