/* SPDX-License-Identifier: MIT */
/* Writes a profile as a file for Python's pstats module. */
#pragma once

#include "base/io.h"
#include "profile/profile.h"

/* Entries are functions, or with per_line lines of functions. */
int fz_pstats_write(const struct fz_profile *p, bool per_line, struct fz_output *out,
		    struct fz_error *err);
