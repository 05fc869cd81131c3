/* SPDX-License-Identifier: MIT */
/* Aligned texts as columns of a page: runs of equal lines, then of lines that only the base has,
 * then of those that only the head has. */
#pragma once

#include "compare/lines.h"
#include "report/page_columns.h"

enum { FZ_LINE_RUN_KINDS = 3 };

struct fz_line_runs {
	int64_t *length[FZ_LINE_RUN_KINDS];
	size_t n, cap;
};

/* Align two texts and append their runs; returns how many. */
size_t fz_line_runs_add(struct fz_line_runs *r, const struct fz_line_list texts[FZ_SIDES]);
/* Add the columns "align.same", "align.gone" and "align.added". */
void fz_line_runs_columns(const struct fz_line_runs *r, struct fz_columns *columns);
void fz_line_runs_release(struct fz_line_runs *r);
