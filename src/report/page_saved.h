/* SPDX-License-Identifier: MIT */
/* Finds the removed paths that saved time, by the same rule as web/saved_time.js.
 *
 * A path without samples in the head does not prove that time was saved, because its function may
 * now be called on other paths. Time was saved if the function certainly costs less, by at least
 * half of the cost of its removed paths, or if the head's code has no such function.
 */
#pragma once

#include "report/page.h"

/* Flags by node, freed by the caller: removed paths, or in a judged page with saved_only those that
 * saved time, with all their callees. */
bool *fz_page_gone(const struct fz_page *page, bool saved_only);
/* Widths by node, freed by the caller: removed nodes have their total, their callers the sum of
 * those. *ret_all: the sum of all. */
int64_t *fz_page_gone_widths(const struct fz_page *page, const bool *gone, int64_t *ret_all);
