/* SPDX-License-Identifier: MIT */
/* Columns of bytes for the page, their compression and base64; the layout is in the header. */
#include "page_columns.h"

#include <zlib.h>

void fz_columns_release(struct fz_columns *c)
{
	fz_buf_release(&c->blob);
	*c = (struct fz_columns){ 0 };
}

static struct fz_column *begin_column(struct fz_columns *c, const char *name, char type)
{
	fz_assert(c->count < FZ_COLUMNS_MAX);
	struct fz_column *column = &c->list[c->count];
	*column = (struct fz_column){ .name = name, .type = type, .at = c->blob.n, .unit = 1 };
	return column;
}

static void end_column(struct fz_columns *c)
{
	struct fz_column *column = &c->list[c->count++];

	column->size = c->blob.n - column->at;
}

static uint64_t magnitude(int64_t v)
{
	return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

/* At least 1; stops early, since most columns of real times have none but 1. */
static uint64_t common_divisor(const int64_t *v, size_t n)
{
	uint64_t g = 0;

	for (size_t i = 0; i < n && g != 1; i++) {
		uint64_t a = magnitude(v[i]);
		while (a) {
			uint64_t rest = g % a;
			g = a;
			a = rest;
		}
	}
	return g && g <= INT64_MAX ? g : 1;
}

void fz_columns_numbers(struct fz_columns *c, const char *name, const int64_t *v, size_t n)
{
	struct fz_column *column = begin_column(c, name, 'u');

	for (size_t i = 0; i < n; i++)
		if (v[i] < 0)
			column->type = 'z';
	column->n = n;
	column->unit = (int64_t)common_divisor(v, n);
	for (size_t i = 0; i < n; i++) {
		int64_t value = column->unit == 1 ? v[i] : v[i] / column->unit;
		if (column->type == 'z')
			fz_buf_zigzag(&c->blob, value);
		else
			fz_buf_varint(&c->blob, (uint64_t)value);
	}
	end_column(c);
}

void fz_columns_begin_strings(struct fz_columns *c, const char *name)
{
	begin_column(c, name, 's');
}

void fz_columns_string(struct fz_columns *c, struct fz_str s)
{
	c->list[c->count].n++;
	fz_buf_varint(&c->blob, s.n);
	fz_buf_add(&c->blob, s.p, s.n);
}

void fz_columns_end_strings(struct fz_columns *c)
{
	end_column(c);
}

void fz_columns_directory(const struct fz_columns *c, struct fz_json *j)
{
	fz_json_open(j, '[');
	for (uint32_t i = 0; i < c->count; i++) {
		const struct fz_column *column = &c->list[i];
		fz_json_open(j, '{');
		fz_json_kstr(j, "name", fz_str_of(column->name));
		fz_json_kstr(j, "type", (struct fz_str){ &column->type, 1 });
		fz_json_kint(j, "n", (int64_t)column->n);
		fz_json_kint(j, "at", (int64_t)column->at);
		fz_json_kint(j, "size", (int64_t)column->size);
		fz_json_kint(j, "unit", column->unit);
		fz_json_close(j, '}');
	}
	fz_json_close(j, ']');
}

/* ---- base64 of a stream that arrives in pieces ---- */

struct base64 {
	struct fz_output *out;
	uint8_t held[3];
	unsigned held_n;
};

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void encode_triple(const uint8_t in[3], char out[4])
{
	out[0] = digits[in[0] >> 2];
	out[1] = digits[(in[0] & 3) << 4 | in[1] >> 4];
	out[2] = digits[(in[1] & 15) << 2 | in[2] >> 6];
	out[3] = digits[in[2] & 63];
}

static void base64_add(struct base64 *b, const uint8_t *p, size_t n)
{
	char text[4096];
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		b->held[b->held_n++] = p[i];
		if (b->held_n < 3)
			continue;
		encode_triple(b->held, text + len);
		b->held_n = 0;
		len += 4;
		if (len == sizeof(text)) {
			fz_output_add(b->out, text, len);
			len = 0;
		}
	}
	fz_output_add(b->out, text, len);
}

static void base64_end(struct base64 *b)
{
	char text[4];

	if (!b->held_n)
		return;
	for (unsigned i = b->held_n; i < 3; i++)
		b->held[i] = 0;
	encode_triple(b->held, text);
	text[3] = '=';
	if (b->held_n == 1)
		text[2] = '=';
	fz_output_add(b->out, text, sizeof(text));
}

void fz_columns_write(const struct fz_columns *c, struct fz_output *out)
{
	struct base64 b = { .out = out };
	z_stream z = { .next_in = (Bytef *)c->blob.p };
	size_t left = c->blob.n;
	uint8_t piece[16384];
	int state = deflateInit2(&z, 6, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY);

	fz_assert(state == Z_OK);
	do {
		uInt take = (uInt)FZ_MIN(left, 1u << 30);
		if (!z.avail_in) {
			z.avail_in = take;
			left -= take;
		}
		z.next_out = piece;
		z.avail_out = sizeof(piece);
		state = deflate(&z, left ? Z_NO_FLUSH : Z_FINISH);
		fz_assert(state == Z_OK || state == Z_STREAM_END || state == Z_BUF_ERROR);
		base64_add(&b, piece, sizeof(piece) - z.avail_out);
	} while (state != Z_STREAM_END);
	deflateEnd(&z);
	base64_end(&b);
}
