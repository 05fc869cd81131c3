/* SPDX-License-Identifier: MIT */
/* Plain values as Python's repr writes them, from their representation in an interpreter. */
#pragma once

#include "base/buf.h"

/* Digits of 30 bits, least significant first, as an int holds them. At most `most` decimal digits
 * are written, then "..."; returns how many there are. */
enum { FZ_PY_INT_DIGIT_BITS = 30, FZ_PY_INT_DIGITS_MAX = 1024 };
size_t fz_py_repr_int(const uint32_t *digits, size_t n, bool negative, size_t most,
		      struct fz_buf *out);
void fz_py_repr_float(double v, struct fz_buf *out);
/* `n` characters of `kind` bytes each (1: Latin-1, 2, 4), quoted; bytes: as a bytes literal. What a
 * terminal would not show as itself is escaped; `cut`: there are more, so "..." follows. */
void fz_py_repr_text(const void *data, size_t n, unsigned kind, bool cut, struct fz_buf *out);
void fz_py_repr_bytes(const uint8_t *data, size_t n, bool cut, struct fz_buf *out);
