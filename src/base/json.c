/* SPDX-License-Identifier: MIT */
/* The JSON writer; see json.h. */
#include "json.h"

#include <math.h>
#include <stdio.h>

void fz_json_init(struct fz_json *j, struct fz_output *out, unsigned pretty_depth)
{
	*j = (struct fz_json){ .out = out,
			       .pretty = pretty_depth > 0,
			       .pretty_depth = pretty_depth };
}

static void new_line(struct fz_json *j, unsigned depth)
{
	fz_output_str(j->out, "\n");
	for (unsigned i = 0; i < depth; i++)
		fz_output_str(j->out, "  ");
}

static void before_item(struct fz_json *j)
{
	if (j->after_key) {
		j->after_key = false;
		return;
	}
	if (j->depth == 0)
		return;
	bool on_own_line = j->pretty && j->depth <= j->pretty_depth;
	if (j->has_item >> j->depth & 1)
		fz_output_str(j->out, j->pretty && !on_own_line ? ", " : ",");
	j->has_item |= 1ull << j->depth;
	if (on_own_line)
		new_line(j, j->depth);
}

void fz_json_open(struct fz_json *j, char bracket)
{
	before_item(j);
	fz_output_add(j->out, &bracket, 1);
	j->depth++;
	fz_assert(j->depth < 64);
	j->has_item &= ~(1ull << j->depth);
}

void fz_json_close(struct fz_json *j, char bracket)
{
	fz_assert(j->depth > 0 && !j->after_key);
	bool had = j->has_item >> j->depth & 1;
	if (had && j->pretty && j->depth <= j->pretty_depth)
		new_line(j, j->depth - 1);
	j->depth--;
	fz_output_add(j->out, &bracket, 1);
	if (j->depth == 0)
		fz_output_str(j->out, "\n");
}

/* Length of the text up to the first character that may need an escape. */
static size_t plain_prefix(struct fz_str s)
{
	size_t n = 0;

	while (n < s.n && s.p[n] >= 0x20 && s.p[n] < 0x7f && s.p[n] != '"' && s.p[n] != '\\' &&
	       s.p[n] != '<')
		n++;
	return n;
}

/* Appends the string literal of s. "<" is escaped, so the text can be used in an HTML script
 * element. */
static void add_literal(struct fz_buf *b, struct fz_str s)
{
	fz_buf_char(b, '"');
	for (size_t i = 0, n; i < s.n; i += n) {
		uint32_t code;
		n = plain_prefix((struct fz_str){ s.p + i, s.n - i });
		if (n) {
			fz_buf_add(b, s.p + i, n);
			continue;
		}
		n = fz_utf8_decode(s.p + i, s.n - i, &code);
		if (n == 0) {
			fz_buf_str(b, "\xef\xbf\xbd");
			n = 1;
		} else if (code == '"' || code == '\\') {
			fz_buf_printf(b, "\\%c", (int)code);
		} else if (code < 0x20 || code == '<' || (code >= 0x7f && code <= 0x9f) ||
			   code == 0x2028 || code == 0x2029) {
			fz_buf_printf(b, "\\u%04x", (unsigned)code);
		} else {
			fz_buf_add(b, s.p + i, n);
		}
	}
	fz_buf_char(b, '"');
}

/* Add a string and what follows it. Most strings are short and need no escape. */
static void add_str(struct fz_json *j, struct fz_str s, struct fz_str after)
{
	char small[128];

	if (s.n + after.n + 2 <= sizeof(small) && plain_prefix(s) == s.n) {
		small[0] = small[s.n + 1] = '"';
		if (s.n)
			memcpy(small + 1, s.p, s.n);
		memcpy(small + s.n + 2, after.p, after.n);
		fz_output_add(j->out, small, s.n + after.n + 2);
		return;
	}
	fz_auto(fz_buf_release) struct fz_buf b = { 0 };
	add_literal(&b, s);
	fz_buf_add(&b, after.p, after.n);
	fz_output_add(j->out, b.p, b.n);
}

void fz_json_str(struct fz_json *j, struct fz_str s)
{
	before_item(j);
	add_str(j, s, FZ_STR(""));
}

void fz_json_key(struct fz_json *j, const char *key)
{
	fz_assert(j->depth > 0 && !j->after_key);
	before_item(j);
	add_str(j, fz_str_of(key), j->pretty ? FZ_STR(": ") : FZ_STR(":"));
	j->after_key = true;
}

/* Without printf, which would take more time than the rest of a node of a tree. */
static void add_int(struct fz_json *j, int64_t v)
{
	char digits[24];
	size_t at = sizeof(digits);
	uint64_t left = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

	do {
		digits[--at] = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (v < 0)
		digits[--at] = '-';
	fz_output_add(j->out, digits + at, sizeof(digits) - at);
}

void fz_json_int(struct fz_json *j, int64_t v)
{
	before_item(j);
	add_int(j, v);
}

static bool is_integer(double v)
{
	return fabs(v) < 1e15 && v == (double)(int64_t)v;
}

void fz_json_format(double v, char out[FZ_JSON_NUMBER_SIZE])
{
	if (is_integer(v)) {
		snprintf(out, FZ_JSON_NUMBER_SIZE, "%lld", (long long)v);
		return;
	}
	if (!isfinite(v)) {
		snprintf(out, FZ_JSON_NUMBER_SIZE, "null");
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(out, FZ_JSON_NUMBER_SIZE, "%.*g", digits, v);
		if (strtod(out, NULL) == v)
			break;
	}
}

void fz_json_double(struct fz_json *j, double v)
{
	char text[FZ_JSON_NUMBER_SIZE];

	before_item(j);
	if (is_integer(v)) {
		add_int(j, (int64_t)v);
		return;
	}
	fz_json_format(v, text);
	fz_output_str(j->out, text);
}

void fz_json_raw(struct fz_json *j, struct fz_str text)
{
	before_item(j);
	fz_output_add(j->out, text.p, text.n);
}

void fz_json_bool(struct fz_json *j, bool v)
{
	before_item(j);
	fz_output_str(j->out, v ? "true" : "false");
}

void fz_json_null(struct fz_json *j)
{
	before_item(j);
	fz_output_str(j->out, "null");
}

void fz_json_kstr(struct fz_json *j, const char *key, struct fz_str s)
{
	fz_json_key(j, key);
	fz_json_str(j, s);
}

void fz_json_kopen(struct fz_json *j, const char *key, char bracket)
{
	fz_json_key(j, key);
	fz_json_open(j, bracket);
}

void fz_json_kint(struct fz_json *j, const char *key, int64_t v)
{
	fz_json_key(j, key);
	fz_json_int(j, v);
}

void fz_json_kdouble(struct fz_json *j, const char *key, double v)
{
	fz_json_key(j, key);
	fz_json_double(j, v);
}

void fz_json_kbool(struct fz_json *j, const char *key, bool v)
{
	fz_json_key(j, key);
	fz_json_bool(j, v);
}
