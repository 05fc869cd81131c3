/* SPDX-License-Identifier: MIT */
/* One run of a series, sampled (record.h) or counted under Valgrind by its options, and several as
 * one recording. */
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

/* ---- counted ---- */

/* Count one run. Fails when the program could not be started or nothing was counted. */
int fz_series_count(struct fz_series *s, char *const argv[], const struct fz_launch_place *place,
		    struct fz_series_run *ret, struct fz_error *err);
/* Report, once, that callgrind counts instead of our tool, and which variables of the user's
 * environment affect the counts. */
void fz_series_report_counter(struct fz_series *s, const struct fz_counter *counter);
/* Set the facts of a counted run that need no running process. folder: NULL is ours. */
void fz_trial_add_facts(struct fz_profile *p, char *const argv[], const char *folder,
			const struct fz_child *child);
