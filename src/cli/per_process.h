/* SPDX-License-Identifier: MIT */
/* One file per process of a recording, as CPython's profiler writes them, for its formats and
 * switches. docs/tachyon.md has the names. */
#pragma once

#include "cli/output.h"

/* With several processes, the program's file is the requested one, and each other process gets one
 * beside it. Pages show all processes, so the program's page covers all. */
bool fz_cli_per_process_wanted(const struct fz_cli_output *o, const struct fz_profile *p);
int fz_cli_per_process_write(struct fz_cli_output *o, struct fz_profile *p, struct fz_error *err);
