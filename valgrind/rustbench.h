/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Benchmarks of divan and bencher; see rustbench.c. */
#pragma once

#include "pub_tool_basics.h"

/* Call when a clock function begins. True if the body starts once it has returned. */
Bool fzc_rustbench_enter_clock(void);
/* Call when it has returned. True if the body starts here. */
Bool fzc_rustbench_begin(void);
/* Call with what the program writes to its standard output. */
void fzc_rustbench_output(const HChar *text, UWord n);
/* Does the current callgrind request come from a known harness? Then it is to be ignored. */
Bool fzc_rustbench_marks(void);
/* Call when the program ends. */
void fzc_rustbench_end(void);
