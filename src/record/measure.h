/* SPDX-License-Identifier: MIT */
/* One run of a series, sampled (record.h) or counted (counted.h) by its options. */
#pragma once

#include "record/series.h"

/* Record one run. Fails if the program cannot be started or nothing was recorded. */
int fz_series_record(struct fz_series *s, char *const argv[], const struct fz_launch_place *place,
		     struct fz_series_run *ret, struct fz_error *err);

/* Runs of one program, one after the other, as one recording. */
struct fz_runs {
	struct fz_profile *all; /* the complete ones, merged; the caller frees */
	struct fz_child worst;  /* the first that failed, else the last; pid 0: none started */
	bool timed_out;         /* --duration ended one of them */
};

/* Record n runs. An interrupted series keeps its complete runs, or the incomplete first one if
 * there are none. After an error *ret has what was recorded before. */
int fz_runs_record(struct fz_series *s, char *const argv[], int n, struct fz_runs *ret,
		   struct fz_error *err);
