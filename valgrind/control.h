/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control, as Valgrind calls it; see control.c. */
#pragma once

#include "pub_tool_basics.h"

Bool fzc_control_request(ThreadId tid, UWord *arguments, UWord *ret);
void fzc_control_before(ThreadId tid, UInt number, UWord *arguments, UInt n);
void fzc_control_after(ThreadId tid, UInt number, UWord *arguments, UInt n, SysRes result);
