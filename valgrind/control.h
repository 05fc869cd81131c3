/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control, as called by Valgrind and the harnesses; see control.c. */
#pragma once

#include "pub_tool_basics.h"

/* A harness's run of a benchmark begins. */
void fzc_control_start(const HChar *name);
/* Code between the two is not counted. */
void fzc_control_pause(void);
void fzc_control_resume(void);
/* The run ends and is written. */
void fzc_control_run(const HChar *name);
/* The run ends and is dropped. */
void fzc_control_drop(void);

Bool fzc_control_request(ThreadId tid, UWord *arguments, UWord *ret);
void fzc_control_before(ThreadId tid, UInt number, UWord *arguments, UInt n);
void fzc_control_after(ThreadId tid, UInt number, UWord *arguments, UInt n, SysRes result);
