/* SPDX-License-Identifier: MIT */
/* Writes CPython's line-delimited JSON: the cost of each position in the code. */
#pragma once

#include "base/io.h"
#include "profile/profile.h"

int fz_jsonl_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err);
