/* SPDX-License-Identifier: MIT */
/* The call tree split by calling line: a function that is called from two lines becomes two
 * nodes. */
#pragma once

#include "report/page.h"
#include "report/page_columns.h"

/* A node of the page, called from one line of its caller. Callers come first. */
struct fz_page_call {
	uint32_t parent; /* index of a call; FZ_NONE: none */
	uint32_t node;   /* of the page */
	int32_t line;    /* of the head; negative: only in the base; 0: unknown */
	bool wrapped; /* so far only called below a wrapper of the other side, so without a line */
	int64_t self[FZ_SIDES], total[FZ_SIDES];
};

struct fz_page_calls {
	struct fz_page_call *list;
	size_t n, cap;
	bool any; /* at least one line is known */
};

/* The page must already have its nodes and functions. The trees are those of the page's lines. */
void fz_page_calls_add(struct fz_page_calls *calls, const struct fz_page *page,
		       const struct fz_tree *const trees[FZ_SIDES]);
void fz_page_calls_release(struct fz_page_calls *calls);
/* Add the columns; none if no line is known. */
void fz_page_calls_fill(const struct fz_page_calls *calls, const struct fz_page *page,
			struct fz_columns *columns);
