/* SPDX-License-Identifier: MIT */
/* Untrusted text; see str.h. */
#include "str.h"

#include <ctype.h>
#include <stdio.h>
#include <wchar.h>

bool fz_str_starts(struct fz_str s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.n >= n && memcmp(s.p, prefix, n) == 0;
}

bool fz_str_ends(struct fz_str s, const char *suffix)
{
	size_t n = strlen(suffix);

	return s.n >= n && memcmp(s.p + s.n - n, suffix, n) == 0;
}

bool fz_str_matches(struct fz_str s, const regex_t *regex)
{
	regmatch_t m = { 0, (regoff_t)s.n };

	return regexec(regex, s.p, 1, &m, REG_STARTEND) == 0;
}

size_t fz_str_shared(struct fz_str a, struct fz_str b)
{
	size_t n = 0, most = FZ_MIN(a.n, b.n);

	while (n < most && a.p[n] == b.p[n])
		n++;
	return n;
}

int fz_str_cmp(struct fz_str a, struct fz_str b)
{
	size_t n = FZ_MIN(a.n, b.n);

	return (n ? memcmp(a.p, b.p, n) : 0) ?: FZ_CMP(a.n, b.n);
}

struct fz_str fz_str_trimmed(struct fz_str s)
{
	while (s.n && isspace((uint8_t)s.p[0]))
		s.p++, s.n--;
	while (s.n && isspace((uint8_t)s.p[s.n - 1]))
		s.n--;
	return s;
}

struct fz_str fz_str_take_word(struct fz_str *s)
{
	size_t n = 0;

	*s = fz_str_trimmed(*s);
	while (n < s->n && !isspace((uint8_t)s->p[n]))
		n++;
	struct fz_str word = { s->p, n };
	s->p += n;
	s->n -= n;
	return word;
}

struct fz_str fz_str_take_item(struct fz_str *s, const char *separator)
{
	size_t n = strlen(separator);
	const char *end = s->n ? memmem(s->p, s->n, separator, n) : NULL;
	struct fz_str item = { s->p, end ? (size_t)(end - s->p) : s->n };
	size_t taken = item.n + (end ? n : 0);

	s->p += taken;
	s->n -= taken;
	return item;
}

struct fz_str fz_str_take_line(struct fz_str *s)
{
	return fz_str_take_item(s, "\n");
}

/* The ">" of "->" is no bracket. */
static bool ends_arrow(struct fz_str s, size_t i)
{
	return s.p[i] == '>' && i && s.p[i - 1] == '-';
}

/* Number of brackets that are open after the byte at i. */
static size_t open_after(struct fz_str s, size_t i, size_t open)
{
	char c = s.p[i];

	if (c == '(' || c == '<' || c == '[' || c == '{')
		return open + 1;
	bool closes = c == ')' || c == ']' || c == '}' || (c == '>' && !ends_arrow(s, i));
	return closes && open ? open - 1 : open;
}

size_t fz_str_find_outside(struct fz_str s, const char *text)
{
	size_t open = 0;

	for (size_t i = 0; i < s.n; i++) {
		struct fz_str rest = { s.p + i, s.n - i };
		if (!open && !ends_arrow(s, i) && fz_str_starts(rest, text))
			return i;
		open = open_after(s, i, open);
	}
	return s.n;
}

struct fz_str fz_str_component(struct fz_str name)
{
	size_t from = 0, open = 0;

	for (size_t i = 0; i + 1 < name.n; i++) {
		char c = name.p[i];
		open = open_after(name, i, open);
		if (!open && (c == '.' || c == ':' || c == '/' || c == '#'))
			from = i + 1;
	}
	return (struct fz_str){ name.p + from, name.n - from };
}

bool fz_parse_u64(struct fz_str s, uint64_t max, uint64_t *ret)
{
	uint64_t v = 0;

	if (s.n == 0)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s.p[i] - '0'), &v))
			return false;
	}
	if (v > max)
		return false;
	*ret = v;
	return true;
}

size_t fz_parse_hex(struct fz_str s, uint64_t *ret)
{
	uint64_t v = 0;
	size_t n = 0;

	for (; n < s.n && isxdigit((unsigned char)s.p[n]); n++) {
		char c = s.p[n];
		int digit = c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
		v = v >> 60 ? UINT64_MAX : v << 4 | (uint64_t)digit;
	}
	if (ret)
		*ret = v;
	return n;
}

bool fz_parse_decimal(struct fz_str s, double *ret)
{
	double v = 0, unit = 1;
	bool digits = false, fraction = false;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '.' && !fraction) {
			fraction = true;
			continue;
		}
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		digits = true;
		v = v * 10 + (s.p[i] - '0');
		if (fraction)
			unit *= 10;
	}
	if (!digits || !(v < 1e300) || !(unit < 1e300))
		return false;
	*ret = v / unit;
	return true;
}

bool fz_parse_ago(struct fz_str s, int64_t *ret_seconds)
{
	static const struct {
		char letter;
		int64_t seconds;
	} units[] = { { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	enum { MOST = 100000 };
	uint64_t number;

	for (size_t i = 0; s.n > 1 && i < FZ_ARRAY_LEN(units); i++) {
		if (s.p[s.n - 1] != units[i].letter ||
		    !fz_parse_u64((struct fz_str){ s.p, s.n - 1 }, MOST, &number) || !number)
			continue;
		*ret_seconds = (int64_t)number * units[i].seconds;
		return true;
	}
	return false;
}

size_t fz_utf8_decode(const char *text, size_t n, uint32_t *ret_code)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const uint8_t *p = (const uint8_t *)text;

	if (n == 0)
		return 0;
	if (p[0] < 0x80) {
		*ret_code = p[0];
		return 1;
	}
	size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || n < len)
		return 0;
	uint32_t code = p[0] & (0xff >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < smallest[len] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*ret_code = code;
	return len;
}

size_t fz_utf8_encode(uint32_t c, char out[4])
{
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		c = 0xfffd;
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

bool fz_utf8_valid(struct fz_str s)
{
	uint32_t code;

	for (size_t i = 0, n; i < s.n; i += n) {
		n = fz_utf8_decode(s.p + i, s.n - i, &code);
		if (n == 0)
			return false;
	}
	return true;
}

/* Bidirectional controls can make a terminal reorder text. */
static bool is_unprintable(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200e && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

static int escape_bytes(const char *in, size_t len, char *out, size_t room)
{
	if (len == 1 && (*in == '\n' || *in == '\t'))
		return snprintf(out, room, "\\%c", *in == '\n' ? 'n' : 't');
	int total = 0;
	for (size_t i = 0; i < len; i++)
		total += snprintf(out + total, room - total, "\\x%02x", (uint8_t)in[i]);
	return total;
}

size_t fz_str_printable(const char *in, size_t n, char *out, size_t out_size)
{
	size_t w = 0;

	fz_assert(out_size > 0);
	for (size_t i = 0, len; i < n; i += len) {
		uint32_t code = 0;
		char piece[24];
		size_t piece_len;

		len = fz_utf8_decode(in + i, n - i, &code);
		if (len == 0 || is_unprintable(code)) {
			len = FZ_MAX(len, 1);
			piece_len = escape_bytes(in + i, len, piece, sizeof(piece));
		} else {
			memcpy(piece, in + i, len);
			piece_len = len;
		}
		if (w + piece_len >= out_size)
			break;
		memcpy(out + w, piece, piece_len);
		w += piece_len;
	}
	out[w] = '\0';
	return w;
}

size_t fz_str_columns(struct fz_str s)
{
	size_t columns = 0;
	uint32_t code;

	for (size_t i = 0, n; i < s.n; i += n) {
		n = fz_utf8_decode(s.p + i, s.n - i, &code);
		int w = n ? wcwidth((wchar_t)code) : 1;
		columns += w < 0 ? 1 : (size_t)w;
		n = FZ_MAX(n, 1);
	}
	return columns;
}

static bool is_windows_path(struct fz_str path)
{
	return fz_str_starts(path, "\\\\") || (path.n > 2 && isalpha((unsigned char)path.p[0]) &&
					       path.p[1] == ':' && path.p[2] == '\\');
}

char *fz_path_slashed(struct fz_str path)
{
	char *copy = is_windows_path(path) ? fz_strndup(path.p, path.n) : NULL;

	for (size_t i = 0; copy && i < path.n; i++)
		if (copy[i] == '\\')
			copy[i] = '/';
	return copy;
}

/* Length of a path up to and including its last separator; 0 if there is none. With `inside`, a
 * separator at the end does not count. */
static size_t folder_length(struct fz_str path, bool inside)
{
	char other = is_windows_path(path) ? '\\' : '/';

	for (size_t i = path.n; i > 0; i--)
		if ((path.p[i - 1] == '/' || path.p[i - 1] == other) && (!inside || i < path.n))
			return i;
	return 0;
}

struct fz_str fz_path_base(struct fz_str path)
{
	size_t n = folder_length(path, true);

	return (struct fz_str){ path.p + n, path.n - n };
}

struct fz_str fz_path_folder(struct fz_str path)
{
	size_t n = folder_length(path, false);

	return n ? (struct fz_str){ path.p, n } : FZ_STR("./");
}
