/* SPDX-License-Identifier: MIT */
/* `fizeau record`, as py-spy and perf spell it: `run` of a program, `attach` to a process id. */
#pragma once

#include "cli/cli.h"

/* argv[0] is "record". Runs one of both; returns the exit status. */
int fz_cli_record_alias(int argc, char **argv);
