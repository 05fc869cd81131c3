/* SPDX-License-Identifier: MIT */
/* Cells of the text reports: functions with their files, and what a metric measures. */
#pragma once

#include "base/table.h"
#include "report/source_link.h"

/* Append "name (file:line)" in at most `columns`: first the file is cut at its front, then the name
 * at its end. Without the file ":line" remains, which tells functions of equal names apart. Code
 * without a file (none, or "~") is only a name. */
void fz_table_function(struct fz_str name, const struct fz_source_place *place, unsigned columns,
		       const struct fz_style *style, struct fz_buf *out);
/* Append "file:line" in at most `columns`, cutting the file at its front; as a link if possible. */
void fz_table_place(const struct fz_source_place *place, unsigned columns,
		    const struct fz_style *style, struct fz_buf *out);
/* Append what a value measures: " of wall time", " samples"; nothing if the unit implies it ("12
 * MiB"). */
void fz_table_add_metric(const char *metric, const char *unit, struct fz_buf *out);
