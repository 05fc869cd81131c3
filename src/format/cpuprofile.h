/* SPDX-License-Identifier: MIT */
/* V8's .cpuprofile and .heapprofile. */
#pragma once

#include "base/io.h"
#include "jsonread.h"
#include "profile/profile.h"

int fz_cpuprofile_read(struct fz_input *in, struct fz_profile *p, struct fz_error *err);
int fz_cpuprofile_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err);
/* A frame of V8; *ret_root: it stands for all code and is on no stack. */
uint32_t fz_cpuprofile_frame(struct fz_profile *p, const json_t *call, int64_t line,
			     bool *ret_root);
