/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arenas of CPython's at fixed places, with --fixed-random=yes; see arena.c. */
#pragma once

#include "pub_tool_basics.h"

#include "libvex_guest_amd64.h"

/* A system call is about to be made, with what the registers say; */
void fzc_arena_wish(VexGuestAMD64State *state);
/* a mapping was made. */
void fzc_arena_mapped(void);
