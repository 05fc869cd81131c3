/* SPDX-License-Identifier: MIT */
/* see heatmap.c for the kinds of pages */
#pragma once

#include "report/heatmap_data.h"
#include "report/page_columns.h"

enum fz_heat_view { FZ_HEAT_ALL, FZ_HEAT_INDEX, FZ_HEAT_FILE };

/* file: index of the file of an FZ_HEAT_FILE page. */
void fz_heat_columns(const struct fz_heat *h, enum fz_heat_view view, uint32_t file, bool no_source,
		     struct fz_columns *columns);
