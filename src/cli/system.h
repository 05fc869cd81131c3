/* SPDX-License-Identifier: MIT */
/* Targets other than one process: --system (the whole machine), --pagefaults (memory growth). */
#pragma once

#include "cli/record.h"

#define FZ_CLI_SYSTEM_ENTRY(o)                                                                  \
	FZ_OPT(FLAG, "system", NULL, &(o).how.machine,                                          \
	       "sample the CPU time of all processes on this machine, with Python, native and " \
	       "kernel frames (default rate: 99 per second on each CPU; needs root)",           \
	       .common = true)

/* Call before and after options are parsed: set the defaults of these options, and fail if others
 * contradict them. */
void fz_cli_system_begin(struct fz_cli_record *o);
int fz_cli_system_settle(struct fz_cli_record *o, struct fz_error *err);
