/* SPDX-License-Identifier: MIT */
/* Reads and writes protocol buffers field by field, without generated code.
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
	struct fz_str bytes; /* other types */
};

static inline struct fz_wire fz_wire_of(struct fz_str message)
{
	return (struct fz_wire){ .c = fz_cursor_of(message.p, message.n) };
}

/* Reads the next field; false at the end, and if invalid (then c.bad is set). */
bool fz_wire_next(struct fz_wire *w);
/* A field that occurs at most once, and where to store its value. */
struct fz_wire_field {
	uint32_t field;
	uint64_t *number;
	struct fz_str *bytes;
};
#define FZ_WIRE_FIELDS(...)            \
	(const struct fz_wire_field[]) \
	{                              \
		__VA_ARGS__,           \
		{                      \
			.field = 0     \
		}                      \
	}
/* Reads these fields of a message; targets of absent fields and of fields with another type are
 * unchanged. Returns whether the message is valid. */
bool fz_wire_read(struct fz_str message, const struct fz_wire_field *fields);
/* Stores the current field if it is in the list. */
void fz_wire_take(const struct fz_wire *w, const struct fz_wire_field *fields);
/* Calls add(arg, number) for each number in the current field of repeated numbers, packed or
 * single; sets c.bad if invalid. */
void fz_wire_numbers(struct fz_wire *w, void (*add)(void *arg, uint64_t number), void *arg);

void fz_wire_put(struct fz_buf *b, uint32_t field, uint64_t v); /* omits 0 */
void fz_wire_put_bytes(struct fz_buf *b, uint32_t field, struct fz_str s);
void fz_wire_put_message(struct fz_buf *b, uint32_t field, const struct fz_buf *message);
