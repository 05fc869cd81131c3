/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPython's arenas at fixed addresses, with --fixed-random=yes; see arena.c. */
#pragma once

#include "pub_tool_basics.h"

#include "libvex_guest_amd64.h"

/* Call before each system call, with the registers: adds the hint to an arena's mmap. */
void fzc_arena_wish(VexGuestAMD64State *state);
/* Call after each mmap: removes the hint again. */
void fzc_arena_mapped(void);
