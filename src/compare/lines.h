/* SPDX-License-Identifier: MIT */
/* Finds the common lines of two texts, ignoring white space at their ends.
 *
 *   base: a b c d        a b - c d       common lines at both ends, and between them the longest
 *   head: a x c d   ->   a + c d         common subsequence
 *
 * In large ranges it is found between lines that occur once in each text.
 */
#pragma once

#include "compare/diff.h"

/* A line of one text, or of both; from 0, FZ_NONE if absent. */
struct fz_line_pair {
	uint32_t on_side[FZ_SIDES];
};

struct fz_line_list {
	struct fz_str *list; /* slices of the text */
	uint32_t n;
};

void fz_lines_init(struct fz_line_list *l, struct fz_str text);
void fz_lines_release(struct fz_line_list *l);
/* Merges both texts in order, removed lines before their replacements. The caller frees the
 * result. */
struct fz_line_pair *fz_lines_align(const struct fz_line_list sides[FZ_SIDES], uint32_t *ret_n);
