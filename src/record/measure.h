/* SPDX-License-Identifier: MIT */
/* One run of a series, as its options say: sampled (record.h) or counted (counted.h). */
#pragma once

#include "record/series.h"

/* Record one run. Fails when the program could not be started or nothing was recorded. */
int fz_series_record(struct fz_series *s, char *const argv[], const struct fz_launch_place *place,
		     struct fz_series_run *ret, struct fz_error *err);

/* Runs of one program, one after the other, as one recording. */
struct fz_runs {
	struct fz_profile *all; /* the complete ones, merged; the caller frees */
	struct fz_child worst;  /* the first that failed, else the last; not started: pid 0 */
	bool timed_out;         /* one was ended because --duration was over */
};

/* Record n runs. Of an interrupted series the complete runs are kept, and what there is of the
 * first if there are none. What was recorded before an error is in *ret, too. */
int fz_runs_record(struct fz_series *s, char *const argv[], int n, struct fz_runs *ret,
		   struct fz_error *err);
