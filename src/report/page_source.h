/* SPDX-License-Identifier: MIT */
/* Stored source text of a page: the lines around sampled ones, or whole files. */
#pragma once

#include "page.h"
#include "page_columns.h"

/* Adds the columns "function.source.base"/".head" (index + 1 of the function's file among the
 * page's sources, 0: none) and "chunk.source", "chunk.start", "chunk.text": runs of lines of one
 * source, in order; "source.whole": 1 for sources of which the page has all lines, with
 * `all` not only the costly ones. In a diff also "aligned.*" of functions and "pair.*" of whole
 * files. used lists the functions that appear, in the order of the page's columns. Text comes from
 * the recordings only; no file is opened. */
void fz_page_source_columns(const struct fz_page *page, const uint32_t *used, uint32_t used_n,
			    bool all, struct fz_columns *columns);
