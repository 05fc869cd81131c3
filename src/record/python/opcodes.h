/* SPDX-License-Identifier: MIT */
/* Reading the instructions that frames are at. */
#pragma once

#include "walk.h"

/* Read the opcodes of n frames into ret[n], in their current, specialised form. FZ_NO_OPCODE for a
 * frame that has not begun, is no Python frame, or whose code is gone. */
void fz_py_opcodes_read(struct fz_py_codes *codes, const struct fz_py_raw_frame *frames, uint32_t n,
			uint8_t *ret);
