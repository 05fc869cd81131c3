/* SPDX-License-Identifier: MIT */
/* Stored source text of a page: only the lines around sampled ones. */
#pragma once

#include "page.h"
#include "page_columns.h"

/* Adds the columns "function.source.base"/".head" (index + 1 of the function's file among the
 * page's sources, 0: none) and "chunk.source", "chunk.start", "chunk.text": runs of lines of one
 * source, in order. used lists the functions that appear, in the order of the page's columns.
 * Text comes from the recordings only; no file is opened. */
void fz_page_source_columns(const struct fz_page *page, const uint32_t *used, uint32_t used_n,
			    struct fz_columns *columns);
