/* SPDX-License-Identifier: MIT */
/* A profile as slices of tracks, for Perfetto's viewer. */
#pragma once

#include "base/io.h"
#include "profile/profile.h"

/* FZ_EUNSUPPORTED when the default metric is no time. */
int fz_perfetto_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err);
