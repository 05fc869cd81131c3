/* SPDX-License-Identifier: MIT */
/* A streaming JSON writer to an fz_output or fz_buf: adds commas, escapes strings and checks
 * nesting. jansson reads JSON. */
#pragma once

#include "base.h"
#include "io.h"
#include "str.h"

struct fz_json {
	struct fz_output *out;
	unsigned depth;
	bool pretty; /* newlines and two spaces per level down to `pretty_depth`, then one line */
	unsigned pretty_depth;
	uint64_t has_item; /* a bit per level: a comma is needed */
	bool after_key;
};

void fz_json_init(struct fz_json *j, struct fz_output *out, unsigned pretty_depth);
void fz_json_open(struct fz_json *j, char bracket); /* '{' or '[' */
void fz_json_close(struct fz_json *j, char bracket);
void fz_json_key(struct fz_json *j, const char *key);
void fz_json_str(struct fz_json *j, struct fz_str s); /* invalid UTF-8 becomes U+FFFD */
void fz_json_int(struct fz_json *j, int64_t v);
/* Writes the shortest text that parses to the same double; null if not finite. */
void fz_json_double(struct fz_json *j, double v);
void fz_json_bool(struct fz_json *j, bool v);
void fz_json_null(struct fz_json *j);

/* key and value in one call */
void fz_json_kstr(struct fz_json *j, const char *key, struct fz_str s);
void fz_json_kint(struct fz_json *j, const char *key, int64_t v);
void fz_json_kopen(struct fz_json *j, const char *key, char bracket);
void fz_json_kdouble(struct fz_json *j, const char *key, double v);
void fz_json_kbool(struct fz_json *j, const char *key, bool v);

/* Writes a value that is already JSON text, for very many small objects. */
void fz_json_raw(struct fz_json *j, struct fz_str text);
/* Formats a number like fz_json_double. */
enum { FZ_JSON_NUMBER_SIZE = 40 };
void fz_json_format(double v, char out[FZ_JSON_NUMBER_SIZE]);
