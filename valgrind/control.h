/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control, as Valgrind calls it; see control.c. */
#pragma once

#include "pub_tool_basics.h"

/* What a harness's functions say: a run begins, */
void fzc_control_start(const HChar *name);
/* is interrupted by what is not to be counted, */
void fzc_control_pause(void);
void fzc_control_resume(void);
/* ends, */
void fzc_control_run(const HChar *name);
/* or came to nothing. */
void fzc_control_drop(void);

Bool fzc_control_request(ThreadId tid, UWord *arguments, UWord *ret);
void fzc_control_before(ThreadId tid, UInt number, UWord *arguments, UInt n);
void fzc_control_after(ThreadId tid, UInt number, UWord *arguments, UInt n, SysRes result);
