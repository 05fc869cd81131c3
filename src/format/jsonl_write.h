/* SPDX-License-Identifier: MIT */
/* CPython's line-delimited JSON: what each position in the code cost, one record a line. */
#pragma once

#include "base/io.h"
#include "profile/profile.h"

int fz_jsonl_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err);
