/* SPDX-License-Identifier: MIT */
/* One profile from several: runs of one command, or recordings of its processes. */
#pragma once

#include "profile/profile.h"

/* Append all samples of `from` to `into`, each run of `from` as a new run. Both must have the
 * same metrics (name and unit); a weight that is the same for all samples becomes a column where
 * the two differ in it. Facts that disagree are removed, sampling quality is added up, features
 * and modes that differ become unknown. An empty `into` takes everything over. `into` is
 * unchanged when they do not fit. */
int fz_profile_merge(struct fz_profile *into, const struct fz_profile *from, struct fz_error *err);
