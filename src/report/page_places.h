/* SPDX-License-Identifier: MIT */
/* Costs that lines by function do not contain: of shared lines, and of parts of lines. */
#pragma once

#include "page.h"
#include "page_columns.h"

/* Adds the columns "shared.*" (side, function, line, total): lines with costs of several functions,
 * of which a sample counts once; "function" is one of those. And "span.*" (function, line, from,
 * to, self, total): parts of the head's lines, from and to in bytes. used as in
 * fz_page_source_columns. Nothing for a page without lines. */
void fz_page_places_columns(const struct fz_page *page, const uint32_t *used, uint32_t used_n,
			    struct fz_columns *columns);
