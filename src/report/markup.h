/* SPDX-License-Identifier: MIT */
/* Escapes untrusted text for HTML, XML and Markdown. */
#pragma once

#include "base/buf.h"
#include "base/io.h"

/* Append s as text or as a quoted attribute's value. Invalid UTF-8 and control characters other
 * than tab and newline, which XML forbids, become U+FFFD. */
void fz_html_escape(struct fz_buf *b, struct fz_str s);
/* The same for a benchmark's name, which may be broken after its slashes and colons. */
void fz_html_name(struct fz_buf *b, struct fz_str name);
void fz_html_write(struct fz_output *out, struct fz_str s);
/* Append printable text for the middle of a line of Markdown, also in a table: possible markup
 * becomes a character reference. At most nine bytes per character. */
void fz_markdown_escape(struct fz_buf *out, struct fz_str s);
/* The same for a value with its unit, which stay on one line: "6.98 ms". */
void fz_markdown_value(struct fz_buf *out, const char *text);
/* The same as code with break points inside long names: "<code>parse_<wbr>issue_<wbr>fixed</code>",
 * so that its table fits on a phone. */
void fz_markdown_code(struct fz_buf *out, struct fz_str s);
/* "path/file.py:12" as such code (line 0: the path alone); a link to `linked` below `page`, unless
 * `page` is NULL or `linked` is empty. */
void fz_markdown_place(struct fz_buf *out, struct fz_str path, int line, const char *page,
		       struct fz_str linked);
