/* SPDX-License-Identifier: MIT */
/* One run of a series, as its options say: sampled (record.h) or counted (counted.h). */
#pragma once

#include "record/series.h"

/* Record one run. Fails when the program could not be started or nothing was recorded. */
int fz_series_record(struct fz_series *s, char *const argv[], const struct fz_launch_place *place,
		     struct fz_series_run *ret, struct fz_error *err);
