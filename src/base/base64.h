/* SPDX-License-Identifier: MIT */
/* Bytes as text of one line (RFC 4648, padded). */
#pragma once

#include "base/buf.h"

void fz_base64_encode(struct fz_buf *out, const void *data, size_t n);
/* Append what the text stands for; false when it is none, and then something may be appended. */
bool fz_base64_decode(struct fz_buf *out, struct fz_str text);
