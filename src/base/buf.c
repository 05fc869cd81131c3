/* SPDX-License-Identifier: MIT */
/* Growing byte buffers and bounded cursors; see buf.h. */
#include "buf.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

void fz_buf_release(struct fz_buf *b)
{
	free(b->p);
	*b = (struct fz_buf){ .limit = b->limit };
}

void fz_buf_reset(struct fz_buf *b)
{
	b->n = 0;
	b->overflow = false;
	if (b->p)
		b->p[0] = '\0';
}

char *fz_buf_reserve(struct fz_buf *b, size_t n)
{
	size_t need;

	if (__builtin_add_overflow(b->n, n, &need) || need == SIZE_MAX ||
	    (b->limit && need > b->limit)) {
		b->overflow = true;
		return NULL;
	}
	if (need + 1 > b->cap) {
		b->cap = FZ_MAX(need + 1, b->cap + b->cap / 2 + 64);
		b->p = fz_realloc(b->p, b->cap);
	}
	return b->p + b->n;
}

void fz_buf_add(struct fz_buf *b, const void *data, size_t n)
{
	char *room = fz_buf_reserve(b, n);

	if (!room)
		return;
	if (n)
		memcpy(room, data, n);
	b->n += n;
	b->p[b->n] = '\0';
}

void fz_buf_str(struct fz_buf *b, const char *s)
{
	fz_buf_add(b, s, strlen(s));
}

void fz_buf_char(struct fz_buf *b, char c)
{
	char *room = fz_buf_reserve(b, 1);

	if (!room)
		return;
	room[0] = c;
	room[1] = '\0';
	b->n++;
}

void fz_buf_printf(struct fz_buf *b, const char *fmt, ...)
{
	char small[256];
	va_list ap, again;

	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	fz_assert(n >= 0);
	if ((size_t)n < sizeof(small)) {
		fz_buf_add(b, small, (size_t)n);
	} else if (fz_buf_reserve(b, (size_t)n)) {
		vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
		b->n += (size_t)n;
	}
	va_end(again);
}

static const char unquoted[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			       "0123456789_@%+=:,./-";

static const char escaped_quote[] = "'\\''";

void fz_buf_shell_word(struct fz_buf *b, const char *word)
{
	if (*word && word[strspn(word, unquoted)] == 0) {
		fz_buf_str(b, word);
		return;
	}
	fz_buf_char(b, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			fz_buf_str(b, escaped_quote);
		else
			fz_buf_char(b, *word);
	}
	fz_buf_char(b, '\'');
}

bool fz_buf_shell_unquote(struct fz_buf *b, struct fz_str word)
{
	if (!word.n || *word.p != '\'') {
		size_t n = 0;
		while (n < word.n && word.p[n] && strchr(unquoted, word.p[n]))
			fz_buf_char(b, word.p[n++]);
		return n && n == word.n;
	}
	for (size_t i = 1; i < word.n; i++) {
		struct fz_str rest = { word.p + i, word.n - i };
		bool quote = fz_str_starts(rest, escaped_quote);

		if (*rest.p == '\'' && !quote)
			return rest.n == 1;
		fz_buf_char(b, *rest.p);
		i += quote ? strlen(escaped_quote) - 1 : 0;
	}
	return false;
}

void fz_buf_uri_part(struct fz_buf *b, struct fz_str part)
{
	for (size_t i = 0; i < part.n; i++) {
		unsigned char c = (unsigned char)part.p[i];
		if (c < 0x80 && (isalnum(c) || (c && strchr("/-._~", c))))
			fz_buf_char(b, (char)c);
		else
			fz_buf_printf(b, "%%%02X", c);
	}
}

void fz_buf_hex(struct fz_buf *b, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fz_buf_printf(b, "%02x", ((const uint8_t *)p)[i]);
}

void fz_buf_u8(struct fz_buf *b, uint8_t v)
{
	fz_buf_char(b, (char)v);
}

void fz_buf_u32(struct fz_buf *b, uint32_t v)
{
	uint8_t bytes[4];

	for (int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(v >> (8 * i));
	fz_buf_add(b, bytes, sizeof(bytes));
}

void fz_buf_u64(struct fz_buf *b, uint64_t v)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(v >> (8 * i));
	fz_buf_add(b, bytes, sizeof(bytes));
}

void fz_buf_varint(struct fz_buf *b, uint64_t v)
{
	uint8_t bytes[10];
	size_t n = 0;

	if (v < 0x80) { /* the common case */
		fz_buf_u8(b, (uint8_t)v);
		return;
	}
	for (; v >= 0x80; v >>= 7)
		bytes[n++] = (uint8_t)(v | 0x80);
	bytes[n++] = (uint8_t)v;
	fz_buf_add(b, bytes, n);
}

void fz_buf_zigzag(struct fz_buf *b, int64_t v)
{
	fz_buf_varint(b, ((uint64_t)v << 1) ^ (uint64_t)(v >> 63));
}

char *fz_buf_take(struct fz_buf *b)
{
	char *p = b->p ? b->p : fz_strdup("");

	*b = (struct fz_buf){ .limit = b->limit };
	return p;
}

const uint8_t *fz_cursor_bytes(struct fz_cursor *c, size_t n)
{
	if (c->bad || n > fz_cursor_left(c)) {
		c->bad = true;
		return NULL;
	}
	const uint8_t *p = c->p;
	c->p += n;
	return p;
}

uint8_t fz_cursor_u8(struct fz_cursor *c)
{
	const uint8_t *p = fz_cursor_bytes(c, 1);

	return p ? *p : 0;
}

static uint64_t little_endian(struct fz_cursor *c, size_t n)
{
	const uint8_t *p = fz_cursor_bytes(c, n);
	uint64_t v = 0;

	for (size_t i = 0; p && i < n; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

uint32_t fz_cursor_u32(struct fz_cursor *c)
{
	return (uint32_t)little_endian(c, 4);
}

uint64_t fz_cursor_u64(struct fz_cursor *c)
{
	return little_endian(c, 8);
}

uint64_t fz_cursor_varint(struct fz_cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64 && !c->bad; shift += 7) {
		if (c->p == c->end)
			break;
		uint8_t byte = *c->p++;
		if (shift == 63 && byte > 1)
			break;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	c->bad = true;
	return 0;
}

int64_t fz_cursor_zigzag(struct fz_cursor *c)
{
	uint64_t v = fz_cursor_varint(c);

	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

uint32_t fz_cursor_varint32(struct fz_cursor *c, uint32_t max)
{
	uint64_t v = fz_cursor_varint(c);

	if (v > max) {
		c->bad = true;
		return 0;
	}
	return (uint32_t)v;
}
