/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Benchmarks of divan and bencher; see rustbench.c. */
#pragma once

#include "pub_tool_basics.h"

/* A function that may be asked for the time begins. Does the body come once it has returned? */
Bool fzc_rustbench_look(void);
/* It has returned. Was it before a body? */
Bool fzc_rustbench_begin(void);
/* The program writes to its standard output. */
void fzc_rustbench_said(const HChar *text, UWord n);
/* A callgrind request: is it one that a harness known here makes besides? */
Bool fzc_rustbench_marks(void);
/* It ends. */
void fzc_rustbench_end(void);
