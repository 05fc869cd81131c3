/* SPDX-License-Identifier: MIT */
/* Reads JSON files with jansson: whole documents up to a limit, and long arrays of objects one
 * element at a time.
 *
 * A document needs about 13 times the memory of its text (figures in docs/formats.md), so the text
 * is limited. Values of the wrong type are treated as absent; strings are valid UTF-8 but may
 * contain NUL.
 */
#pragma once

#include "base/io.h"

#include <jansson.h>

#define FZ_JSONREAD_MAX ((uint64_t)256 << 20)

/* The whole input as one value. The caller releases (fz_auto(fz_jsonread_release)). */
int fz_jsonread_load(struct fz_input *in, json_t **ret, struct fz_error *err);
/* The same for the value after a mark, such as an assignment in a page; what follows is ignored. */
int fz_jsonread_load_after(struct fz_input *in, const char *mark, json_t **ret,
			   struct fz_error *err);
void fz_jsonread_release(json_t **v);

struct fz_str fz_jsonread_str(const json_t *v); /* "" if not a string */
/* A number, also as text in a string, which some tools write; else `otherwise`. */
double fz_jsonread_number(const json_t *v, double otherwise);
int64_t fz_jsonread_int(const json_t *v, int64_t otherwise);
/* Member `key` of object v. */
static inline struct fz_str fz_jsonread_kstr(const json_t *v, const char *key)
{
	return fz_jsonread_str(json_object_get(v, key));
}

/* Whether the first bytes of a file are an object with that key at that depth (1: outermost). */
bool fz_jsonread_has_key(const uint8_t *head, size_t n, unsigned depth, const char *key);

/* ---- one at a time ---- */

/* A cursor over text that is read as needed. */
struct fz_jsonread_stream {
	struct fz_input *in;
	struct fz_buf buf;
	size_t at;   /* in buf */
	size_t last; /* length of the value before it */
	bool end;    /* of the input */
	bool cut;    /* the input ended within a value or the outermost object */
	int code;    /* the first error; all later calls report the end */
	struct fz_error *err;
};

void fz_jsonread_stream_release(struct fz_jsonread_stream *s);
/* The next byte other than white space, without consuming it; -1 at the end. */
int fz_jsonread_peek(struct fz_jsonread_stream *s);
void fz_jsonread_take(struct fz_jsonread_stream *s); /* consumes the byte from peek */
/* Parses the next value; NULL at the end of the input (even within a value) and on errors. */
json_t *fz_jsonread_value(struct fz_jsonread_stream *s);
/* The number `key` of the last value, an object, minus `origin`, exact even for a time since 1970
 * in microseconds with a fraction, which a double cannot hold. */
double fz_jsonread_since(const struct fz_jsonread_stream *s, const json_t *last, const char *key,
			 int64_t origin);
/* Skips the next value. */
bool fz_jsonread_skip(struct fz_jsonread_stream *s);
/* Returns whether to continue. The element is only valid during the call. */
typedef bool fz_jsonread_visit(void *arg, const json_t *element);
/* Visits all elements of the array `key` of the outermost object, or of the outermost array; stops
 * at the end of a truncated file. */
void fz_jsonread_each(struct fz_jsonread_stream *s, const char *key, fz_jsonread_visit *visit,
		      void *arg);
