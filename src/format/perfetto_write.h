/* SPDX-License-Identifier: MIT */
/* Writes a profile as slices of tracks, for Perfetto's viewer. */
#pragma once

#include "base/io.h"
#include "profile/profile.h"

/* FZ_EUNSUPPORTED if the default metric is not a time. */
int fz_perfetto_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err);
