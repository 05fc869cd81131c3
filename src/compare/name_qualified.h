/* SPDX-License-Identifier: MIT */
/* Names of a pair of which one side or both lack qualified names: CPython before 3.11 and profilers
 * that read code.co_name record plain ones. */
#pragma once

#include "compare/code.h"

/* Replaces plain names by qualified ones. ret_renamed: number of renamed functions. */
void fz_names_qualify(struct fz_code *code, struct fz_name *const names[FZ_SIDES],
		      struct fz_arena *arena, uint32_t ret_renamed[FZ_SIDES]);
