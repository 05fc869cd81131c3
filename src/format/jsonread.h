/* SPDX-License-Identifier: MIT */
/* Reading JSON files with jansson: whole documents up to a limit, and long arrays of objects one
 * element at a time.
 *
 * A document costs about 13 times its text while it is read (docs/formats.md has figures), so
 * its text is limited. Everything here answers for values of the wrong type as for absent ones;
 * strings are valid UTF-8 but may hold NUL.
 */
#pragma once

#include "base/io.h"

#include <jansson.h>

#define FZ_JSONREAD_MAX ((uint64_t)256 << 20)

/* The whole input as one value. The caller releases (fz_auto(fz_jsonread_release)). */
int fz_jsonread_load(struct fz_input *in, json_t **ret, struct fz_error *err);
void fz_jsonread_release(json_t **v);

struct fz_str fz_jsonread_str(const json_t *v); /* "" when it is none */
/* A number, or one in a string as some tools write them; else `otherwise`. */
double fz_jsonread_number(const json_t *v, double otherwise);
int64_t fz_jsonread_int(const json_t *v, int64_t otherwise);
/* Member `key` of object v. */
static inline struct fz_str fz_jsonread_kstr(const json_t *v, const char *key)
{
	return fz_jsonread_str(json_object_get(v, key));
}
/* Element `i` of member `key`. */
static inline json_t *fz_jsonread_kat(const json_t *v, const char *key, size_t i)
{
	return json_array_get(json_object_get(v, key), i);
}

/* Whether the first bytes of a file are an object with that key at that depth (1: the outermost),
 * as far as they go. */
bool fz_jsonread_has_key(const uint8_t *head, size_t n, unsigned depth, const char *key);

/* ---- one at a time ---- */

/* A cursor over text that is read as needed. */
struct fz_jsonread_stream {
	struct fz_input *in;
	struct fz_buf buf;
	size_t at; /* in buf */
	bool end;  /* of the input */
	bool cut;  /* it ended within a value, or within the outermost object */
	int code;  /* the first error; then every call says there is nothing more */
	struct fz_error *err;
};

void fz_jsonread_stream_release(struct fz_jsonread_stream *s);
/* The next byte that is no white space, not taken; -1 at the end. */
int fz_jsonread_peek(struct fz_jsonread_stream *s);
void fz_jsonread_take(struct fz_jsonread_stream *s); /* the byte that peek showed */
/* The next value, NULL at the end of the input (also in the middle of a value) and on errors. */
json_t *fz_jsonread_value(struct fz_jsonread_stream *s);
/* The same without making anything of it. */
bool fz_jsonread_skip(struct fz_jsonread_stream *s);
/* Returns whether to go on. The element lives until it returns. */
typedef bool fz_jsonread_visit(void *arg, const json_t *element);
/* All elements of the array `key` of the outermost object, or of the outermost array; as far as a
 * file that was cut short goes. */
void fz_jsonread_each(struct fz_jsonread_stream *s, const char *key, fz_jsonread_visit *visit,
		      void *arg);
