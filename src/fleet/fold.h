/* SPDX-License-Identifier: MIT */
/* Makes profiles of the two sides of a comparison from a store, for the judge. Their runs are the
 * units whose differences show how much costs vary without a change of code (units.h). */
#pragma once

#include "fleet/units.h"

/* Make the profiles of two sides (sides.h). Only the project, times, labels and metric of `q` are
 * used. The base uses the head's metric. */
int fz_fleet_pair(struct fz_fleet *f, const struct fz_fleet_query *q, const char *const texts[2],
		  struct fz_profile *ret[2], struct fz_error *err);
