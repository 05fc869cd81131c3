/* SPDX-License-Identifier: MIT */
/* The two script elements that carry a page's data: the header (JSON) and the columns. */
#pragma once

#include "report/html_options.h"
#include "page.h"
#include "page_columns.h"

enum { FZ_PAGE_VERSION = 2 }; /* of the layout; a viewer rejects others */

/* Fill the columns with nodes, functions, cells, lines and sources. */
void fz_page_fill_columns(const struct fz_page *page, const struct fz_html_options *o,
			  struct fz_columns *columns);
/* Write all small data: recording facts, quality, threads, scale, and the directory. */
void fz_page_write_header(const struct fz_page *page, const struct fz_html_options *o,
			  const struct fz_columns *columns, struct fz_output *out);
