/* SPDX-License-Identifier: MIT */
/* `fizeau record`, as in py-spy and perf: `run` a program, or `attach` to a process id. */
#pragma once

#include "cli/cli.h"

/* argv[0] is "record". Runs one of them; returns the exit status. */
int fz_cli_record_alias(int argc, char **argv);
