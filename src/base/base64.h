/* SPDX-License-Identifier: MIT */
/* Encodes bytes as one line of text (RFC 4648, padded). */
#pragma once

#include "base/buf.h"

void fz_base64_encode(struct fz_buf *out, const void *data, size_t n);
/* Appends the decoded bytes; false if the text is invalid, and then some may have been appended. */
bool fz_base64_decode(struct fz_buf *out, struct fz_str text);
