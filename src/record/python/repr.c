/* SPDX-License-Identifier: MIT */
/* Python's repr of numbers and text; repr.h has the contract. An int is converted 30 bits at a time
 * into digits of 10^9. A float is written with the fewest digits that read back as the same value.
 */
#include "repr.h"

#include <math.h>
#include <stdio.h>

/* ---- numbers ---- */

enum { BILLION = 1000000000, BILLION_DIGITS = 9 };

size_t fz_py_repr_int(const uint32_t *digits, size_t n, bool negative, size_t most,
		      struct fz_buf *out)
{
	uint32_t parts[FZ_PY_INT_DIGITS_MAX * 10 / 9 + 2];
	size_t part_n = 0;

	fz_assert(n <= FZ_PY_INT_DIGITS_MAX);
	for (size_t i = n; i-- > 0;) {
		uint64_t carry = digits[i];
		for (size_t k = 0; k < part_n; k++) {
			carry += (uint64_t)parts[k] << FZ_PY_INT_DIGIT_BITS;
			parts[k] = (uint32_t)(carry % BILLION);
			carry /= BILLION;
		}
		for (; carry; carry /= BILLION)
			parts[part_n++] = (uint32_t)(carry % BILLION);
	}
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	fz_buf_printf(&text, "%u", part_n ? parts[part_n - 1] : 0);
	for (size_t k = part_n ? part_n - 1 : 0; k-- > 0;)
		fz_buf_printf(&text, "%0*u", BILLION_DIGITS, parts[k]);
	fz_buf_str(out, negative ? "-" : "");
	fz_buf_add(out, text.p, FZ_MIN(text.n, most));
	if (text.n > most)
		fz_buf_str(out, "...");
	return text.n;
}

/* Floats are denser below a power of two than above. There the nearest number with 16 digits may
 * read back as another float, while the next higher one reads back correctly. Try that. */
static bool round_up(char text[40], double v, int digits)
{
	char up[40];
	size_t at = strcspn(text, "e");

	if (digits != 15 || text[at - 1] == '9')
		return false;
	memcpy(up, text, sizeof(up));
	up[at - 1]++;
	if (strtod(up, NULL) != v)
		return false;
	memcpy(text, up, sizeof(up));
	return true;
}

void fz_py_repr_float(double v, struct fz_buf *out)
{
	enum { PLAIN_MIN = -4, PLAIN_MAX = 16 }; /* exponents that are written without one */
	char text[40];
	int digits = 0;

	if (!isfinite(v)) {
		fz_buf_str(out, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
		return;
	}
	do
		snprintf(text, sizeof(text), "%.*e", digits, v);
	while (strtod(text, NULL) != v && !round_up(text, v, digits) && ++digits < 17);
	const char *e = strchr(text, 'e');
	int exponent = (int)strtol(e + 1, NULL, 10);
	if (exponent < PLAIN_MIN || exponent >= PLAIN_MAX) {
		fz_buf_str(out, text);
		return;
	}
	snprintf(text, sizeof(text), "%.*f", FZ_MAX(digits - exponent, 1), v);
	fz_buf_str(out, text);
}

/* ---- text ---- */

/* Ranges that str.isprintable() rejects: control characters, spaces other than the plain one,
 * characters that change the direction or form of text, surrogates, private use. */
static const struct {
	uint32_t first, last;
} unprintable[] = {
	{ 0, 0x1f },          { 0x7f, 0xa0 },       { 0xad, 0xad },
	{ 0x600, 0x605 },     { 0x61c, 0x61c },     { 0x6dd, 0x6dd },
	{ 0x70f, 0x70f },     { 0x1680, 0x1680 },   { 0x180e, 0x180e },
	{ 0x2000, 0x200f },   { 0x2028, 0x202f },   { 0x205f, 0x206f },
	{ 0x3000, 0x3000 },   { 0xd800, 0xf8ff },   { 0xfeff, 0xfeff },
	{ 0xfff0, 0xfffb },   { 0xfffe, 0xffff },   { 0x1fffe, 0x1ffff },
	{ 0x2fffe, 0x2ffff }, { 0xe0000, 0xe00ff }, { 0xf0000, UINT32_MAX },
};

static bool is_unprintable(uint32_t c)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(unprintable) && c >= unprintable[i].first; i++)
		if (c <= unprintable[i].last)
			return true;
	return false;
}

static void add_character(uint32_t c, char quote, bool bytes, struct fz_buf *out)
{
	static const char named[][2] = {
		{ '\n', 'n' }, { '\r', 'r' }, { '\t', 't' }, { '\\', '\\' }
	};
	char utf8[4];

	for (size_t i = 0; i < FZ_ARRAY_LEN(named); i++)
		if (c == (uint8_t)named[i][0]) {
			fz_buf_printf(out, "\\%c", named[i][1]);
			return;
		}
	if (c == (uint8_t)quote)
		fz_buf_printf(out, "\\%c", quote);
	else if (!is_unprintable(c) && (!bytes || c < 0x80))
		fz_buf_add(out, utf8, fz_utf8_encode(c, utf8));
	else
		fz_buf_printf(out, c <= 0xff ? "\\x%02x" : c <= 0xffff ? "\\u%04x" : "\\U%08x", c);
}

static uint32_t character(const void *data, size_t i, unsigned kind)
{
	uint32_t c = 0;

	memcpy(&c, (const char *)data + i * kind, kind);
	return c;
}

static void add_quoted(const void *data, size_t n, unsigned kind, bool bytes, struct fz_buf *out)
{
	bool single = false, twice = false;

	for (size_t i = 0; i < n; i++) {
		single |= character(data, i, kind) == '\'';
		twice |= character(data, i, kind) == '"';
	}
	char quote = single && !twice ? '"' : '\'';
	fz_buf_char(out, quote);
	for (size_t i = 0; i < n; i++)
		add_character(character(data, i, kind), quote, bytes, out);
	fz_buf_char(out, quote);
}

void fz_py_repr_text(const void *data, size_t n, unsigned kind, bool cut, struct fz_buf *out)
{
	add_quoted(data, n, kind, false, out);
	fz_buf_str(out, cut ? "..." : "");
}

void fz_py_repr_bytes(const uint8_t *data, size_t n, bool cut, struct fz_buf *out)
{
	fz_buf_char(out, 'b');
	add_quoted(data, n, 1, true, out);
	fz_buf_str(out, cut ? "..." : "");
}
