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

/* Not a character of XML 1.0, or one that changes how the text around it is shown. */
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

/* Never markup in the middle of a line, between those neighbours: "test_it.py::test_parse" stays
 * readable also where the text is printed as it is. */
static bool is_plain(unsigned char before, unsigned char c, unsigned char after)
{
	if (c == '_')
		return is_word(before) && is_word(after);
	if (c == ':')
		return before == ':' || after == ':';
	return c >= 0x80 || is_word(c) || memchr(" ./,%()'-+;", c, 11);
}

void fz_markdown_escape(struct fz_buf *out, struct fz_str s)
{
	for (size_t i = 0; i < s.n; i++) {
		const unsigned char *c = (const unsigned char *)s.p + i;
		unsigned char after = i + 1 < s.n ? c[1] : ' ';
		if (*c == ' ' && after == '%') /* a narrow column must not part them */
			fz_buf_str(out, "&nbsp;");
		else if (is_plain(i ? c[-1] : ' ', *c, after))
			fz_buf_char(out, (char)*c);
		else if (*c == '@') /* nobody is called, also where references become text first */
			fz_buf_str(out, "@<!-- -->");
		else
			fz_buf_printf(out, "&#%u;", *c);
	}
}
