/* SPDX-License-Identifier: MIT */
/* Growing byte buffers. A buffer with a limit does not grow beyond it and records the failure. */
#pragma once

#include "base.h"
#include "str.h"

struct fz_buf {
	char *p; /* NUL-terminated unless NULL; the NUL is not counted */
	size_t n;
	size_t cap;
	size_t limit;  /* 0: none */
	bool overflow; /* data was dropped because of the limit */
};

void fz_buf_release(struct fz_buf *b);
void fz_buf_reset(struct fz_buf *b);
/* Reserves n more bytes; returns their address, or NULL if that exceeds the limit. */
char *fz_buf_reserve(struct fz_buf *b, size_t n);
void fz_buf_add(struct fz_buf *b, const void *data, size_t n);
void fz_buf_str(struct fz_buf *b, const char *s);
void fz_buf_char(struct fz_buf *b, char c);
FZ_PRINTF(2, 3)
void fz_buf_printf(struct fz_buf *b, const char *fmt, ...);
/* Appends a word for a shell, quoted if necessary. */
void fz_buf_shell_word(struct fz_buf *b, const char *word);
/* Appends the text that fz_buf_shell_word() turned into this word. False if the word is none of its
 * results; then appends an unspecified part of the text. */
bool fz_buf_shell_unquote(struct fz_buf *b, struct fz_str word);
/* Appends percent-encoded text; letters, digits and "-._~/" are not encoded. */
void fz_buf_uri_part(struct fz_buf *b, struct fz_str part);
/* Appends two lower-case hexadecimal digits per byte. */
void fz_buf_hex(struct fz_buf *b, const void *p, size_t n);
/* Little-endian fixed width, LEB128, and zigzag LEB128. */
void fz_buf_u8(struct fz_buf *b, uint8_t v);
void fz_buf_u32(struct fz_buf *b, uint32_t v);
void fz_buf_u64(struct fz_buf *b, uint64_t v);
void fz_buf_varint(struct fz_buf *b, uint64_t v);
void fz_buf_zigzag(struct fz_buf *b, int64_t v);
/* Returns the NUL-terminated content, which the caller frees, and clears the buffer. */
char *fz_buf_take(struct fz_buf *b);

static inline struct fz_str fz_buf_view(const struct fz_buf *b)
{
	return (struct fz_str){ b->p ? b->p : "", b->n };
}

/* A cursor for reading bytes, which never reads past the end. The first read that does not fit sets
 * `bad`, and all later reads return 0. */
struct fz_cursor {
	const uint8_t *p;
	const uint8_t *end;
	bool bad;
};

static inline struct fz_cursor fz_cursor_of(const void *p, size_t n)
{
	return (struct fz_cursor){ p, (const uint8_t *)p + n, false };
}

static inline size_t fz_cursor_left(const struct fz_cursor *c)
{
	return (size_t)(c->end - c->p);
}

/* Reads n bytes; NULL, and sets bad, if there are fewer. */
const uint8_t *fz_cursor_bytes(struct fz_cursor *c, size_t n);
uint8_t fz_cursor_u8(struct fz_cursor *c);
uint32_t fz_cursor_u32(struct fz_cursor *c);
uint64_t fz_cursor_u64(struct fz_cursor *c);
/* LEB128 of at most 64 bits; longer ones are bad. */
uint64_t fz_cursor_varint(struct fz_cursor *c);
int64_t fz_cursor_zigzag(struct fz_cursor *c);
/* Reads a varint of at most max; otherwise returns 0 and sets bad. */
uint32_t fz_cursor_varint32(struct fz_cursor *c, uint32_t max);
