/* SPDX-License-Identifier: MIT */
/* Decode UTF-16; characters beyond the first 65,536 are pairs of units. See utf16.h. */
#include "base/utf16.h"

#include "base/str.h"

enum { REPLACEMENT = 0xfffd };

enum fz_utf16 fz_utf16_probe(const uint8_t *p, size_t n, size_t *ret_mark)
{
	*ret_mark = 0;
	if (n < 4)
		return FZ_UTF16_NOT;
	bool little = p[0] == 0xff && p[1] == 0xfe && (p[2] || p[3]);
	bool big = p[0] == 0xfe && p[1] == 0xff;
	if (little || big) {
		*ret_mark = 2;
		return little ? FZ_UTF16_LITTLE : FZ_UTF16_BIG;
	}
	if ((p[0] == '{' || p[0] == '[') && !p[1] && p[2] && !p[3])
		return FZ_UTF16_LITTLE;
	if (!p[0] && (p[1] == '{' || p[1] == '[') && !p[2] && p[3])
		return FZ_UTF16_BIG;
	return FZ_UTF16_NOT;
}

static uint32_t unit_at(enum fz_utf16 order, const uint8_t *p)
{
	return order == FZ_UTF16_LITTLE ? p[0] | (uint32_t)p[1] << 8 : p[1] | (uint32_t)p[0] << 8;
}

size_t fz_utf16_decode(enum fz_utf16 order, const uint8_t *p, size_t n, bool last, char *out,
		       size_t *ret_n)
{
	size_t at = 0, w = 0;

	while (n - at >= 2) {
		uint32_t c = unit_at(order, p + at);
		bool high = c >= 0xd800 && c < 0xdc00;
		if (high && n - at < 4 && !last)
			break;
		uint32_t low = high && n - at >= 4 ? unit_at(order, p + at + 2) : 0;
		at += 2;
		if (low >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
			at += 2;
		}
		w += fz_utf8_encode(c, out + w);
	}
	if (last && at < n) {
		w += fz_utf8_encode(REPLACEMENT, out + w);
		at = n;
	}
	*ret_n = w;
	return at;
}
