/* SPDX-License-Identifier: MIT */
/* The number of samples of a .bin for each row of a profile. */
#pragma once

#include "profile/profile.h"

struct fz_tachyon_plan {
	int64_t interval_ns; /* whole microseconds, at least one */
	uint64_t samples;
	uint32_t *of_row; /* for each row; released by fz_tachyon_plan_release */
	double moved;     /* share of the metric moved by rounding to whole samples */
};

/* FZ_EUNSUPPORTED if the metric is not a time, or needs too many samples. */
int fz_tachyon_plan_init(struct fz_tachyon_plan *plan, const struct fz_profile *p,
			 struct fz_error *err);
void fz_tachyon_plan_release(struct fz_tachyon_plan *plan);
