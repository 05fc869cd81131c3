/* SPDX-License-Identifier: MIT */
/* Helpers of the text reports: fit names and sentences to the terminal's width. */
#pragma once

#include "base/buf.h"
#include "base/str.h"
#include "base/text.h"
#include "report/source_link.h"

/* Append "name (file:line)" in at most `columns`: first the file is cut at its front, then the name
 * at its end. Code without a file (none, or "~") is only a name. */
void fz_table_function(struct fz_str name, const struct fz_source_place *place, unsigned columns,
		       const struct fz_style *style, struct fz_buf *out);
/* Append "file:line" in at most `columns`, cutting the file at its front; as a link if possible. */
void fz_table_place(const struct fz_source_place *place, unsigned columns,
		    const struct fz_style *style, struct fz_buf *out);
/* Columns left for a name after `used` ones, with a minimum that keeps names readable. */
unsigned fz_table_rest(const struct fz_style *style, unsigned used);
/* Append text, made printable, in at most `columns`, cutting its end. */
void fz_table_text(struct fz_str text, unsigned columns, const struct fz_style *style,
		   struct fz_buf *out);
/* Like fz_table_text but cuts the front: the end of a path is more informative. */
void fz_table_path(struct fz_str text, unsigned columns, const struct fz_style *style,
		   struct fz_buf *out);
/* "..." as one character, if the style allows it. */
const char *fz_table_ellipsis(const struct fz_style *style);
/* Append a sentence, broken at spaces to fit the style's columns; lines after the first are
 * indented by `indent` spaces. Ends with a newline. */
void fz_table_wrap(const char *text, unsigned indent, const struct fz_style *style,
		   struct fz_buf *out);
/* Name of what a metric measures: "wall time". */
const char *fz_table_metric_title(const char *metric);
/* Append what a value measures: " of wall time", " samples"; nothing if the unit is enough ("12
 * MiB"). */
void fz_table_add_metric(const char *metric, const char *unit, struct fz_buf *out);
