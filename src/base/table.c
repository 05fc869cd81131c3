/* SPDX-License-Identifier: MIT */
/* Tables, and cutting and wrapping text by columns, not bytes; see table.h. */
#include "table.h"

#include "short_name.h"

enum { TEXT_MAX = 4096 };

unsigned fz_table_rest(const struct fz_style *style, unsigned used)
{
	return FZ_MAX(style->columns, used + FZ_TABLE_REST_MIN) - used;
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
	out[w] = '\0';
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

void fz_table_name(struct fz_str name, unsigned columns, const struct fz_style *style,
		   struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	char safe[TEXT_MAX];
	struct fz_str shown = printable(name, style, safe);

	if (fz_str_columns(shown) > columns) {
		fz_short_name(shown, fz_table_ellipsis(style), &text);
		shown = fz_buf_view(&text);
	}
	if (fz_str_columns(shown) <= columns) {
		fz_buf_add(out, shown.p, shown.n);
		return;
	}
	struct fz_str last = fz_str_component(shown);
	unsigned room = columns - FZ_MIN(ellipsis_columns(style), columns);
	struct fz_str kept = suffix_that_fits(shown, room);
	bool starts_in_bracket = kept.n && kept.p[strcspn(kept.p, "<>")] == '>';
	if (fz_str_columns(last) > room) {
		add_front(last, columns, style, out);
		return;
	}
	kept = starts_in_bracket ? last : kept;
	fz_buf_str(out, fz_table_ellipsis(style));
	fz_buf_add(out, kept.p, kept.n);
}

/* The end of a path that tells what it names: many packages have an __init__.py, so theirs includes
 * the folder. */
static struct fz_str telling_end(struct fz_str path)
{
	struct fz_str base = fz_path_base(path);

	if (base.n == path.n ||
	    (!fz_str_eq(base, FZ_STR("__init__.py")) && !fz_str_eq(base, FZ_STR("__main__.py"))))
		return base;
	size_t folder = fz_path_base((struct fz_str){ path.p, path.n - base.n - 1 }).n;
	size_t n = folder + 1 + base.n;
	return (struct fz_str){ path.p + path.n - n, n };
}

void fz_table_path(struct fz_str text, unsigned columns, const struct fz_style *style,
		   struct fz_buf *out)
{
	char safe[TEXT_MAX];
	struct fz_str path = printable(text, style, safe), end = telling_end(path);
	bool has_room = fz_str_columns(end) + ellipsis_columns(style) <= columns;

	if (has_room || end.n == fz_path_base(path).n)
		add_back(path, columns, style, out);
	else
		add_front(end, columns, style, out);
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

void fz_table_wrap_at(const char *text, unsigned at, unsigned indent, unsigned columns,
		      struct fz_buf *out)
{
	const char *p = text;

	while (*p) {
		size_t n = unbroken(p);
		unsigned width = (unsigned)fz_str_columns((struct fz_str){ p, n });
		if (p != text && at + 1 + width > columns) {
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

void fz_table_wrap(const char *text, const struct fz_style *style, struct fz_buf *out)
{
	fz_table_wrap_at(text, 0, 2, style->columns, out);
}

/* ---- tables ---- */

void fz_table_init(struct fz_table *t, const struct fz_column *columns, size_t n,
		   const struct fz_style *style, struct fz_buf *out)
{
	fz_assert(n && n <= FZ_TABLE_COLUMNS_MAX);
	*t = (struct fz_table){ .columns = columns,
				.n = (unsigned)n,
				.style = style,
				.out = out,
				.title_hue = FZ_HUE_DIM };
	for (size_t i = 0; i < n; i++) {
		t->titles[i] = columns[i].title;
		t->width[i] = columns[i].min;
	}
}

static bool is_hidden(const struct fz_table *t, unsigned column)
{
	return t->hidden >> column & 1;
}

/* Width of a line up to the content of that column. */
static unsigned columns_before(const struct fz_table *t, unsigned column)
{
	unsigned before = 0;

	for (unsigned i = 0; i < column; i++)
		before += is_hidden(t, i) ? 0 : t->columns[i].gap + t->width[i];
	return before + t->columns[column].gap;
}

static void add_blanks(struct fz_table *t)
{
	for (; t->blanks; t->blanks--)
		fz_buf_char(t->out, ' ');
}

/* Ends the current colour before the blanks and starts the new one after them. */
static void set_hue(struct fz_table *t, enum fz_hue hue)
{
	if (hue == t->shown_hue)
		return;
	fz_buf_str(t->out, fz_hue_off(t->style, t->shown_hue));
	add_blanks(t);
	fz_buf_str(t->out, fz_hue_on(t->style, hue));
	t->shown_hue = hue;
}

/* Widen a column for text of that many columns. */
static void widen(struct fz_table *t, unsigned column, unsigned used)
{
	unsigned max = t->columns[column].max;

	t->width[column] = FZ_MAX(t->width[column], max ? FZ_MIN(used, max) : used);
}

void fz_table_str(struct fz_table *t, struct fz_str text)
{
	char safe[TEXT_MAX];
	struct fz_str shown = printable(text, t->style, safe);
	unsigned used = (unsigned)fz_str_columns(shown), at = t->at++;

	fz_assert(at < t->n);
	const struct fz_column *c = &t->columns[at];
	if (is_hidden(t, at))
		return;
	if (t->measuring) {
		widen(t, at, used);
		return;
	}
	unsigned most = c->fit ? t->width[at] : c->max ? c->max : used;
	unsigned free = t->width[at] - FZ_MIN(t->width[at], used);
	t->blanks += c->gap;
	if (shown.n)
		set_hue(t, t->hue);
	t->blanks += c->align == FZ_RIGHT ? free : 0;
	if (shown.n) {
		add_blanks(t);
		add_front(shown, most, t->style, t->out);
	}
	t->blanks += c->align == FZ_RIGHT ? 0 : free;
}

void fz_table_cell(struct fz_table *t, const char *text)
{
	fz_table_str(t, fz_str_of(text));
}

void fz_table_count(struct fz_table *t, int64_t n)
{
	char text[FZ_NUMBER_SIZE];

	fz_table_cell(t, fz_format_count(n, text));
}

void fz_table_value(struct fz_table *t, double v, const char *unit)
{
	char text[FZ_NUMBER_SIZE];

	fz_table_cell(t, fz_format_value(v, unit, text));
}

void fz_table_percent(struct fz_table *t, double fraction)
{
	char text[FZ_NUMBER_SIZE];

	fz_table_cell(t, fz_format_percent(fraction, text));
}

unsigned fz_table_room(const struct fz_table *t)
{
	return fz_table_rest(t->style, columns_before(t, t->n - 1));
}

unsigned fz_table_last(struct fz_table *t)
{
	fz_assert(t->at < t->n);
	while (t->at + 1 < t->n)
		fz_table_cell(t, "");
	t->blanks += t->columns[t->at++].gap;
	set_hue(t, FZ_HUE_NONE);
	add_blanks(t);
	return fz_table_room(t);
}

static void end_line(struct fz_table *t)
{
	t->blanks = 0;
	set_hue(t, FZ_HUE_NONE);
	while (t->out->n && t->out->p[t->out->n - 1] == ' ')
		t->out->n--;
	fz_buf_char(t->out, '\n');
}

unsigned fz_table_below(struct fz_table *t, unsigned column)
{
	fz_assert(column < t->n);
	unsigned before = columns_before(t, column);

	end_line(t);
	t->blanks = before;
	add_blanks(t);
	return fz_table_rest(t->style, before);
}

void fz_table_end(struct fz_table *t)
{
	end_line(t);
	t->at = 0;
	t->hue = FZ_HUE_NONE;
}

void fz_table_more(struct fz_table *t, size_t n, const char *noun)
{
	char count[FZ_NUMBER_SIZE];

	if (!n)
		return;
	fz_table_last(t);
	fz_buf_printf(t->out, "and %s more", fz_format_count((int64_t)n, count));
	if (noun)
		fz_buf_printf(t->out, " %s%s", noun, n == 1 ? "" : "s");
	fz_table_end(t);
}

/* Narrows the columns marked `fit` to what the others leave, which includes the last one's
 * minimum. */
static void fit(struct fz_table *t)
{
	unsigned last = t->n - 1, others = columns_before(t, last) + t->columns[last].min;

	for (unsigned i = 0; i < last; i++) {
		if (!t->columns[i].fit || is_hidden(t, i))
			continue;
		unsigned rest = others - t->width[i];
		rest = t->style->columns > rest ? t->style->columns - rest : 0;
		t->width[i] = FZ_MIN(t->width[i], FZ_MAX(rest, t->columns[i].min));
	}
}

void fz_table_measure(struct fz_table *t, size_t n, fz_table_row_fn *row, const void *arg)
{
	fz_auto(fz_buf_release) struct fz_buf scratch = { 0 };
	struct fz_buf *out = t->out;

	t->measuring = true;
	t->out = &scratch;
	for (unsigned i = 0; i < t->n; i++)
		if (t->titles[i])
			widen(t, i, (unsigned)fz_str_columns(fz_str_of(t->titles[i])));
	for (size_t i = 0; i < n; i++) {
		row(t, i, arg);
		fz_table_end(t);
		fz_buf_reset(&scratch);
	}
	t->measuring = false;
	t->out = out;
	fit(t);
}

void fz_table_titles(struct fz_table *t)
{
	fz_buf_str(t->out, fz_hue_on(t->style, t->title_hue));
	t->hue = t->shown_hue = t->title_hue;
	for (unsigned i = 0; i < t->n; i++)
		fz_table_cell(t, t->titles[i] ? t->titles[i] : "");
	fz_table_end(t);
}

void fz_table_rows(struct fz_table *t, size_t n, fz_table_row_fn *row, const void *arg)
{
	for (size_t i = 0; i < n; i++) {
		row(t, i, arg);
		fz_table_end(t);
	}
}

void fz_table_print(struct fz_table *t, size_t n, fz_table_row_fn *row, const void *arg)
{
	fz_table_measure(t, n, row, arg);
	fz_table_titles(t);
	fz_table_rows(t, n, row, arg);
}
