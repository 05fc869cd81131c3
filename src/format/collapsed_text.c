/* SPDX-License-Identifier: MIT */
/* Parses lines and frames of folded text; see collapsed_text.h. */
#include "collapsed_text.h"

#include "foreign.h"

#include <ctype.h>
#include <math.h>

enum { SNIFF_LINES_MAX = 32, EXPONENT_MAX = 300 };

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Parses the power of ten of "1.5e-07". */
static bool parse_exponent(struct fz_str s, int *ret)
{
	bool negative = fz_str_starts(s, "-");
	uint64_t v;

	if (negative || fz_str_starts(s, "+"))
		s = (struct fz_str){ s.p + 1, s.n - 1 };
	if (!fz_parse_u64(s, EXPONENT_MAX, &v))
		return false;
	*ret = negative ? -(int)v : (int)v;
	return true;
}

/* Parses "2.5e+09", as printed by awk, Perl and Python for large or small numbers; `e` points to
 * the letter. */
static bool parse_scientific(struct fz_str s, const char *e, uint64_t *ret_whole,
			     double *ret_fraction)
{
	struct fz_str digits = { s.p, (size_t)(e - s.p) };
	struct fz_str power = { e + 1, s.n - digits.n - 1 };
	double v;
	int exponent;

	if (!isdigit((unsigned char)s.p[0]) || !fz_parse_decimal(digits, &v) ||
	    !parse_exponent(power, &exponent))
		return false;
	v = exponent < 0 ? v / pow(10, -exponent) : v * pow(10, exponent);
	if (!(v < (double)FZ_COLLAPSED_VALUE_MAX))
		return false;
	*ret_whole = (uint64_t)v;
	*ret_fraction = v - (double)*ret_whole;
	return true;
}

static bool parse_number(struct fz_str s, uint64_t *ret_whole, double *ret_fraction)
{
	const char *e = memchr(s.p, 'e', s.n);

	e = e ? e : memchr(s.p, 'E', s.n);
	if (e)
		return parse_scientific(s, e, ret_whole, ret_fraction);
	const char *dot = memchr(s.p, '.', s.n);
	size_t n = dot ? (size_t)(dot - s.p) : s.n;
	struct fz_str whole = { s.p, n };

	*ret_fraction = 0;
	if (dot) {
		struct fz_str tail = { dot, s.n - n };
		if (tail.n > 1 && !fz_parse_decimal(tail, ret_fraction))
			return false;
	}
	return fz_parse_u64(whole, FZ_COLLAPSED_VALUE_MAX, ret_whole);
}

/* "us,idle,bytes" */
static bool parse_full(struct fz_str s, struct fz_collapsed_value *ret)
{
	const char *first = memchr(s.p, ',', s.n);
	const char *end = s.p + s.n;

	if (!first || end - first < 4 || (first[1] != '0' && first[1] != '1') || first[2] != ',')
		return false;
	const char *number = first + 3;
	bool negative = *number == '-';
	uint64_t bytes;
	number += negative;
	if (!fz_parse_u64((struct fz_str){ s.p, (size_t)(first - s.p) }, FZ_COLLAPSED_VALUE_MAX,
			  &ret->whole) ||
	    !fz_parse_u64((struct fz_str){ number, (size_t)(end - number) }, FZ_COLLAPSED_VALUE_MAX,
			  &bytes))
		return false;
	ret->fraction = 0;
	ret->is_full = true;
	ret->idle = first[1] == '1';
	ret->bytes = negative ? -(int64_t)bytes : (int64_t)bytes;
	return true;
}

/* Strips the last word and the spaces before it if it is a number. */
bool fz_collapsed_take_value(struct fz_str *line, struct fz_collapsed_value *ret)
{
	size_t end = line->n, at;

	while (end && is_blank(line->p[end - 1]))
		end--;
	for (at = end; at && !is_blank(line->p[at - 1]); at--)
		;
	struct fz_str word = { line->p + at, end - at };
	struct fz_collapsed_value v = { 0 };
	while (at && is_blank(line->p[at - 1]))
		at--;
	if (!at || !word.n)
		return false;
	if (!parse_number(word, &v.whole, &v.fraction) && !parse_full(word, &v))
		return false;
	line->n = at;
	*ret = v;
	return true;
}

struct fz_str fz_collapsed_trimmed(struct fz_str s)
{
	while (s.n && is_blank(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

bool fz_collapsed_all_digits(struct fz_str s)
{
	uint64_t v;

	return fz_parse_u64(s, INT32_MAX, &v);
}

static struct fz_str before(struct fz_str s, const char *p)
{
	return (struct fz_str){ s.p, (size_t)(p - s.p) };
}

static struct fz_str after(struct fz_str s, const char *p)
{
	return (struct fz_str){ p + 1, s.n - (size_t)(p + 1 - s.p) };
}

static const char *last_char(struct fz_str s, char c)
{
	return s.n ? memrchr(s.p, c, s.n) : NULL;
}

static int32_t line_number(struct fz_str s)
{
	uint64_t v = 0;

	fz_parse_u64(s, INT32_MAX, &v);
	return v ? (int32_t)v : FZ_NO_LINE;
}

/* Length of a leading "C:", which is part of a Windows path. */
static size_t drive_length(struct fz_str s)
{
	bool drive = s.n > 2 && isalpha((unsigned char)s.p[0]) && s.p[1] == ':' &&
		     (s.p[2] == '\\' || s.p[2] == '/');

	return drive ? 2 : 0;
}

/* file:function:line */
static bool split_colon(struct fz_str s, bool files_have_colons, struct fz_collapsed_parts *ret)
{
	const char *colon = last_char(s, ':');

	if (!colon || !fz_collapsed_all_digits(after(s, colon)))
		return false;
	struct fz_str rest = before(s, colon);
	size_t drive = drive_length(rest);
	const char *middle = files_have_colons ? last_char(rest, ':')
					       : memchr(rest.p + drive, ':', rest.n - drive);
	if (!middle || middle < rest.p + drive)
		return false;
	ret->line = line_number(after(s, colon));
	ret->file = before(rest, middle);
	ret->name = after(rest, middle);
	return true;
}

/* function (file:line) or function (file.ext) */
static bool split_paren(struct fz_str s, struct fz_collapsed_parts *ret)
{
	if (!fz_str_ends(s, ")"))
		return false;
	s.n--;
	const char *open = last_char(s, '(');
	if (!open || open == s.p || open[-1] != ' ')
		return false;
	struct fz_str inside = after(s, open);
	const char *colon = last_char(inside, ':'), *dot = last_char(inside, '.');
	ret->name = before(s, open - 1);
	if (colon && fz_collapsed_all_digits(after(inside, colon))) {
		ret->file = before(inside, colon);
		ret->line = line_number(after(inside, colon));
		return ret->file.n > 0;
	}
	ret->file = inside;
	ret->line = FZ_NO_LINE;
	return dot && inside.p + inside.n - dot > 1 && !memchr(inside.p, ' ', inside.n);
}

bool fz_collapsed_is_bracketed(struct fz_str s)
{
	return (fz_str_starts(s, "<") && fz_str_ends(s, ">")) ||
	       (fz_str_starts(s, "[") && fz_str_ends(s, "]"));
}

bool fz_collapsed_split(enum fz_collapsed_dialect dialect, struct fz_str text,
			struct fz_collapsed_parts *ret)
{
	switch (dialect) {
	case FZ_COLLAPSED_COLON:
	case FZ_COLLAPSED_AUSTIN:
		return split_colon(text, dialect == FZ_COLLAPSED_AUSTIN, ret);
	case FZ_COLLAPSED_PAREN:
		return split_paren(text, ret);
	case FZ_COLLAPSED_NAMES:
		break;
	}
	return false;
}

/* "tid:N" (Tachyon), "P1" then "T2" or "T0:2" (austin), "thread (0x7f..)" (py-spy). */
bool fz_collapsed_is_thread(struct fz_str s, bool root, struct fz_thread *t)
{
	uint64_t v;

	if (root && fz_str_starts(s, "tid:"))
		return fz_parse_u64((struct fz_str){ s.p + 4, s.n - 4 }, UINT64_MAX, &t->tid);
	if (s.n < 2)
		return false;
	struct fz_str number = { s.p + 1, s.n - 1 };
	if (root && s.p[0] == 'P')
		return fz_parse_u64(number, UINT64_MAX, &t->pid);
	if (root || s.p[0] != 'T')
		return false;
	const char *colon = memchr(number.p, ':', number.n);
	if (colon) {
		if (!fz_parse_u64(before(number, colon), UINT32_MAX, &v))
			return false;
		t->interp = (uint32_t)v;
		number = after(number, colon);
	}
	if (number.n && number.p[0] == 'x')
		number = (struct fz_str){ number.p + 1, number.n - 1 };
	return fz_parse_u64(number, UINT64_MAX, &t->tid);
}

static int line_score(struct fz_str line)
{
	struct fz_collapsed_value v;
	bool has_frames = memchr(line.p, ';', line.n);

	if (line.p[0] == '#')
		return 0;
	if (!fz_collapsed_take_value(&line, &v))
		return -1;
	return has_frames ? 2 : 1;
}

static bool is_number(struct fz_str s)
{
	uint64_t whole;
	double fraction;

	return s.n && parse_number(s, &whole, &fraction);
}

/* Whether a line looks like a log ("2026-01-31 ...") or a sentence: a space after each semicolon,
 * or spaces without semicolons. */
static bool is_prose(struct fz_str line)
{
	const char *semicolon = memchr(line.p, ';', line.n);
	const char *end = line.p + line.n;
	struct fz_collapsed_value v;

	if (line.n > 10 && line.p[4] == '-' && line.p[7] == '-' &&
	    is_number((struct fz_str){ line.p, 4 }) && is_number((struct fz_str){ line.p + 5, 2 }))
		return true;
	if (!semicolon)
		return fz_collapsed_take_value(&line, &v) && memchr(line.p, ' ', line.n);
	for (; semicolon && semicolon + 1 < end;
	     semicolon = memchr(semicolon + 1, ';', (size_t)(end - semicolon - 1)))
		if (semicolon[1] != ' ')
			return false;
	return true;
}

/* Whether a line is a row of a table: any of its cells is a number. */
static bool has_number_cell(struct fz_str line)
{
	while (line.n) {
		const char *semicolon = memchr(line.p, ';', line.n);
		size_t n = semicolon ? (size_t)(semicolon - line.p) : line.n;
		if (is_number((struct fz_str){ line.p, n }))
			return true;
		n += semicolon != NULL;
		line.p += n;
		line.n -= n;
	}
	return false;
}

/* Whether a line is a stack without a number, and not source code. */
static bool is_bare_stack(struct fz_str line)
{
	const char *semicolon = memchr(line.p, ';', line.n);

	return semicolon && semicolon > line.p && !strchr(";{} \t", line.p[line.n - 1]) &&
	       !is_blank(line.p[0]) && !has_number_cell(line);
}

/* Recognizes text whose lines mostly end in a number. Other text formats are more specific. */
int fz_collapsed_sniff(const uint8_t *head, size_t n, const char *name)
{
	struct fz_str rest = { (const char *)head, n };
	int good = 0, bad = 0, frames = 0, bare = 0, prose = 0;

	(void)name;
	if (memchr(head, '\0', n) || fz_foreign_is_markup(head, n))
		return 0;
	if (fz_str_starts(rest, "# austin: "))
		return 80;
	for (int i = 0; rest.n && i < SNIFF_LINES_MAX; i++) {
		const char *nl = memchr(rest.p, '\n', rest.n);
		size_t len = nl ? (size_t)(nl - rest.p) : rest.n;
		struct fz_str line = { rest.p, len && rest.p[len - 1] == '\r' ? len - 1 : len };
		/* The buffer may cut the last line, and a long first line may fill it. */
		bool cut = !nl && n >= 4096;
		int score = line.n && !cut ? line_score(line) : 0;
		good += score > 0;
		frames += score > 1;
		bad += score < 0;
		bare += score < 0 && is_bare_stack(line);
		prose += score > 0 && is_prose(line);
		if (cut && i == 0 && memchr(line.p, ';', line.n))
			return 20;
		len += nl != NULL;
		rest.p += len;
		rest.n -= len;
	}
	if (good == 0)
		return bare == bad && bare > 1 ? 5 : 0;
	if (prose == good || (!frames && 2 * prose >= good))
		return 0;
	if (good <= bad)
		return frames ? 10 : 0;
	return frames ? 40 : 15;
}
