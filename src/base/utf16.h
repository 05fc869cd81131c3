/* SPDX-License-Identifier: MIT */
/* Convert UTF-16 text, as written by some editors and shells on Windows, to UTF-8 (RFC 2781). */
#pragma once

#include "base/base.h"

enum fz_utf16 { FZ_UTF16_NOT, FZ_UTF16_LITTLE, FZ_UTF16_BIG };

/* What the first bytes of a file say, and how many of them are a byte order mark: the mark, or two
 * ASCII characters the first of which opens JSON. */
enum fz_utf16 fz_utf16_probe(const uint8_t *p, size_t n, size_t *ret_mark);
/* Turns what is whole of n bytes into UTF-8; out has room for 3 bytes for each 2. Half of a pair
 * becomes U+FFFD, at the end of the input (last) also half a unit. Returns the bytes of p that were
 * used. */
size_t fz_utf16_decode(enum fz_utf16 order, const uint8_t *p, size_t n, bool last, char *out,
		       size_t *ret_n);
