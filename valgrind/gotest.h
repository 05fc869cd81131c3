/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Benchmarks of Go's package testing; see gotest.c. */
#pragma once

#include "pub_tool_basics.h"

/* What methods of testing.B say: a run of the benchmark begins, its clock is started, stopped, set
 * to zero. */
enum { FZC_GOTEST_RUN, FZC_GOTEST_START, FZC_GOTEST_STOP, FZC_GOTEST_RESET };
/* arguments: of the method, the B being the first. */
void fzc_gotest_obey(UChar hook, const UWord *arguments);

/* How far into a B the word N is; 0: it is not known, and nothing reads it that matters. */
UWord fzc_gotest_offset(void);
/* A load from this address is what is waited for; 0: none. */
extern Addr fzc_gotest_watched;
VG_REGPARM(0) void fzc_on_look(void);

/* The program writes to its standard output. */
void fzc_gotest_said(const HChar *text, UWord n);
