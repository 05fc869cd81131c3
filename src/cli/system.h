/* SPDX-License-Identifier: MIT */
/* Targets other than one process: --system (the whole machine), --pagefaults (memory growth). */
#pragma once

#include "cli/record.h"

/* clang-format off */
#define FZ_CLI_SYSTEM_ENTRY(o)                                                                     \
	{ .kind = FZ_OPT_FLAG, .common = true, .long_name = "system", .value = &(o).how.machine,                   \
	  .help = "sample the CPU time of all processes on this machine, with Python, native " \
		  "and kernel frames (default rate: 99 per second on each CPU; needs root)" }
/* clang-format on */

/* Call before and after options are parsed: set the defaults of these options, and fail if others
 * contradict them. */
void fz_cli_system_begin(struct fz_cli_record *o);
int fz_cli_system_settle(struct fz_cli_record *o, struct fz_error *err);
