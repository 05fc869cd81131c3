/* SPDX-License-Identifier: MIT */
/* How many samples of a .bin each row of a profile becomes. */
#pragma once

#include "profile/profile.h"

struct fz_tachyon_plan {
	int64_t interval_ns; /* whole microseconds, at least one */
	uint64_t samples;
	uint32_t *of_row; /* for each row; released by fz_tachyon_plan_release */
	double moved;     /* share of the metric that rounding to whole samples moved */
};

/* FZ_EUNSUPPORTED: the metric is no time, or its samples would be too many. */
int fz_tachyon_plan_init(struct fz_tachyon_plan *plan, const struct fz_profile *p,
			 struct fz_error *err);
void fz_tachyon_plan_release(struct fz_tachyon_plan *plan);
