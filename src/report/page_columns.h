/* SPDX-License-Identifier: MIT */
/* The data of a page as a directory of byte columns.
 *
 *   blob = column, column, ...            raw deflate + base64 in the file
 *   directory = [{name, type, n, at, size, unit}]   JSON in the page's header
 *
 * Types: "u" unsigned LEB128, "z" zigzag LEB128, "d" zigzag LEB128 of differences to another
 * column, "s" strings (LEB128 length, bytes). Numbers are divided by `unit`, their greatest common
 * divisor, before they are written: times that were counted in whole intervals then cost one byte.
 * A reader ignores columns it does not know.
 */
#pragma once

#include "base/buf.h"
#include "base/json.h"

struct fz_columns {
	struct fz_buf blob;
	struct fz_column {
		const char *name;
		char type;
		size_t n, at, size;
		int64_t unit;
	} * list;
	uint32_t count, cap;
};

void fz_columns_release(struct fz_columns *c);
void fz_columns_numbers(struct fz_columns *c, const char *name, const int64_t *v, size_t n);
/* Store v, or its difference from `of`, a column that the reader has, whichever takes fewer bits.
 * Unchanged values thus take little space. */
void fz_columns_beside(struct fz_columns *c, const char *name, const int64_t *v, const int64_t *of,
		       size_t n);
/* Begin a column of strings; add strings with fz_columns_string, then end it. */
void fz_columns_begin_strings(struct fz_columns *c, const char *name);
void fz_columns_string(struct fz_columns *c, struct fz_str s);
void fz_columns_end_strings(struct fz_columns *c);
/* The directory as a JSON array. */
void fz_columns_directory(const struct fz_columns *c, struct fz_json *j);
/* The blob, deflated, in base64. */
void fz_columns_write(const struct fz_columns *c, struct fz_output *out);
