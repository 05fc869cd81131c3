/* SPDX-License-Identifier: MIT */
/* The opening list of a heat map: the hottest lines, or the largest changes. */
#pragma once

#include "report/heatmap_data.h"
#include "report/page_columns.h"

/* Columns "hot.*" of at most ten entries, the largest first. Of one profile lines, by their own
 * cost, with their text; of a diff functions, by the change of their own cost: where it was judged
 * only those that certainly changed. */
void fz_heat_hot_columns(const struct fz_heat *h, bool no_source, struct fz_columns *columns);
