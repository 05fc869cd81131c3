/* SPDX-License-Identifier: MIT */
/* Names of a pair with qualified names on one side only: not in CPython before 3.11, nor in
 * profilers that read code.co_name. */
#pragma once

#include "compare/code.h"

/* Gives functions of the side with plain names the qualified ones. ret_renamed: number of renamed
 * functions. */
void fz_names_qualify(struct fz_code *code, struct fz_name *const names[FZ_SIDES],
		      struct fz_arena *arena, uint32_t ret_renamed[FZ_SIDES]);
