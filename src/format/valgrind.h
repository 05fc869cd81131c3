/* SPDX-License-Identifier: MIT */
/* How Valgrind's tools write a place in a program, which massif and dhat share. */
#pragma once

#include "profile/profile.h"

/* The frame of "0x109180: grab (a.c:4)", "0x4C: malloc (in /usr/lib/libc.so)" or "0x4C: ???". */
uint32_t fz_valgrind_frame(struct fz_profile *p, struct fz_str place);
/* Whether it is in a library that Valgrind puts before the program's own: its malloc. */
bool fz_valgrind_is_own(struct fz_str place);
