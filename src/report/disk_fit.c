/* SPDX-License-Identifier: MIT */
/* Checks whether a source file matches a recording; see disk_fit.h.
 *
 * A table of line starts finds lines; the outline finds definitions. The innermost definition
 * around a line and those that enclose it must have the function's name: the qualified name if the
 * recording has one ("Parser.feed"), else its last part.
 */
#include "report/disk_fit.h"

#include <ctype.h>

void fz_disk_text_init(struct fz_disk_text *t, struct fz_str text, bool is_python)
{
	uint32_t cap = 0;

	*t = (struct fz_disk_text){ .text = text, .is_python = is_python };
	for (size_t at = 0; at < text.n;) {
		const char *end = memchr(text.p + at, '\n', text.n - at);
		fz_push(t->lines, t->line_n, cap, (uint32_t)at);
		at = end ? (size_t)(end - text.p) + 1 : text.n;
	}
	fz_grow(t->lines, t->line_n, cap);
	t->lines[t->line_n] = (uint32_t)text.n;
	if (is_python)
		fz_outline_init(&t->outline, text);
}

void fz_disk_text_release(struct fz_disk_text *t)
{
	free(t->lines);
	if (t->is_python)
		fz_outline_release(&t->outline);
	*t = (struct fz_disk_text){ 0 };
}

/* The line without its newline. */
static struct fz_str line_at(const struct fz_disk_text *t, int32_t line)
{
	uint32_t from = t->lines[line - 1], to = t->lines[line];

	while (to > from && (t->text.p[to - 1] == '\n' || t->text.p[to - 1] == '\r'))
		to--;
	return (struct fz_str){ t->text.p + from, to - from };
}

/* ---- functions ---- */

/* The qualified name without trailing lambdas, comprehensions and annotations, whose names are not
 * in the source: "f" for "f.<locals>.<lambda>". */
static struct fz_str written_part(struct fz_str name)
{
	static const char locals[] = ".<locals>";

	for (;;) {
		const char *dot = name.n ? memrchr(name.p, '.', name.n) : NULL;
		size_t at = dot ? (size_t)(dot - name.p) : 0;
		struct fz_str tail = { name.p + at + (dot != NULL), name.n - at - (dot != NULL) };
		if (!fz_str_starts(tail, "<") && !fz_str_eq(tail, FZ_STR("__annotate__")))
			return name;
		name.n = at;
		if (fz_str_ends(name, locals))
			name.n -= strlen(locals);
	}
}

static bool is_defined_around(const struct fz_disk_text *t, struct fz_str name, int32_t line)
{
	bool qualified = memchr(name.p, '.', name.n) != NULL;
	uint32_t at = fz_outline_at(&t->outline, line);

	for (; at != FZ_NONE; at = t->outline.definitions[at].parent) {
		const struct fz_definition *d = &t->outline.definitions[at];
		if (fz_str_eq(d->name, name) || (!qualified && fz_str_eq(d->tail, name)))
			return true;
	}
	return false;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (c & 0x80);
}

/* Is the name a word of the line, but no "def" or "class"? Type aliases and bounds of type
 * variables have code, too. */
static bool is_named_on_line(const struct fz_disk_text *t, struct fz_str name, int32_t line)
{
	struct fz_str tail = fz_outline_tail(name), text = line_at(t, line);

	for (uint32_t i = 0; i < t->outline.n; i++)
		if (fz_str_eq(t->outline.definitions[i].tail, tail))
			return false;
	for (const char *at = text.p, *end = text.p + text.n;
	     (at = memmem(at, (size_t)(end - at), tail.p, tail.n)); at++)
		if ((at == text.p || !is_word(at[-1])) &&
		    (at + tail.n == end || !is_word(at[tail.n])))
			return true;
	return false;
}

static bool fits_function(const struct fz_disk_text *t, struct fz_str name, int32_t line,
			  struct fz_buf *why)
{
	struct fz_str written = written_part(name);

	if (!t->is_python || !written.n || is_defined_around(t, written, line) ||
	    is_named_on_line(t, written, line))
		return true;
	fz_buf_printf(why, "line %d is not in %.*s", line, (int)name.n, name.p);
	return false;
}

/* ---- columns ---- */

/* Can the character precede or follow a piece of an f-string? */
static bool bounds_piece(char c)
{
	return c && strchr("\"'{}:!=", c);
}

/* Can code begin, or end, before that byte of a line? */
static bool is_edge(struct fz_str line, int32_t column, bool begins)
{
	size_t at = (size_t)column;

	if (at > line.n)
		return false;
	char before = at ? line.p[at - 1] : 0, behind = at < line.n ? line.p[at] : 0;
	if (bounds_piece(begins ? before : behind))
		return true;
	char code = begins ? behind : before;
	return code && !isspace((unsigned char)code) && !(is_word(before) && is_word(behind));
}

/* Does the frame have usable columns? Before 3.12 those inside f-strings referred to another
 * text. */
static bool has_columns(const struct fz_profile *p, const struct fz_frame *f)
{
	const uint8_t *v = p->recording.python;

	if (v[0] != 3 || v[1] < 12 || f->column < 0 || f->end_column < 0 || f->end_line < f->line)
		return false;
	return f->end_line != f->line || f->end_column > f->column;
}

static bool fits_columns(const struct fz_disk_text *t, const struct fz_frame *f, struct fz_buf *why)
{
	if (is_edge(line_at(t, f->line), f->column, true) &&
	    is_edge(line_at(t, f->end_line), f->end_column, false))
		return true;
	fz_buf_printf(why, "line %d differs", f->line);
	return false;
}

static bool is_there(const struct fz_disk_text *t, int32_t line, struct fz_buf *why)
{
	if (line <= 0 || (uint32_t)line <= t->line_n)
		return true;
	fz_buf_printf(why, "it has %u lines, not %d", t->line_n, line);
	return false;
}

bool fz_disk_text_fits(const struct fz_disk_text *t, const struct fz_profile *p,
		       const struct fz_frame *frame, struct fz_buf *why)
{
	const struct fz_function *f = &p->functions[frame->function];
	struct fz_str name = fz_profile_text(p, f->name);
	int32_t lines[] = { f->first_line, frame->line };

	for (size_t i = 0; i < FZ_ARRAY_LEN(lines); i++) {
		if (!is_there(t, lines[i], why))
			return false;
		if (lines[i] > 0 && !fits_function(t, name, lines[i], why))
			return false;
	}
	if (frame->line <= 0 || !t->is_python)
		return true;
	if (!is_there(t, frame->end_line, why))
		return false;
	if (!fz_str_trimmed(line_at(t, frame->line)).n) {
		fz_buf_printf(why, "line %d is blank", frame->line);
		return false;
	}
	return !has_columns(p, frame) || fits_columns(t, frame, why);
}
