/* SPDX-License-Identifier: MIT */
/* What a store has of two sides, as profiles that the judge takes like any others: their runs
 * are the units whose differences tell how much costs vary without a change of code (units.h).
 */
#pragma once

#include "fleet/units.h"

/* `names` are what the profiles are called in their facts: "api@v2". */
int fz_fleet_fold(struct fz_fleet *f, const struct fz_fleet_found *const found[2],
		  const char *const names[2], struct fz_profile *ret[2], struct fz_error *err);

/* Two sides (sides.h) of a project: `texts` and the time and labels of `q`, whose other members are
 * not looked at. What the head's metric is, the base's must be. */
int fz_fleet_pair(struct fz_fleet *f, const struct fz_fleet_query *q, const char *const texts[2],
		  struct fz_profile *ret[2], struct fz_error *err);
