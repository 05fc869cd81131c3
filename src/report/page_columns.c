/* SPDX-License-Identifier: MIT */
/* Byte columns of a page, their compression and base64; the layout is in the header file.
 *
 * Each column is deflated separately and flushed to a whole byte, so that all columns form one
 * stream. Most columns are small unordered numbers: Huffman coding alone makes them smaller, in a
 * tenth of the time. Names and trees repeat, so they need matching. A trial on part of the column
 * chooses the strategy.
 */
#include "page_columns.h"

#include "base/base64.h"

#include <math.h>
#include <zlib.h>

void fz_columns_release(struct fz_columns *c)
{
	fz_buf_release(&c->blob);
	free(c->list);
	*c = (struct fz_columns){ 0 };
}

/* The column that was begun last. */
static struct fz_column *last_column(struct fz_columns *c)
{
	return &c->list[c->count - 1];
}

static struct fz_column *begin_column(struct fz_columns *c, const char *name, char type)
{
	fz_push(c->list, c->count, c->cap,
		(struct fz_column){ .name = name, .type = type, .at = c->blob.n, .unit = 1 });
	return last_column(c);
}

static void end_column(struct fz_columns *c)
{
	last_column(c)->size = c->blob.n - last_column(c)->at;
}

static uint64_t magnitude(int64_t v)
{
	return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

/* Greatest common divisor, at least 1. Stops early, since it is 1 in most columns of real times. */
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

static void put_numbers(struct fz_columns *c, const char *name, char type, const int64_t *v,
			size_t n)
{
	struct fz_column *column = begin_column(c, name, type);

	column->n = n;
	column->unit = (int64_t)common_divisor(v, n);
	for (size_t i = 0; i < n; i++) {
		int64_t value = column->unit == 1 ? v[i] : v[i] / column->unit;
		if (type == 'u')
			fz_buf_varint(&c->blob, (uint64_t)value);
		else
			fz_buf_zigzag(&c->blob, value);
	}
	end_column(c);
}

void fz_columns_numbers(struct fz_columns *c, const char *name, const int64_t *v, size_t n)
{
	char type = 'u';

	for (size_t i = 0; i < n; i++)
		if (v[i] < 0)
			type = 'z';
	put_numbers(c, name, type, v, n);
}

/* Size of a column in bits if each byte is coded by its frequency: a lower bound. */
static double column_bits(const struct fz_columns *c, const struct fz_column *column)
{
	const uint8_t *p = (const uint8_t *)c->blob.p + column->at;
	size_t count[256] = { 0 };
	double bits = 0;

	for (size_t i = 0; i < column->size; i++)
		count[p[i]]++;
	for (int i = 0; i < 256; i++)
		if (count[i])
			bits -= (double)count[i] * log2((double)count[i] / (double)column->size);
	return bits;
}

void fz_columns_beside(struct fz_columns *c, const char *name, const int64_t *v, const int64_t *of,
		       size_t n)
{
	fz_auto(fz_free_ptr) int64_t *difference = fz_reallocarray(NULL, n + 1, sizeof(*v));

	for (size_t i = 0; i < n; i++)
		difference[i] = v[i] - of[i];
	put_numbers(c, name, 'd', difference, n);
	fz_columns_numbers(c, name, v, n);
	struct fz_column plain = *last_column(c);
	c->count--;
	struct fz_column *column = last_column(c);
	/* move the smaller one to the first one's place */
	if (column_bits(c, column) >= column_bits(c, &plain)) {
		memmove(c->blob.p + column->at, c->blob.p + plain.at, plain.size);
		plain.at = column->at;
		*column = plain;
	}
	c->blob.n = column->at + column->size;
}

void fz_columns_begin_strings(struct fz_columns *c, const char *name)
{
	begin_column(c, name, 's');
}

void fz_columns_string(struct fz_columns *c, struct fz_str s)
{
	last_column(c)->n++;
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

/* ---- streaming base64 ---- */

struct base64 {
	struct fz_output *out;
	uint8_t held[3];
	size_t held_n;
};

/* Encode whole groups of three bytes; keep the rest for the next call. */
static void base64_add(struct base64 *b, const uint8_t *p, size_t n)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	for (; n && b->held_n; n--) {
		b->held[b->held_n++] = *p++;
		if (b->held_n < sizeof(b->held))
			continue;
		fz_base64_encode(&text, b->held, sizeof(b->held));
		b->held_n = 0;
	}
	size_t left = n % sizeof(b->held);
	fz_base64_encode(&text, p, n - left);
	memcpy(b->held + b->held_n, p + n - left, left);
	b->held_n += left;
	fz_output_add(b->out, text.p ? text.p : "", text.n);
}

static void base64_end(struct base64 *b)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	fz_base64_encode(&text, b->held, b->held_n);
	fz_output_add(b->out, text.p ? text.p : "", text.n);
}

/* ---- deflate ---- */

enum { LEVEL = 6, TRIAL_BYTES = 1 << 17 };

static void deflate_init(z_stream *z, int strategy)
{
	int state = deflateInit2(z, LEVEL, Z_DEFLATED, -15, 9, strategy);

	fz_assert(state == Z_OK);
}

static size_t deflated_size(const uint8_t *p, size_t n, int strategy)
{
	z_stream z = { .next_in = (Bytef *)p, .avail_in = (uInt)n };
	uint8_t piece[16384];

	deflate_init(&z, strategy);
	do {
		z.next_out = piece;
		z.avail_out = sizeof(piece);
	} while (deflate(&z, Z_FINISH) != Z_STREAM_END);
	deflateEnd(&z);
	return z.total_out;
}

/* The better compression strategy; of a long column only the middle is tried. */
static int best_strategy(const uint8_t *p, size_t n)
{
	if (n > TRIAL_BYTES) {
		p += (n - TRIAL_BYTES) / 2;
		n = TRIAL_BYTES;
	}
	return deflated_size(p, n, Z_HUFFMAN_ONLY) < deflated_size(p, n, Z_DEFAULT_STRATEGY)
		       ? Z_HUFFMAN_ONLY
		       : Z_DEFAULT_STRATEGY;
}

static void deflate_column(struct base64 *b, const uint8_t *p, size_t n)
{
	z_stream z = { .next_in = (Bytef *)p };
	uint8_t piece[16384];

	deflate_init(&z, best_strategy(p, n));
	do {
		if (!z.avail_in) {
			z.avail_in = (uInt)FZ_MIN(n, 1u << 30);
			n -= z.avail_in;
		}
		z.next_out = piece;
		z.avail_out = sizeof(piece);
		int state = deflate(&z, n ? Z_NO_FLUSH : Z_SYNC_FLUSH);
		fz_assert(state == Z_OK || state == Z_BUF_ERROR);
		base64_add(b, piece, sizeof(piece) - z.avail_out);
	} while (n || z.avail_in || !z.avail_out);
	deflateEnd(&z);
}

void fz_columns_write(const struct fz_columns *c, struct fz_output *out)
{
	static const uint8_t last_block[] = { 3, 0 }; /* an empty one */
	struct base64 b = { .out = out };

	for (uint32_t i = 0; i < c->count; i++)
		if (c->list[i].size)
			deflate_column(&b, (const uint8_t *)c->blob.p + c->list[i].at,
				       c->list[i].size);
	base64_add(&b, last_block, sizeof(last_block));
	base64_end(&b);
}
