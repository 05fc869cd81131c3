/* SPDX-License-Identifier: MIT */
/* Which lines of two texts are the same, but for white space at their ends.
 *
 *   base: a b c d        a b - c d       lines that both begin and end with are the same; between
 *   head: a x c d   ->   a + c d         them the longest common subsequence is, if it is small
 */
#pragma once

#include "compare/diff.h"

/* A line of either text, or of both; from 0, FZ_NONE: not there. */
struct fz_line_pair {
	uint32_t on_side[FZ_SIDES];
};

struct fz_line_list {
	struct fz_str *list; /* they point into the text */
	uint32_t n;
};

void fz_lines_init(struct fz_line_list *l, struct fz_str text);
void fz_lines_release(struct fz_line_list *l);
/* Both texts as one, in order; what was removed stands before what came in its place. The caller
 * frees. */
struct fz_line_pair *fz_lines_align(const struct fz_line_list sides[FZ_SIDES], uint32_t *ret_n);
