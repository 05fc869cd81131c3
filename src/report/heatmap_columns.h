/* SPDX-License-Identifier: MIT */
/* The data of a heat map's page; see heatmap.c for the pages there are. */
#pragma once

#include "report/heatmap_data.h"
#include "report/page_columns.h"

enum fz_heat_view { FZ_HEAT_ALL, FZ_HEAT_INDEX, FZ_HEAT_FILE };

/* file: of FZ_HEAT_FILE. */
void fz_heat_columns(const struct fz_heat *h, enum fz_heat_view view, uint32_t file, bool no_source,
		     struct fz_columns *columns);
