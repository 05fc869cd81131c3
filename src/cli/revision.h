/* SPDX-License-Identifier: MIT */
/* The options that `bisect` and `history` share. */
#pragma once

#include "cli/record.h"
#include "bench/revision.h"

/* Entries for a command's option table; o is a struct fz_revision_options that outlives it. */
#define FZ_REVISION_OPTION_ENTRIES(o)                                                              \
	FZ_OPT(STRING, "setup", "COMMAND", &(o).setup,                                             \
	       "shell command to build or install each commit's tree first"),                      \
		FZ_OPT(CHOICE, "metric", "NAME", &(o).metric,                                      \
		       "metric to compare: instructions (default), cycles, calls, syscalls, "      \
		       "allocations, bytes, peak, live",                                           \
		       .choices = fz_ci_metrics),                                                  \
		FZ_OPT(STRING, "config", "FILE", &(o).config,                                      \
		       "read thresholds and other settings from FILE (default: fizeau.ini at the " \
		       "top of the checkout)"),                                                    \
		FZ_OPT(CALL, "timeout", "SECONDS", &(o).timeout,                                   \
		       "time limit of each run (default 600)", .call = fz_cli_parse_duration),     \
		FZ_OPT(FLAG, "show-output", NULL, &(o).show_output,                                \
		       "show the command's output, on standard error")

/* Parse "5%" into a double. */
int fz_cli_parse_threshold(const char *text, const struct fz_opt *opt, struct fz_error *err);
