/* SPDX-License-Identifier: MIT */
/* The instructions that frames are at. */
#pragma once

#include "walk.h"

/* Of each unit of n bytes of bytecode, how many units before it its instruction begins: 0, or more
 * in an inline cache; FZ_PY_UNIT_UNKNOWN where that cannot be told. */
void fz_py_opcodes_units(unsigned minor, const uint8_t *bytecode, size_t n, uint8_t *ret);
#define FZ_PY_UNIT_UNKNOWN 255

/* Opcodes of n frames into ret[n], as the interpreter runs them now, specialised. FZ_NO_OPCODE for
 * a frame that has not begun, is none, or whose code is gone. */
void fz_py_opcodes_read(struct fz_py_codes *codes, const struct fz_py_raw_frame *frames, uint32_t n,
			uint8_t *ret);
