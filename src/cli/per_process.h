/* SPDX-License-Identifier: MIT */
/* A file for each process of a recording, where CPython's profiler would have made them: its
 * formats, asked for by its switches. docs/tachyon.md has the names. */
#pragma once

#include "cli/output.h"

/* Of several processes: the program's own file is the one that was asked for, and each other
 * process gets one beside it. A page shows all processes, so the program's own is of all. */
bool fz_cli_per_process_wanted(const struct fz_cli_output *o, const struct fz_profile *p);
int fz_cli_per_process_write(struct fz_cli_output *o, struct fz_profile *p, struct fz_error *err);
