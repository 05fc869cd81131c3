/* SPDX-License-Identifier: MIT */
/* Protocol buffers as bytes: fields one after the other, without generated code.
 *
 *   struct fz_wire w = fz_wire_of(message);
 *   while (fz_wire_next(&w))
 *           switch (w.field) ...
 *   if (w.c.bad) ...
 */
#pragma once

#include "base/buf.h"

enum fz_wire_type { FZ_WIRE_VARINT, FZ_WIRE_FIXED64, FZ_WIRE_BYTES, FZ_WIRE_FIXED32 = 5 };

struct fz_wire {
	struct fz_cursor c;
	uint32_t field;
	uint8_t type;        /* enum fz_wire_type */
	uint64_t value;      /* of a number */
	struct fz_str bytes; /* of the rest */
};

static inline struct fz_wire fz_wire_of(struct fz_str message)
{
	return (struct fz_wire){ .c = fz_cursor_of(message.p, message.n) };
}

/* The next field; false at the end, and where it makes no sense (then c.bad is set). */
bool fz_wire_next(struct fz_wire *w);
/* The current field is one of repeated numbers: all that it holds, packed or one alone. Calls
 * add(arg, number) for each; false when it makes no sense. */
bool fz_wire_numbers(struct fz_wire *w, void (*add)(void *arg, uint64_t number), void *arg);

void fz_wire_put(struct fz_buf *b, uint32_t field, uint64_t v); /* 0 is left out */
void fz_wire_put_bytes(struct fz_buf *b, uint32_t field, struct fz_str s);
void fz_wire_put_message(struct fz_buf *b, uint32_t field, const struct fz_buf *message);
