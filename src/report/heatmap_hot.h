/* SPDX-License-Identifier: MIT */
/* The opening list of a heat map: the hottest lines, or the largest changes. */
#pragma once

#include "report/heatmap_data.h"
#include "report/page_columns.h"

/* Add columns "hot.*" with at most ten entries, the largest first. For a profile these are lines by
 * self cost, with their text; for a diff functions by change of self cost, if judged only those
 * that certainly changed. */
void fz_heat_hot_columns(const struct fz_heat *h, bool no_source, struct fz_columns *columns);
