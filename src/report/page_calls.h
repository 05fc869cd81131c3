/* SPDX-License-Identifier: MIT */
/* The call tree once more, with the line of each call: a function that is called from two lines is
 * two nodes. */
#pragma once

#include "report/page.h"
#include "report/page_columns.h"

/* A node: of the page's node, called from a line of its caller. Callers come first. */
struct fz_page_call {
	uint32_t parent; /* of these; FZ_NONE: none */
	uint32_t node;   /* of the page */
	int32_t line;    /* of the head; negative: of the base alone; 0: not known */
	bool wrapped; /* only called below a wrapper of the other side so far, so without a line */
	int64_t self[FZ_SIDES], total[FZ_SIDES];
};

struct fz_page_calls {
	struct fz_page_call *list;
	size_t n, cap;
	bool any; /* a line is known */
};

/* The page must have its nodes and functions. Trees as they are for its lines. */
void fz_page_calls_take(struct fz_page_calls *calls, const struct fz_page *page,
			const struct fz_tree *const trees[FZ_SIDES]);
void fz_page_calls_release(struct fz_page_calls *calls);
/* Nothing where no line is known. */
void fz_page_calls_fill(const struct fz_page_calls *calls, const struct fz_page *page,
			struct fz_columns *columns);
