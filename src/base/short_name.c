/* SPDX-License-Identifier: MIT */
/* Omits template arguments from names of functions; see short_name.h. */
#include "base/short_name.h"

#include <ctype.h>

/* Bytes of an operator's name at i, as in "operator<<", which has no bracket; else 0. */
static size_t operator_bytes(struct fz_str name, size_t i)
{
	static const char word[] = "operator";
	struct fz_str s = { name.p + i, name.n - i };
	size_t n = strlen(word);

	if (!fz_str_starts(s, word) ||
	    (i && (isalnum((uint8_t)name.p[i - 1]) || name.p[i - 1] == '_')))
		return 0;
	while (n < s.n && memchr("<>=-", s.p[n], 4))
		n++;
	return n;
}

/* Bytes up to the end of the bracket at the start of s; all if it has no end. */
static size_t bracket_bytes(struct fz_str s)
{
	struct fz_str inside = { s.p + 1, s.n - 1 };

	return FZ_MIN(fz_str_find_outside(inside, ">") + 2, s.n);
}

/* Is it more than a word, as in "array<int>"? Python's <locals> has no information. */
static bool is_long(struct fz_str bracket)
{
	return memchr(bracket.p + 1, '<', bracket.n - 1) || memchr(bracket.p, ',', bracket.n) ||
	       memmem(bracket.p, bracket.n, "::", 2) || fz_str_eq(bracket, FZ_STR("<locals>"));
}

/* Appends an ellipsis for long brackets, except one at the start if `keep` is set: add_bracket. */
static void shorten(struct fz_str name, const char *ellipsis, bool keep, struct fz_buf *out);

/* Rust's bracket of a method, at the start of its name, with last components of types and traits:
 * "<Vec<…> as Drop>". */
static void add_bracket(struct fz_str bracket, const char *ellipsis, struct fz_buf *out)
{
	static const char as[] = " as ";
	struct fz_str rest = { bracket.p + 1, bracket.n - 2 };
	size_t n = fz_str_find_outside(rest, as), end = n + strlen(as);
	struct fz_str type = { rest.p, n };
	fz_buf_char(out, '<');
	shorten(fz_str_component(type), ellipsis, false, out);
	if (n < rest.n) {
		struct fz_str trait = { rest.p + end, rest.n - end };
		fz_buf_str(out, as);
		shorten(fz_str_component(trait), ellipsis, false, out);
	}
	fz_buf_char(out, '>');
}

static void shorten(struct fz_str name, const char *ellipsis, bool keep, struct fz_buf *out)
{
	for (size_t i = 0; i < name.n;) {
		struct fz_str rest = { name.p + i, name.n - i };
		size_t n = operator_bytes(name, i);
		if (!n && *rest.p == '<')
			n = bracket_bytes(rest);
		struct fz_str part = { rest.p, FZ_MAX(n, 1) };
		if (*rest.p != '<' || part.p[part.n - 1] != '>' || !is_long(part))
			fz_buf_add(out, part.p, part.n);
		else if (i == 0 && keep)
			add_bracket(part, ellipsis, out);
		else
			fz_buf_printf(out, "<%s>", ellipsis);
		i += part.n;
	}
}

void fz_short_name(struct fz_str name, const char *ellipsis, struct fz_buf *out)
{
	shorten(name, ellipsis, true, out);
}
