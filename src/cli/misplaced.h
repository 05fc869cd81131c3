/* SPDX-License-Identifier: MIT */
/* Detect options of Fizeau after the script's name, where they belong to the script. */
#pragma once

#include "base/opt.h"

/* One line about the first of them, once the program has ended, where it was probably meant for us:
 * an option that only a profiler has, the script does not mention it, and either it failed or it
 * looks at no arguments. words[0] is what was run, `status` what it ended with. */
void fz_cli_hint_misplaced(const struct fz_opt *table, char *const words[], int n, int status);
