/* SPDX-License-Identifier: MIT */
/* What the text reports share: names cut to the width of a terminal. */
#pragma once

#include "base/buf.h"
#include "base/str.h"
#include "base/text.h"
#include "report/source_link.h"

/* "name (file:line)" in at most `columns`: the file loses its front first, then the name its
 * end. Code without a file (none, or "~") is its name alone. */
void fz_table_function(struct fz_str name, const struct fz_source_place *place, unsigned columns,
		       const struct fz_style *style, struct fz_buf *out);
/* "file:line" in at most `columns`: the file loses its front; as a link where there can be one. */
void fz_table_place(const struct fz_source_place *place, unsigned columns,
		    const struct fz_style *style, struct fz_buf *out);
/* Columns that are left for a name after those already used; never so few that it says nothing. */
unsigned fz_table_rest(const struct fz_style *style, unsigned used);
/* Text made printable, in at most `columns`, its end cut when it is longer. */
void fz_table_text(struct fz_str text, unsigned columns, const struct fz_style *style,
		   struct fz_buf *out);
/* As fz_table_text but the front is cut: the end of a path says more. */
void fz_table_path(struct fz_str text, unsigned columns, const struct fz_style *style,
		   struct fz_buf *out);
/* "..." as one character where the style has it. */
const char *fz_table_ellipsis(const struct fz_style *style);
/* A sentence, broken at spaces so that no line is wider than the style's columns; the lines after
 * the first are indented by `indent` spaces. Ends with a newline. */
void fz_table_wrap(const char *text, unsigned indent, const struct fz_style *style,
		   struct fz_buf *out);
/* What a metric measures: "wall time". */
const char *fz_table_metric_title(const char *metric);
/* That after a value: " of wall time", " samples"; nothing where the unit has said it, "12 MiB". */
void fz_table_add_metric(const char *metric, const char *unit, struct fz_buf *out);
