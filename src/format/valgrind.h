/* SPDX-License-Identifier: MIT */
/* Places in a program as written by massif and dhat. */
#pragma once

#include "profile/profile.h"

/* Makes the frame of "0x109180: grab (a.c:4)", "0x4C: malloc (in /usr/lib/libc.so)" or "0x4C:
 * ???". */
uint32_t fz_valgrind_frame(struct fz_profile *p, struct fz_str place);
/* Whether a place is in Valgrind's own malloc, which replaces the program's. */
bool fz_valgrind_is_own(struct fz_str place);
