/* SPDX-License-Identifier: MIT */
/* Storing counts, possibly on a server: if it is unreachable, the user is warned and work goes on.
 */
#pragma once

#include "bench/baseline.h"
#include "record/notify.h"

/* Warn, once, that the server's counts could not be read. who: the command. */
void fz_counts_warn(const struct fz_baselines *b, const char *who, const struct fz_notify *notify);
/* Like fz_baseline_save, but if a server fails, the counts are stored in the cache with a warning;
 * *ret_place is where they are. If that fails, too, there is a warning but no error. */
int fz_counts_save(const struct fz_baselines *b, enum fz_baseline_place place, const char *commit,
		   struct fz_profile *p, const char *who, const struct fz_notify *notify,
		   enum fz_baseline_place *ret_place, struct fz_error *err);
