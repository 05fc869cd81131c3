/* SPDX-License-Identifier: MIT */
/* An order of nodes that depends on nothing but what they are. */
#pragma once

#include "fleet/fleet.h"

/* Sorts nodes by what their functions are, in whatever store and by whatever numbers. */
int fz_fleet_sort_nodes(struct fz_fleet *f, int64_t *nodes, uint32_t n, struct fz_error *err);
