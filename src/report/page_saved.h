/* SPDX-License-Identifier: MIT */
/* Which removed paths are time that was saved, by the same rule as web/saved_time.js.
 *
 * A path without samples in the head does not mean saved time: its function may be called on other
 * paths now. Time was saved where the function certainly costs less, by most of what its removed
 * paths had, or where the head's code has no such function.
 */
#pragma once

#include "report/page.h"

/* Flags of nodes, freed by the caller: those that are gone, or of a judged page those that were
 * saved, with all that they call. */
bool *fz_page_gone(const struct fz_page *page, bool saved_only);
/* What is gone keeps its total, callers have the sum of that below them. Of nodes, freed by the
 * caller; *ret_all: the sum. */
int64_t *fz_page_gone_widths(const struct fz_page *page, const bool *gone, int64_t *ret_all);
