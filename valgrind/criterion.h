/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Benchmarks of criterion; see criterion.c. */
#pragma once

#include "pub_tool_basics.h"

/* Is this a function that criterion may read the clock with? */
Bool fzc_criterion_is_clock(const HChar *name);
/* Call when one of these begins. True if the body starts once it has returned. */
Bool fzc_criterion_enter_clock(void);
void fzc_criterion_begin(void);
/* Call with what the program writes to its standard output. */
void fzc_criterion_output(const HChar *text, UWord n);
/* Call when the program ends. */
void fzc_criterion_end(void);
