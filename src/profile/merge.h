/* SPDX-License-Identifier: MIT */
/* Merges profiles: runs of one command, or recordings of its processes. */
#pragma once

#include "profile/profile.h"

/* Appends all samples of `from` to `into`, each run of `from` as a new run. Both must have the same
 * metrics (name and unit), else this fails and `into` is unchanged; different constant weights
 * become a column. Facts that differ are removed, sampling quality is added up, features and modes
 * that differ become unknown. An empty `into` becomes a copy of `from`. */
int fz_profile_merge(struct fz_profile *into, const struct fz_profile *from, struct fz_error *err);
