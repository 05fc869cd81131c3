/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Benchmarks of Go's package testing; see gotest.c. */
#pragma once

#include "pub_tool_basics.h"

/* Methods of testing.B: a run begins, its clock is started, stopped, set to zero. */
enum { FZC_GOTEST_RUN, FZC_GOTEST_START, FZC_GOTEST_STOP, FZC_GOTEST_RESET };
/* Call when a method is called. arguments: the method's, starting with the B. */
void fzc_gotest_obey(UChar hook, const UWord *arguments);

/* Offset of the word N in a B; 0 while unknown: then no load needs watching. */
UWord fzc_gotest_offset(void);
/* The next load from this address begins the body; 0: none does. */
extern Addr fzc_gotest_watched;
VG_REGPARM(0) void fzc_gotest_on_load(void);

/* Call with what the program writes to its standard output. */
void fzc_gotest_output(const HChar *text, UWord n);
