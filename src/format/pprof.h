/* SPDX-License-Identifier: MIT */
/* pprof's profile.proto, packed by gzip when written. */
#pragma once

#include "base/io.h"
#include "profile/profile.h"

int fz_pprof_read(struct fz_input *in, struct fz_profile *p, struct fz_error *err);
int fz_pprof_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err);
