/* SPDX-License-Identifier: MIT */
/* One run of a series under Valgrind, and notices and facts for every counted run. */
#pragma once

#include "record/series.h"

/* Fails when the program could not be started or nothing was counted. */
int fz_series_count(struct fz_series *s, char *const argv[], const struct fz_launch_place *place,
		    struct fz_series_run *ret, struct fz_error *err);
/* Report, once, that callgrind counts instead of our tool, and which variables of the user's
 * environment affect the counts. */
void fz_series_report_counter(struct fz_series *s, const struct fz_counter *counter);
/* Set the facts of a counted run that need no running process. folder: NULL is ours. */
void fz_trial_add_facts(struct fz_profile *p, char *const argv[], const char *folder,
			const struct fz_child *child);
