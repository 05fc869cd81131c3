/* SPDX-License-Identifier: MIT */
/* Formats plain values like Python's repr, from their representation in an interpreter. */
#pragma once

#include "base/buf.h"

/* digits: of 30 bits, least significant first, as in an int object. Writes at most `most` decimal
 * digits, then "..."; returns their full number. */
enum { FZ_PY_INT_DIGIT_BITS = 30, FZ_PY_INT_DIGITS_MAX = 1024 };
size_t fz_py_repr_int(const uint32_t *digits, size_t n, bool negative, size_t most,
		      struct fz_buf *out);
void fz_py_repr_float(double v, struct fz_buf *out);
/* Write `n` characters of `kind` bytes each (1: Latin-1, 2, 4) in quotes, or bytes as a bytes
 * literal. Unprintable characters are escaped. cut: append "..." for more. */
void fz_py_repr_text(const void *data, size_t n, unsigned kind, bool cut, struct fz_buf *out);
void fz_py_repr_bytes(const uint8_t *data, size_t n, bool cut, struct fz_buf *out);
