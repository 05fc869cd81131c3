/* SPDX-License-Identifier: MIT */
/* The benchmarks of a compared pair in a page's header. */
#pragma once

#include "base/json.h"
#include "report/html_options.h"
#include "page.h"

/* Write member "bounds" of the open object: for each benchmark of a counted diff, how far it and
 * its callees may vary without a change; with a gate (NULL: none) also member "gate". */
void fz_page_write_benchmarks(const struct fz_page *page, const struct fz_html_gate *gate,
			      struct fz_json *j);
