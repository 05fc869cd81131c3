/* SPDX-License-Identifier: MIT */
/* An order of nodes that depends only on their functions. */
#pragma once

#include "fleet/fleet.h"

/* Sort nodes by their functions: the same order in every store. */
int fz_fleet_sort_nodes(struct fz_fleet *f, int64_t *nodes, uint32_t n, struct fz_error *err);
