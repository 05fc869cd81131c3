/* SPDX-License-Identifier: MIT */
/* Escaping for HTML, XML and Markdown; see markup.h. */
#include "markup.h"

static const char *entity_of(uint32_t code)
{
	switch (code) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

/* Is it invalid in XML 1.0, or does it change the direction of the text around it? */
static bool is_forbidden(uint32_t code)
{
	return (code < 0x20 && code != '\t' && code != '\n') || (code >= 0x7f && code < 0xa0) ||
	       (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
	       code == 0xfffe || code == 0xffff;
}

void fz_html_escape(struct fz_buf *b, struct fz_str s)
{
	for (size_t i = 0, n; i < s.n; i += n) {
		uint32_t code;
		n = fz_utf8_decode(s.p + i, s.n - i, &code);
		const char *entity = n ? entity_of(code) : NULL;
		if (n == 0 || is_forbidden(code))
			fz_buf_str(b, "\xef\xbf\xbd");
		else if (entity)
			fz_buf_str(b, entity);
		else
			fz_buf_add(b, s.p + i, n);
		n = FZ_MAX(n, 1);
	}
}

void fz_html_name(struct fz_buf *b, struct fz_str name)
{
	for (size_t i = 0, begin = 0; i < name.n; i++) {
		bool ends = i + 1 == name.n;
		bool breaks = name.p[i] == '/' || name.p[i] == ':';

		if (!ends && (!breaks || name.p[i + 1] == name.p[i]))
			continue;
		fz_html_escape(b, (struct fz_str){ name.p + begin, i + 1 - begin });
		if (!ends)
			fz_buf_str(b, "<wbr>");
		begin = i + 1;
	}
}

void fz_html_write(struct fz_output *out, struct fz_str s)
{
	fz_auto(fz_buf_release) struct fz_buf b = { 0 };

	fz_html_escape(&b, s);
	fz_output_add(out, b.p ? b.p : "", b.n);
}

/* ---- Markdown ---- */

static bool is_word(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Is a character never markup between these neighbours, in the middle of a line? Keeps
 * "test_it.py::test_parse" readable as plain text. */
static bool is_plain(unsigned char before, unsigned char c, unsigned char after)
{
	if (c == '_')
		return is_word(before) && is_word(after);
	if (c == ':')
		return before == ':' || after == ':';
	return c >= 0x80 || is_word(c) || memchr(" ./,%()'-+;", c, 11);
}

/* Escape s[from..to). */
static void escape_part(struct fz_buf *out, struct fz_str s, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const unsigned char *c = (const unsigned char *)s.p + i;
		unsigned char after = i + 1 < s.n ? c[1] : ' ';
		if (*c == ' ' && after == '%') /* do not break before % */
			fz_buf_str(out, "&nbsp;");
		else if (is_plain(i ? c[-1] : ' ', *c, after))
			fz_buf_char(out, (char)*c);
		else if (*c == '@') /* no mention, even if references are decoded first */
			fz_buf_str(out, "@<!-- -->");
		else
			fz_buf_printf(out, "&#%u;", *c);
	}
}

void fz_markdown_escape(struct fz_buf *out, struct fz_str s)
{
	escape_part(out, s, 0, s.n);
}

void fz_markdown_value(struct fz_buf *out, const char *text)
{
	for (const char *end; *text; text = end) {
		end = strchrnul(text, ' ');
		fz_markdown_escape(out, (struct fz_str){ text, (size_t)(end - text) });
		if (*end++ == '\0')
			return;
		fz_buf_str(out, "&nbsp;");
	}
}

/* PIECE_MAX: longest unbroken piece of a name, which leaves room for three other columns at 390 px.
 * PIECE_MIN: shortest piece. PIECE_LONG: longest piece to avoid a break inside a word. */
enum { PIECE_MAX = 8, PIECE_MIN = 4, PIECE_LONG = 9 };

/* May a name be broken before p[at]? After a separator, before a capital letter of CamelCase, and
 * after three dots, which are three bytes. */
static bool may_break(const char *p, size_t at)
{
	char before = p[at - 1], c = p[at];

	return (strchr("/_.:-", before) && before != c) ||
	       (c >= 'A' && c <= 'Z' && before >= 'a' && before <= 'z') ||
	       (at >= 3 && memcmp(p + at - 3, "…", 3) == 0);
}

static bool is_inside_character(struct fz_str s, size_t at)
{
	return ((unsigned char)s.p[at] & 0xc0) == 0x80;
}

/* End of the piece that begins at `from`: the last break within PIECE_MAX, else the first within
 * PIECE_LONG, else where both pieces have PIECE_MIN. */
static size_t piece_end(struct fz_str s, size_t from)
{
	size_t end = from + PIECE_MAX;

	if (s.n <= end)
		return s.n;
	end = FZ_MIN(end, s.n - PIECE_MIN);
	for (size_t i = end; i >= from + PIECE_MIN; i--)
		if (may_break(s.p, i))
			return i;
	if (s.n - from <= PIECE_LONG)
		return s.n;
	for (size_t i = end + 1; i <= from + PIECE_LONG; i++)
		if (may_break(s.p, i))
			return i;
	while (end < s.n && is_inside_character(s, end))
		end++;
	return end;
}

void fz_markdown_code(struct fz_buf *out, struct fz_str s)
{
	fz_buf_str(out, "<code>");
	for (size_t from = 0, end; from < s.n; from = end) {
		end = piece_end(s, from);
		if (from)
			fz_buf_str(out, "<wbr>");
		escape_part(out, s, from, end);
	}
	fz_buf_str(out, "</code>");
}

void fz_markdown_place(struct fz_buf *out, struct fz_str path, int line, const char *page,
		       struct fz_str linked)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	bool is_link = page && linked.n;

	fz_buf_add(&text, path.p, path.n);
	if (line > 0)
		fz_buf_printf(&text, ":%d", line);
	fz_buf_str(out, is_link ? "<sub>[" : "<sub>");
	fz_markdown_code(out, fz_buf_view(&text));
	if (is_link) {
		fz_buf_printf(out, "](%s", page);
		fz_buf_uri_part(out, linked);
		if (line > 0)
			fz_buf_printf(out, "#L%d", line);
		fz_buf_char(out, ')');
	}
	fz_buf_str(out, "</sub>");
}
