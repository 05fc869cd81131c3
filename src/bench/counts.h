/* SPDX-License-Identifier: MIT */
/* Keeping counts where a server may be the place: one that is away is told of, and stops nobody. */
#pragma once

#include "bench/baseline.h"
#include "record/notify.h"

/* Say, once, that a server's counts were not to be had. `who` is the command. */
void fz_counts_tell(const struct fz_baselines *b, const char *who, const struct fz_notify *notify);
/* As fz_baseline_save. What a server does not take is said and kept in the cache; ret_place is
 * where it is. That neither takes it is said, and no error. */
int fz_counts_save(const struct fz_baselines *b, enum fz_baseline_place place, const char *commit,
		   struct fz_profile *p, const char *who, const struct fz_notify *notify,
		   enum fz_baseline_place *ret_place, struct fz_error *err);
