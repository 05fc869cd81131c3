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

void fz_json_escape(struct fz_buf *b, struct fz_str s)
{
	fz_buf_char(b, '"');
	for (size_t i = 0, n; i < s.n; i += n) {
		uint32_t code;
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

void fz_json_str(struct fz_json *j, struct fz_str s)
{
	struct fz_buf b = { 0 };

	before_item(j);
	fz_json_escape(&b, s);
	fz_output_add(j->out, b.p, b.n);
	fz_buf_release(&b);
}

void fz_json_key(struct fz_json *j, const char *key)
{
	fz_json_str(j, fz_str_of(key));
	fz_output_str(j->out, j->pretty ? ": " : ":");
	j->after_key = true;
}

void fz_json_int(struct fz_json *j, int64_t v)
{
	before_item(j);
	fz_output_printf(j->out, "%lld", (long long)v);
}

void fz_json_format(double v, char out[FZ_JSON_NUMBER_SIZE])
{
	/* Fast path for integers, the most common values. */
	if (fabs(v) < 1e15 && v == (double)(int64_t)v) {
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
