/* SPDX-License-Identifier: MIT */
/* Convert UTF-16 text, as written by some editors and shells on Windows, to UTF-8 (RFC 2781). */
#pragma once

#include "base/base.h"

enum fz_utf16 { FZ_UTF16_NOT, FZ_UTF16_LITTLE, FZ_UTF16_BIG };

/* Detects UTF-16 by a byte order mark, or by two ASCII characters of which the first opens JSON;
 * sets the length of the mark. */
enum fz_utf16 fz_utf16_probe(const uint8_t *p, size_t n, size_t *ret_mark);
/* Converts the complete characters of n bytes to UTF-8; out needs room for 3 bytes per 2. An
 * unpaired surrogate becomes U+FFFD, and so does half a unit at the end of the input (last).
 * Returns the number of bytes consumed. */
size_t fz_utf16_decode(enum fz_utf16 order, const uint8_t *p, size_t n, bool last, char *out,
		       size_t *ret_n);
