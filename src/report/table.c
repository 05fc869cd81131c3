/* SPDX-License-Identifier: MIT */
/* Cutting and wrapping by columns, not bytes; see table.h. */
#include "table.h"

#include <stdio.h>

enum { TEXT_MAX = 4096 };

unsigned fz_table_rest(const struct fz_style *style, unsigned used)
{
	enum { LEAST = 16 };

	return style->columns >= used + LEAST ? style->columns - used : LEAST;
}

const char *fz_table_ellipsis(const struct fz_style *style)
{
	return style->ascii ? "..." : "\xe2\x80\xa6";
}

static unsigned ellipsis_columns(const struct fz_style *style)
{
	return style->ascii ? 3 : 1;
}

/* Make text printable; in ASCII mode other characters become "?", so that their width is known.
 * `out` has TEXT_MAX bytes. */
static struct fz_str printable(struct fz_str text, const struct fz_style *style, char *out)
{
	size_t n = fz_str_printable(text.p, text.n, out, TEXT_MAX);
	size_t w = 0;

	if (!style->ascii)
		return (struct fz_str){ out, n };
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)out[i] & 0xc0) != 0x80)
			out[w++] = (unsigned char)out[i] < 0x80 ? out[i] : '?';
	return (struct fz_str){ out, w };
}

static size_t char_bytes(struct fz_str s, size_t at)
{
	uint32_t code;
	size_t n = fz_utf8_decode(s.p + at, s.n - at, &code);

	return n ? n : 1;
}

/* The longest prefix of printable text that fits into `columns`. */
static struct fz_str prefix_that_fits(struct fz_str s, unsigned columns)
{
	unsigned used = 0;
	size_t at = 0;

	while (at < s.n) {
		size_t n = char_bytes(s, at);
		used += (unsigned)fz_str_columns((struct fz_str){ s.p + at, n });
		if (used > columns)
			break;
		at += n;
	}
	return (struct fz_str){ s.p, at };
}

static struct fz_str suffix_that_fits(struct fz_str s, unsigned columns)
{
	size_t at = 0;

	while (at < s.n && fz_str_columns((struct fz_str){ s.p + at, s.n - at }) > columns)
		at += char_bytes(s, at);
	return (struct fz_str){ s.p + at, s.n - at };
}

static void add_front(struct fz_str s, unsigned columns, const struct fz_style *style,
		      struct fz_buf *out)
{
	if (fz_str_columns(s) <= columns) {
		fz_buf_add(out, s.p, s.n);
		return;
	}
	unsigned dots = FZ_MIN(ellipsis_columns(style), columns);
	struct fz_str kept = prefix_that_fits(s, columns - dots);
	fz_buf_add(out, kept.p, kept.n);
	fz_buf_str(out, fz_table_ellipsis(style));
}

static void add_back(struct fz_str s, unsigned columns, const struct fz_style *style,
		     struct fz_buf *out)
{
	if (fz_str_columns(s) <= columns) {
		fz_buf_add(out, s.p, s.n);
		return;
	}
	struct fz_str kept =
		suffix_that_fits(s, columns - FZ_MIN(ellipsis_columns(style), columns));
	fz_buf_str(out, fz_table_ellipsis(style));
	fz_buf_add(out, kept.p, kept.n);
}

void fz_table_text(struct fz_str text, unsigned columns, const struct fz_style *style,
		   struct fz_buf *out)
{
	char safe[TEXT_MAX];

	add_front(printable(text, style, safe), columns, style, out);
}

void fz_table_path(struct fz_str text, unsigned columns, const struct fz_style *style,
		   struct fz_buf *out)
{
	char safe[TEXT_MAX];

	add_back(printable(text, style, safe), columns, style, out);
}

enum { FILE_MIN_COLUMNS = 8 };

/* Append "file:line"; `path` is already printable. */
static void add_place(struct fz_str path, const struct fz_source_place *place, unsigned columns,
		      const struct fz_style *style, struct fz_buf *out)
{
	char line[16] = "";

	if (place->line > 0)
		snprintf(line, sizeof(line), ":%d", (int)place->line);
	bool linked = fz_source_link_begin(place, style, out);
	add_back(path, columns - FZ_MIN((unsigned)strlen(line), columns), style, out);
	fz_buf_str(out, line);
	if (linked)
		fz_source_link_end(out);
}

void fz_table_function(struct fz_str name, const struct fz_source_place *place, unsigned columns,
		       const struct fz_style *style, struct fz_buf *out)
{
	char safe_name[TEXT_MAX], safe_file[TEXT_MAX], line[16];
	struct fz_str shown = printable(name, style, safe_name);
	struct fz_str path = printable(place->file, style, safe_file);
	unsigned width = (unsigned)fz_str_columns(shown) + (unsigned)strlen(" ()");
	int behind = place->line > 0 ? snprintf(line, sizeof(line), ":%d", (int)place->line) : 0;

	if (path.n == 0 || fz_str_eq(place->file, FZ_STR("~")) ||
	    width + (unsigned)behind + FILE_MIN_COLUMNS > columns) {
		add_front(shown, columns, style, out);
		return;
	}
	fz_buf_add(out, shown.p, shown.n);
	fz_buf_str(out, " (");
	add_place(path, place, columns - width, style, out);
	fz_buf_char(out, ')');
}

void fz_table_place(const struct fz_source_place *place, unsigned columns,
		    const struct fz_style *style, struct fz_buf *out)
{
	char safe[TEXT_MAX];

	add_place(printable(place->file, style, safe), place, columns, style, out);
}

/* Number of bytes up to the next possible line break: a number stays with its unit, "82.8 %". */
static size_t unbroken(const char *p)
{
	size_t n = strcspn(p, " ");

	while (n && p[n] == ' ' && p[n - 1] >= '0' && p[n - 1] <= '9') {
		size_t unit = strcspn(p + n + 1, " ,;.)]");

		if (unit == 0 || unit > 2)
			break;
		n += 1 + strcspn(p + n + 1, " ");
	}
	return n;
}

void fz_table_wrap(const char *text, unsigned indent, const struct fz_style *style,
		   struct fz_buf *out)
{
	unsigned at = 0;
	const char *p = text;

	while (*p) {
		size_t n = unbroken(p);
		unsigned width = (unsigned)fz_str_columns((struct fz_str){ p, n });
		if (at && at + 1 + width > style->columns) {
			fz_buf_printf(out, "\n%*s", (int)indent, "");
			at = indent;
		} else if (p != text) {
			fz_buf_char(out, ' ');
			at++;
		}
		fz_buf_add(out, p, n);
		at += width;
		p += n;
		p += *p == ' ';
	}
	fz_buf_char(out, '\n');
}

const char *fz_table_metric_title(const char *metric)
{
	static const struct {
		const char *name, *title;
	} titles[] = {
		{ "wall", "wall time" },
		{ "cpu", "CPU time" },
		{ "samples", "samples" },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(titles); i++)
		if (strcmp(titles[i].name, metric) == 0)
			return titles[i].title;
	return metric;
}

void fz_table_add_metric(const char *metric, const char *unit, struct fz_buf *out)
{
	bool counted = strcmp(unit, "count") == 0;

	if (counted || strcmp(metric, unit) != 0)
		fz_buf_printf(out, " %s%s", counted ? "" : "of ", fz_table_metric_title(metric));
}
