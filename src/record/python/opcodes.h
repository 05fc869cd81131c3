/* SPDX-License-Identifier: MIT */
/* Reading the instructions that frames are at. */
#pragma once

#include "walk.h"

/* For each unit of n bytes of bytecode, how many units before it its instruction begins: 0, or more
 * in an inline cache; FZ_PY_UNIT_UNKNOWN if unknown. */
void fz_py_opcodes_units(unsigned minor, const uint8_t *bytecode, size_t n, uint8_t *ret);
#define FZ_PY_UNIT_UNKNOWN 255

/* Read the opcodes of n frames into ret[n], in their current, specialised form. FZ_NO_OPCODE for a
 * frame that has not begun, is no Python frame, or whose code is gone. */
void fz_py_opcodes_read(struct fz_py_codes *codes, const struct fz_py_raw_frame *frames, uint32_t n,
			uint8_t *ret);
