/* SPDX-License-Identifier: MIT */
/* The options that `bisect` and `history` share. */
#pragma once

#include "cli/record.h"
#include "bench/revision.h"

/* Entries for a command's option table; o is a struct fz_revision_options that outlives it. */
/* clang-format off */
#define FZ_REVISION_OPTION_ENTRIES(o)                                                              \
	{ .kind = FZ_OPT_STRING, .long_name = "setup", .argument = "COMMAND",                      \
	  .value = &(o).setup,                                                                     \
	  .help = "shell command to build or install each commit's tree first" },          \
	{ .kind = FZ_OPT_CHOICE, .long_name = "metric", .argument = "NAME",                        \
	  .value = &(o).metric, .choices = fz_ci_metrics,                                          \
	  .help = "metric to compare: instructions (default), cycles, calls, syscalls, " \
		  "allocations, bytes, peak, live" },                                                          \
	{ .kind = FZ_OPT_STRING, .long_name = "config", .argument = "FILE",                        \
	  .value = &(o).config,                                                                    \
	  .help = "read thresholds and other settings from FILE (default: fizeau.ini at the " \
		  "top of the checkout)" },    \
	{ .kind = FZ_OPT_CALL, .long_name = "timeout", .argument = "SECONDS",                      \
	  .value = &(o).timeout, .call = fz_cli_parse_duration,                                 \
	  .help = "time limit of each run (default 600)" },                                                   \
	{ .kind = FZ_OPT_FLAG, .long_name = "show-output", .value = &(o).show_output,              \
	  .help = "show the command's output, on standard error" }
/* clang-format on */

/* Parse "5%" into a double. */
int fz_cli_parse_threshold(const char *text, const struct fz_opt *opt, struct fz_error *err);
