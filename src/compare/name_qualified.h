/* SPDX-License-Identifier: MIT */
/* Names of a pair of which one side does not record qualified names: CPython before 3.11, and
 * profilers that read code.co_name. */
#pragma once

#include "compare/code.h"

/* Give functions of the side with plain names those of the other. *ret_renamed: of how many
 * functions names changed. */
void fz_names_qualify(struct fz_code *code, struct fz_name *const names[FZ_SIDES],
		      struct fz_arena *arena, uint32_t ret_renamed[FZ_SIDES]);
