/* SPDX-License-Identifier: MIT */
/* One run of a series under Valgrind, and what is said of all that count. */
#pragma once

#include "record/series.h"

/* Fails when the program could not be started or nothing was counted. */
int fz_series_count(struct fz_series *s, char *const argv[], const struct fz_launch_place *place,
		    struct fz_series_run *ret, struct fz_error *err);
/* Say, once, that another program counts than was wanted, and what the user's environment decides.
 */
void fz_series_say_how(struct fz_series *s, const struct fz_counter *counter);
/* What is known of a counted run without looking into the program. folder: NULL is ours. */
void fz_trial_add_facts(struct fz_profile *p, char *const argv[], const char *folder,
			const struct fz_child *child);
