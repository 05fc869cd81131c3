/* SPDX-License-Identifier: MIT */
/* Text from outside, made harmless in HTML and XML. */
#pragma once

#include "base/buf.h"
#include "base/io.h"

/* Append s as text or as a quoted attribute's value. Invalid UTF-8 and control characters other
 * than tab and newline, which XML forbids, become U+FFFD. */
void fz_html_escape(struct fz_buf *b, struct fz_str s);
void fz_html_write(struct fz_output *out, struct fz_str s);
