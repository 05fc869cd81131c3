/* SPDX-License-Identifier: MIT */
/* The benchmarks of a compared pair in a page's header. */
#pragma once

#include "base/json.h"
#include "html.h"
#include "page.h"

/* The key "bounds" in the object that is open: of each benchmark of a counted diff how far it and
 * what it calls may move without having changed; with a gate (NULL: none) "gate" besides. */
void fz_page_write_benchmarks(const struct fz_page *page, const struct fz_html_gate *gate,
			      struct fz_json *j);
