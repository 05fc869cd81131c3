/* SPDX-License-Identifier: MIT */
/* The fields of a row, listed once for JSON and for CSV: a function of the caller adds them in
 * order, as members of an object or as cells of a line.
 *
 *   {"name": "f", "line": 3, "match": {"how": "exact"}}     name,line,match.how
 *                                                           f,3,exact
 *
 * CSV is that of RFC 4180 with "\n" at the end of lines. A cell has the number or text of the JSON,
 * and is empty if that is null. Text is made printable; if a spreadsheet would evaluate it, it
 * starts with an apostrophe.
 */
#pragma once

#include "json.h"

enum { FZ_FIELDS_DEPTH = 2 };

struct fz_fields {
	struct fz_json *json;  /* NULL: CSV */
	struct fz_output *csv; /* NULL: JSON */
	bool titles;           /* the row is CSV's first line: its values are ignored */
	bool absent;           /* set by the caller: JSON omits what follows, CSV leaves it empty */
	bool comma;
	const char *groups[FZ_FIELDS_DEPTH];
	unsigned depth;
};

void fz_fields_begin(struct fz_fields *f);
void fz_fields_end(struct fz_fields *f);
/* The fields in between are members of an object. */
void fz_fields_open(struct fz_fields *f, const char *key);
void fz_fields_close(struct fz_fields *f);

void fz_field_str(struct fz_fields *f, const char *key, struct fz_str s);
void fz_field_int(struct fz_fields *f, const char *key, int64_t v);
void fz_field_double(struct fz_fields *f, const char *key, double v);
