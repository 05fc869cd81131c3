/* SPDX-License-Identifier: MIT */
/* speedscope's JSON: https://www.speedscope.app/file-format-schema.json */
#pragma once

#include "base/io.h"
#include "profile/profile.h"

int fz_speedscope_read(struct fz_input *in, struct fz_profile *p, struct fz_error *err);
int fz_speedscope_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err);
