/* SPDX-License-Identifier: MIT */
/* Encodes and decodes protocol buffers; see wire.h. Groups are obsolete and refused. */
#include "wire.h"

bool fz_wire_next(struct fz_wire *w)
{
	if (w->c.bad || w->c.p == w->c.end)
		return false;
	uint64_t tag = fz_cursor_varint(&w->c);
	w->field = (uint32_t)(tag >> 3);
	w->type = tag & 7;
	w->value = 0;
	w->bytes = FZ_STR("");
	switch (w->type) {
	case FZ_WIRE_VARINT:
		w->value = fz_cursor_varint(&w->c);
		break;
	case FZ_WIRE_FIXED64:
		w->value = fz_cursor_u64(&w->c);
		break;
	case FZ_WIRE_FIXED32:
		w->value = fz_cursor_u32(&w->c);
		break;
	case FZ_WIRE_BYTES: {
		uint64_t n = fz_cursor_varint(&w->c);
		w->c.bad |= n > fz_cursor_left(&w->c);
		if (!w->c.bad)
			w->bytes = (struct fz_str){ (const char *)w->c.p, n };
		w->c.p += w->bytes.n;
		break;
	}
	default:
		w->c.bad = true;
	}
	w->c.bad |= tag >> 3 == 0 || tag >> 3 > 0x1fffffff;
	return !w->c.bad;
}

void fz_wire_take(const struct fz_wire *w, const struct fz_wire_field *fields)
{
	for (; fields->field; fields++) {
		if (fields->field != w->field)
			continue;
		if (fields->bytes && w->type == FZ_WIRE_BYTES)
			*fields->bytes = w->bytes;
		else if (fields->number && w->type != FZ_WIRE_BYTES)
			*fields->number = w->value;
	}
}

bool fz_wire_read(struct fz_str message, const struct fz_wire_field *fields)
{
	struct fz_wire w = fz_wire_of(message);

	while (fz_wire_next(&w))
		fz_wire_take(&w, fields);
	return !w.c.bad;
}

void fz_wire_numbers(struct fz_wire *w, void (*add)(void *arg, uint64_t number), void *arg)
{
	if (w->type != FZ_WIRE_BYTES) {
		add(arg, w->value);
		return;
	}
	struct fz_cursor c = fz_cursor_of(w->bytes.p, w->bytes.n);
	while (c.p < c.end && !c.bad) {
		uint64_t v = fz_cursor_varint(&c);
		if (!c.bad)
			add(arg, v);
	}
	w->c.bad |= c.bad;
}

void fz_wire_put(struct fz_buf *b, uint32_t field, uint64_t v)
{
	if (!v)
		return;
	fz_buf_varint(b, (uint64_t)field << 3 | FZ_WIRE_VARINT);
	fz_buf_varint(b, v);
}

void fz_wire_put_bytes(struct fz_buf *b, uint32_t field, struct fz_str s)
{
	fz_buf_varint(b, (uint64_t)field << 3 | FZ_WIRE_BYTES);
	fz_buf_varint(b, s.n);
	fz_buf_add(b, s.p, s.n);
}

void fz_wire_put_message(struct fz_buf *b, uint32_t field, const struct fz_buf *message)
{
	fz_wire_put_bytes(b, field, fz_buf_view(message));
}
