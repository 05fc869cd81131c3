/* SPDX-License-Identifier: MIT */
/* Encodes bytes as one line of text (RFC 4648, padded). */
#pragma once

#include "base/buf.h"

void fz_base64_encode(struct fz_buf *out, const void *data, size_t n);
/* Appends the decoded bytes. Returns false if the text is invalid, possibly after appending
 * some. */
bool fz_base64_decode(struct fz_buf *out, struct fz_str text);
