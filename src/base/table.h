/* SPDX-License-Identifier: MIT */
/* Tables for a terminal, whose columns are as wide as their content, and text that is cut or
 * wrapped to the terminal's width.
 *
 *   static const struct fz_column columns[] = {
 *	{ "bytes", FZ_RIGHT, .min = 11 },
 *	{ "share", FZ_RIGHT, .gap = 1 },
 *	{ "type", .gap = 2 },
 *   };
 *
 *	   bytes   share  type
 *     1.20 MiB  60.1 %  dict
 *
 * A function of the caller adds the cells of one row, in the order of the columns. It runs twice:
 * first its cells are only measured, then printed. Cells are made printable; all text that a
 * function adds to `out` by itself must be, too. No line ends with blanks.
 */
#pragma once

#include "buf.h"
#include "str.h"
#include "text.h"

enum fz_align { FZ_LEFT, FZ_RIGHT };

struct fz_column {
	const char *title; /* NULL: none */
	enum fz_align align;
	uint8_t gap; /* blanks before it */
	uint8_t min; /* width, even if the content is narrower; the last column's reserves space */
	uint8_t max; /* longer text is cut; 0: never */
	bool fit;    /* longer text is cut to what the other columns leave, at least min */
};

enum { FZ_TABLE_COLUMNS_MAX = 16 };

struct fz_table {
	const struct fz_column *columns;
	unsigned n;
	const struct fz_style *style;
	struct fz_buf *out;
	const char *titles[FZ_TABLE_COLUMNS_MAX]; /* changed by the caller if they vary */
	enum fz_hue title_hue;                    /* FZ_HUE_DIM */
	enum fz_hue hue;                          /* of the cells that follow; reset after a row */
	enum fz_hue shown_hue;                    /* of the text before */
	unsigned width[FZ_TABLE_COLUMNS_MAX];
	unsigned hidden; /* a bit per column, set by the caller */
	unsigned at;     /* column of the next cell */
	unsigned blanks; /* due before the next text */
	bool measuring;
};

/* Adds the cells of row i. */
typedef void fz_table_row_fn(struct fz_table *t, size_t i, const void *arg);

void fz_table_init(struct fz_table *t, const struct fz_column *columns, size_t n,
		   const struct fz_style *style, struct fz_buf *out);
/* Prints titles, if any, and n rows. */
void fz_table_print(struct fz_table *t, size_t n, fz_table_row_fn *row, const void *arg);
/* The steps of fz_table_print. Without the first, columns have their minimal width. */
void fz_table_measure(struct fz_table *t, size_t n, fz_table_row_fn *row, const void *arg);
void fz_table_titles(struct fz_table *t);
void fz_table_rows(struct fz_table *t, size_t n, fz_table_row_fn *row, const void *arg);

/* Adds the next cell: text, or a number as base/text.h formats it. */
void fz_table_cell(struct fz_table *t, const char *text);
void fz_table_str(struct fz_table *t, struct fz_str text);
void fz_table_count(struct fz_table *t, int64_t n);
void fz_table_value(struct fz_table *t, double v, const char *unit);
void fz_table_percent(struct fz_table *t, double fraction);
/* Moves to the last column, over cells that were not added. The caller appends its text to `out`:
 * at most the returned number of columns. */
unsigned fz_table_last(struct fz_table *t);
/* Starts another line of the row, at this column; returns the columns left. */
unsigned fz_table_below(struct fz_table *t, unsigned column);
/* Ends a row that was not added by a fz_table_row_fn. */
void fz_table_end(struct fz_table *t);
/* Prints "and 3 more functions" in the last column; nothing if n is 0. The noun may be NULL. */
void fz_table_more(struct fz_table *t, size_t n, const char *noun);
/* Columns left for the last cell. */
unsigned fz_table_room(const struct fz_table *t);

/* Columns left for a name after `used` ones, with a minimum that keeps names readable. */
enum { FZ_TABLE_REST_MIN = 16 };
unsigned fz_table_rest(const struct fz_style *style, unsigned used);
/* Appends text, made printable, in at most `columns`, cutting its end. */
void fz_table_text(struct fz_str text, unsigned columns, const struct fz_style *style,
		   struct fz_buf *out);
/* Like fz_table_text for the name of a function. If it does not fit, omits long template arguments,
 * "std::map<…>::find", and <locals>, then cuts the front, and the end only of the last component.
 */
void fz_table_name(struct fz_str name, unsigned columns, const struct fz_style *style,
		   struct fz_buf *out);
/* Like fz_table_text but cuts the front: the end of a path is more informative. The folder of an
 * __init__.py or __main__.py is kept even if the file's own name has to be cut. */
void fz_table_path(struct fz_str text, unsigned columns, const struct fz_style *style,
		   struct fz_buf *out);
/* "..." as one character, if the style allows it. */
const char *fz_table_ellipsis(const struct fz_style *style);
/* Appends a sentence, broken at spaces to fit the style's columns; lines after the first are
 * indented by 2. Ends with a newline. */
void fz_table_wrap(const char *text, const struct fz_style *style, struct fz_buf *out);
/* Likewise, indented by `indent`, if the line already has `at` columns. */
void fz_table_wrap_at(const char *text, unsigned at, unsigned indent, unsigned columns,
		      struct fz_buf *out);
