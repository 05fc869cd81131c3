/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Benchmarks of criterion; see criterion.c. */
#pragma once

#include "pub_tool_basics.h"

/* Functions that it may ask for the time. */
Bool fzc_criterion_is_clock(const HChar *name);
/* One of these begins. Does the body come once it has returned? */
Bool fzc_criterion_look(void);
void fzc_criterion_begin(void);
/* The program writes to its standard output. */
void fzc_criterion_said(const HChar *text, UWord n);
/* It ends. */
void fzc_criterion_end(void);
