/* SPDX-License-Identifier: MIT */
/* Reads and writes the values of a cell. The stored count allocates nothing, since values are read
 * one by one; the size stored in a zstd frame is limited to PLAIN_MAX. */
#include "fleet/cell_values.h"

#include <zstd.h>

enum { PLAIN_MAX = 64 << 20, LEVEL = 1 };

void fz_cell_codec_release(struct fz_cell_codec *c)
{
	ZSTD_freeCCtx(c->packer);
	ZSTD_freeDCtx(c->unpacker);
	fz_buf_release(&c->plain);
	*c = (struct fz_cell_codec){ 0 };
}

/* ---- reading ---- */

static bool is_packed(struct fz_str bytes)
{
	return bytes.n && bytes.p[0] == 0;
}

static bool unpack(struct fz_cell_codec *k, struct fz_str frame)
{
	unsigned long long size = ZSTD_getFrameContentSize(frame.p, frame.n);

	if (size > PLAIN_MAX) /* also true for error codes */
		return false;
	if (!k->unpacker)
		k->unpacker = ZSTD_createDCtx();
	fz_assert(k->unpacker);
	fz_buf_reset(&k->plain);
	char *to = fz_buf_reserve(&k->plain, (size_t)size);
	k->plain.n = (size_t)size;
	return ZSTD_decompressDCtx(k->unpacker, to, (size_t)size, frame.p, frame.n) == size;
}

struct fz_cell_reader fz_cell_reader_of(struct fz_cell_codec *codec, struct fz_str bytes)
{
	if (is_packed(bytes)) {
		if (!unpack(codec, (struct fz_str){ bytes.p + 1, bytes.n - 1 }))
			return (struct fz_cell_reader){ .bad = true };
		bytes = fz_buf_view(&codec->plain);
	}
	struct fz_cell_reader r = { .c = fz_cursor_of(bytes.p, bytes.n) };

	r.left = fz_cursor_varint(&r.c);
	r.unit = fz_cursor_varint(&r.c);
	return r;
}

static bool read_node(struct fz_cell_reader *r)
{
	uint64_t above = fz_cursor_varint(&r->c);

	if (above == 0 || above > (uint64_t)(INT64_MAX - r->node))
		return false;
	r->node += (int64_t)above;
	return true;
}

static bool read_value(struct fz_cell_reader *r, struct fz_cell_value *ret)
{
	uint64_t cost = fz_cursor_varint(&r->c);
	uint64_t n = cost & 1 ? fz_cursor_varint(&r->c) : cost >> 1;

	ret->node = r->node;
	ret->n = (int64_t)n;
	return n <= INT64_MAX && !r->c.bad &&
	       !__builtin_mul_overflow(cost >> 1, r->unit, &ret->value);
}

bool fz_cell_reader_next(struct fz_cell_reader *r, struct fz_cell_value *ret)
{
	if (r->bad || r->left == 0) {
		r->bad |= r->c.bad || fz_cursor_left(&r->c) > 0;
		return false;
	}
	r->left--;
	r->bad = !read_node(r) || !read_value(r, ret);
	return !r->bad;
}

/* ---- writing ---- */

static int compare(const void *a, const void *b)
{
	const struct fz_cell_value *x = a, *y = b;

	return FZ_CMP(x->node, y->node);
}

bool fz_cell_values_add_up(struct fz_cell_value *values, size_t *n)
{
	size_t kept = 0;
	bool fits = true;

	if (*n == 0)
		return true;
	qsort(values, *n, sizeof(*values), compare);
	for (size_t i = 1; i < *n; i++) {
		struct fz_cell_value *last = &values[kept];

		if (values[i].node != last->node) {
			values[++kept] = values[i];
			continue;
		}
		fits &= !__builtin_add_overflow(last->value, values[i].value, &last->value);
		fits &= !__builtin_add_overflow(last->n, values[i].n, &last->n);
	}
	*n = kept + 1;
	return fits;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Greatest common divisor of the values; at least 1. */
static uint64_t unit_of(const struct fz_cell_value *values, size_t n)
{
	uint64_t unit = 0;

	for (size_t i = 0; i < n && unit != 1; i++)
		unit = common_divisor((uint64_t)values[i].value, unit);
	return unit ? unit : 1;
}

static void write_plain(const struct fz_cell_value *values, size_t n, struct fz_buf *ret)
{
	uint64_t unit = unit_of(values, n);
	int64_t node = 0;

	fz_buf_varint(ret, n);
	fz_buf_varint(ret, unit);
	for (size_t i = 0; i < n; i++) {
		const struct fz_cell_value *v = &values[i];
		uint64_t cost = (uint64_t)v->value / unit;
		bool same = cost == (uint64_t)v->n;

		fz_buf_varint(ret, (uint64_t)(v->node - node));
		fz_buf_varint(ret, cost << 1 | !same);
		if (!same)
			fz_buf_varint(ret, (uint64_t)v->n);
		node = v->node;
	}
}

/* False if compression does not make it smaller. */
static bool pack(struct fz_cell_codec *k, struct fz_buf *ret)
{
	size_t most = ZSTD_compressBound(k->plain.n);

	if (k->plain.n > PLAIN_MAX)
		return false;
	if (!k->packer)
		k->packer = ZSTD_createCCtx();
	fz_assert(k->packer);
	char *to = fz_buf_reserve(ret, most + 1);
	size_t n = ZSTD_compressCCtx(k->packer, to + 1, most, k->plain.p, k->plain.n, LEVEL);
	if (ZSTD_isError(n) || n + 1 >= k->plain.n)
		return false;
	to[0] = 0;
	ret->n += n + 1;
	return true;
}

void fz_cell_values_write(struct fz_cell_codec *codec, const struct fz_cell_value *values, size_t n,
			  struct fz_buf *ret)
{
	fz_assert(n > 0);
	if (!codec) {
		write_plain(values, n, ret);
		return;
	}
	fz_buf_reset(&codec->plain);
	write_plain(values, n, &codec->plain);
	if (!pack(codec, ret))
		fz_buf_add(ret, codec->plain.p, codec->plain.n);
}
