/* SPDX-License-Identifier: MIT */
/* From an instruction to its source position: the three encodings that CPython has used. */
#pragma once

#include "layouts.h"

struct fz_py_position {
	int32_t line, end_line;     /* -1: none */
	int32_t column, end_column; /* bytes from 0; -1: none */
};

/* Position of the instruction at byte `offset` of the bytecode. False if the table does not cover
 * it or is damaged; for an instruction without a line true, and line -1. */
bool fz_py_line_lookup(enum fz_py_lines kind, const uint8_t *table, size_t n, int32_t first_line,
		       uint32_t offset, struct fz_py_position *ret);
