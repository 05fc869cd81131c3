/* SPDX-License-Identifier: MIT */
/* A profile for the Firefox Profiler (profiler.firefox.com): its processed format, version 57. */
#pragma once

#include "base/io.h"
#include "profile/profile.h"

int fz_report_gecko(const struct fz_profile *p, struct fz_output *out, struct fz_error *err);
