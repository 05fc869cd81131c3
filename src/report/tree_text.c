/* SPDX-License-Identifier: MIT */
/* A call tree in the terminal, of a profile or of a diff.
 *
 *      total     share       self  call tree
 *     2.41 s   96.4 %              main                                app.py:80
 *     1.23 s   49.1 %     1.10 s  |- parse                             app.py:32
 *     1.18 s   47.2 %             `- dumps            lib/python3/json/encoder.py
 *     1.15 s   46.0 %     0.80 s     `- [12 frames hidden] json
 *
 *     before      after     change           call tree
 *     1.23 s     1.80 s    +570 ms ^ slower  |- parse, self +570 ms    app.py:32
 *
 * The rows are those of tree_view.h. A row's total is its self cost plus the totals of the rows
 * below it.
 */
#include "report/text.h"

#include "profile/cost_words.h"
#include "report/findings.h"
#include "report/table.h"
#include "report/tree_view.h"

#include <stdio.h>

enum { VALUE_COLUMNS = 9, LEVEL_COLUMNS = 3, PLACE_MIN = 12, PLACE_ROOM = 30 };

static const struct {
	const char *text; /* NULL: from cost_words.h */
	const char *glyph, *ascii;
	enum fz_hue hue;
} words[] = {
	[FZ_TREE_WORD_NONE] = { "", " ", " ", FZ_HUE_NONE },
	[FZ_TREE_WORD_SLOWER] = { NULL, "\u25b2", "^", FZ_HUE_RED },
	[FZ_TREE_WORD_FASTER] = { NULL, "\u25bc", "v", FZ_HUE_BLUE },
	[FZ_TREE_WORD_SAME] = { "same", "=", "=", FZ_HUE_DIM },
	[FZ_TREE_WORD_UNSURE] = { "unsure", "?", "?", FZ_HUE_DIM },
	[FZ_TREE_WORD_NEW] = { "new", "+", "+", FZ_HUE_PURPLE },
	[FZ_TREE_WORD_SLOWER_IN_SUM] = { "in sum", "\u25b2", "^", FZ_HUE_RED },
	[FZ_TREE_WORD_FASTER_IN_SUM] = { "in sum", "\u25bc", "v", FZ_HUE_BLUE },
	[FZ_TREE_WORD_GONE] = { "gone", "\u2212", "-", FZ_HUE_PURPLE },
};

struct view {
	const struct fz_tree_view *t;
	const struct fz_style *style;
	unsigned level; /* columns per level of guides */
	struct fz_buf *out;
};

/* ---- a row ---- */

struct line {
	uint32_t row;
	struct fz_buf guides, label;
	unsigned columns; /* of both */
};

/* Guide of one level: the row's own or a caller's, and whether more siblings follow. */
static const char *guide_of(const struct view *v, bool own, bool more)
{
	static const char *const guides[2][2][2] = {
		{ { "   ", "\u2502  " }, { "\u2514\u2500 ", "\u251c\u2500 " } },
		{ { "   ", "|  " }, { "`- ", "|- " } },
	};
	static const char *const narrow[2][2][2] = {
		{ { " ", "\u2502" }, { "\u2514", "\u251c" } },
		{ { " ", "|" }, { "`", "|" } },
	};

	return (v->level == LEVEL_COLUMNS ? guides : narrow)[v->style->ascii][own][more];
}

/* Append the guides of a row; without room for all levels, those of the outermost callers are left
 * out. */
static void add_guides(const struct view *v, uint32_t row, unsigned room, struct fz_buf *out)
{
	const struct fz_call *calls = v->t->tree.calls;
	const char *parts[256];
	unsigned n = 0, max = FZ_MIN(room / 2 / v->level, (unsigned)FZ_ARRAY_LEN(parts));
	uint32_t at = row;

	for (; calls[at].parent != FZ_NONE && n < max; at = calls[at].parent, n++)
		parts[n] = guide_of(v, n == 0, v->t->next[at] != FZ_NONE);
	if (calls[at].parent != FZ_NONE)
		fz_buf_str(out, fz_table_ellipsis(v->style));
	while (n-- > 0)
		fz_buf_str(out, parts[n]);
	if (out->n && v->level == 1)
		fz_buf_char(out, ' ');
}

static void add_rest(const struct view *v, const struct fz_call *c, struct fz_buf *out)
{
	char n[FZ_NUMBER_SIZE];
	uint32_t same = c->deep - 1;

	fz_buf_printf(out, "[%s %s]", fz_format_count(c->frames, n),
		      !v->t->d || v->t->o->all_frames || c->marked ? "more"
		      : same == c->frames                          ? "unchanged"
		      : same                                       ? "unchanged or unsure"
								   : "unsure");
}

static void add_hidden(const struct view *v, uint32_t row, struct fz_buf *out)
{
	char n[FZ_NUMBER_SIZE];

	fz_buf_printf(out, "[%s hidden] ",
		      fz_format_plural(v->t->tree.calls[row].frames, "frame", n));
	fz_call_packages(&v->t->tree, row, out);
	if (out->p[out->n - 1] == ' ')
		out->p[--out->n] = '\0';
}

static void add_function(const struct view *v, const struct fz_call *c, unsigned room,
			 struct fz_buf *out)
{
	const struct fz_call_function *f = &v->t->tree.functions[c->function];

	if (c->kind == FZ_CALL_IMPORT) {
		fz_buf_str(out, "import ");
		fz_call_module(f->place.file, out);
		return;
	}
	/* for a nested function its own name is most informative */
	const char *within = memmem(f->name.p, f->name.n, "<locals>.", 9);
	struct fz_str name = f->name;
	while (within && fz_str_columns(name) + PLACE_MIN > room) {
		name.n -= (size_t)(within + 9 - name.p);
		name.p = within + 9;
		within = memmem(name.p, name.n, "<locals>.", 9);
	}
	fz_buf_add(out, name.p, name.n);
}

/* Append the row's name, made printable. */
static void add_label(const struct view *v, uint32_t row, unsigned room, struct fz_buf *out)
{
	const struct fz_call *c = &v->t->tree.calls[row];
	fz_auto(fz_buf_release) struct fz_buf name = { 0 };

	switch ((enum fz_call_kind)c->kind) {
	case FZ_CALL_FUNCTION:
	case FZ_CALL_IMPORT:
		add_function(v, c, room, &name);
		break;
	case FZ_CALL_MACHINERY:
		fz_buf_str(&name, "[finding and loading modules]");
		break;
	case FZ_CALL_STARTUP:
		fz_buf_str(&name, "[start-up]");
		break;
	case FZ_CALL_HIDDEN:
		add_hidden(v, row, &name);
		break;
	case FZ_CALL_GROUP:
		fz_buf_str(&name, v->t->group_labels[c->function]);
		break;
	case FZ_CALL_REST:
		add_rest(v, c, &name);
		break;
	}
	fz_table_text(fz_buf_view(&name), room, v->style, out);
	if (c->deep > 1 && c->kind <= FZ_CALL_IMPORT)
		fz_buf_printf(out, " %s up to %u times", fz_table_ellipsis(v->style), c->deep);
}

/* In a diff, append the row's own change if it is certain. */
static void add_self_change(const struct view *v, const struct fz_call *c, struct fz_buf *out)
{
	char change[FZ_NUMBER_SIZE];

	if (v->t->d && fz_tree_view_changed_itself(v->t, c))
		fz_buf_printf(
			out, ", self %s",
			fz_format_change(fz_tree_view_delta(v->t, c->self), v->t->unit, change));
}

static enum fz_hue hue_of_share(double share)
{
	return share >= 0.5    ? FZ_HUE_RED
	       : share >= 0.2  ? FZ_HUE_YELLOW
	       : share >= 0.05 ? FZ_HUE_GREEN
			       : FZ_HUE_NONE;
}

static void print_cost(const struct view *v, const struct fz_call *c, int width)
{
	double total = (double)c->total[FZ_HEAD] / v->t->whole;
	double self = (double)c->self[FZ_HEAD] / v->t->whole;
	bool shown = !v->t->inverted && self > 0 && self >= v->t->o->min_share;
	char text[FZ_NUMBER_SIZE], share[FZ_NUMBER_SIZE];
	enum fz_hue hue = hue_of_share(total), hot = hue_of_share(2 * self);

	fz_buf_printf(v->out, "%s%*s %8s%s ", fz_hue_on(v->style, hue), width,
		      fz_format_value((double)c->total[FZ_HEAD], v->t->unit, text),
		      fz_format_percent(total, share), fz_hue_off(v->style, hue));
	if (!v->t->inverted)
		fz_buf_printf(v->out, "%s%*s%s", fz_hue_on(v->style, hot), width,
			      shown ? fz_format_value((double)c->self[FZ_HEAD], v->t->unit, text)
				    : "",
			      fz_hue_off(v->style, hot));
	fz_buf_str(v->out, "  ");
}

static const struct fz_cost_words *cost_words(const struct view *v)
{
	return fz_cost_words(v->t->d->metric, v->t->unit);
}

static const char *word_text(const struct view *v, enum fz_tree_word word)
{
	return word == FZ_TREE_WORD_SLOWER   ? cost_words(v)->more
	       : word == FZ_TREE_WORD_FASTER ? cost_words(v)->less
					     : words[word].text;
}

/* Columns of the widest word. */
static int word_columns(const struct view *v)
{
	size_t most = strlen(words[FZ_TREE_WORD_UNSURE].text);

	most = FZ_MAX(most, strlen(cost_words(v)->more));
	return (int)FZ_MAX(most, strlen(cost_words(v)->less));
}

static void print_change(const struct view *v, const struct fz_call *c, int width)
{
	char before[FZ_NUMBER_SIZE], after[FZ_NUMBER_SIZE], change[FZ_NUMBER_SIZE];
	enum fz_tree_word word = fz_tree_view_word(v->t, c);
	enum fz_hue hue = words[word].hue;

	fz_buf_printf(v->out, "%*s %*s ", width,
		      fz_format_value((double)c->total[FZ_BASE], v->t->unit, before), width,
		      fz_format_value((double)c->total[FZ_HEAD], v->t->unit, after));
	fz_buf_printf(v->out, "%s%*s %s %-*s%s  ", fz_hue_on(v->style, hue), width + 1,
		      fz_format_change(fz_tree_view_delta(v->t, c->total), v->t->unit, change),
		      v->style->ascii ? words[word].ascii : words[word].glyph, word_columns(v),
		      word_text(v, word), fz_hue_off(v->style, hue));
}

/* Columns before a name; see print_cost and print_change. */
static unsigned left_columns(const struct view *v, int width)
{
	unsigned w = (unsigned)width;

	return v->t->d          ? 3 * w + 8 + (unsigned)word_columns(v)
	       : v->t->inverted ? w + 12
				: 2 * w + 12;
}

static enum fz_hue label_hue(const struct view *v, const struct fz_call *c)
{
	if (c->kind == FZ_CALL_GROUP)
		return FZ_HUE_BOLD;
	if (c->kind > FZ_CALL_IMPORT)
		return FZ_HUE_DIM;
	return v->t->tree.functions[c->function].own ? FZ_HUE_BOLD : FZ_HUE_NONE;
}

/* Print the place after the name, aligned in a column if there is room. */
static void print_place(const struct view *v, const struct line *line, unsigned column,
			unsigned room)
{
	const struct fz_call *c = &v->t->tree.calls[line->row];
	unsigned at = FZ_MAX(column, line->columns) + 2;

	if (c->function == FZ_NONE || c->kind > FZ_CALL_IMPORT || at + PLACE_MIN > room)
		return;
	struct fz_source_place place = v->t->tree.functions[c->function].place;
	if (!place.file.n || fz_str_eq(place.file, FZ_STR("~")))
		return;
	if (c->kind == FZ_CALL_IMPORT)
		place.line = 0;
	fz_buf_printf(v->out, "%*s%s", (int)(at - line->columns), "",
		      fz_hue_on(v->style, FZ_HUE_DIM));
	fz_table_place(&place, room - at, v->style, v->out);
	fz_buf_str(v->out, fz_hue_off(v->style, FZ_HUE_DIM));
}

/* ---- all rows ---- */

static struct line line_of(const struct view *v, uint32_t row, unsigned room)
{
	struct line l = { .row = row };

	add_guides(v, row, room, &l.guides);
	unsigned used = (unsigned)fz_str_columns(fz_buf_view(&l.guides));
	add_label(v, row, room - FZ_MIN(used, room), &l.label);
	add_self_change(v, &v->t->tree.calls[row], &l.label);
	l.columns = used + (unsigned)fz_str_columns(fz_buf_view(&l.label));
	return l;
}

/* The next shown row in preorder. */
static uint32_t following(const struct view *v, uint32_t row)
{
	uint32_t next = v->t->first[row + 1];

	while (next == FZ_NONE && row != FZ_NONE) {
		next = v->t->next[row];
		row = v->t->tree.calls[row].parent;
	}
	return next;
}

static void print_line(const struct view *v, const struct line *l, int width, unsigned column,
		       unsigned room)
{
	const struct fz_call *c = &v->t->tree.calls[l->row];
	enum fz_hue hue = label_hue(v, c);

	if (v->t->d)
		print_change(v, c, width);
	else
		print_cost(v, c, width);
	if (l->guides.n)
		fz_buf_printf(v->out, "%s%s%s", fz_hue_on(v->style, FZ_HUE_DIM), l->guides.p,
			      fz_hue_off(v->style, FZ_HUE_DIM));
	fz_buf_printf(v->out, "%s%s%s", fz_hue_on(v->style, hue), l->label.p ? l->label.p : "",
		      fz_hue_off(v->style, hue));
	print_place(v, l, column, room);
	fz_buf_char(v->out, '\n');
}

static void print_head(const struct view *v, int width)
{
	fz_buf_printf(v->out, "\n%s", fz_hue_on(v->style, FZ_HUE_DIM));
	if (v->t->d)
		fz_buf_printf(v->out, "%*s %*s %*s %*s  ", width, "before", width, "after",
			      width + 1, fz_findings_change_title(v->t->d), word_columns(v) + 2,
			      "");
	else if (v->t->inverted)
		fz_buf_printf(v->out, "%*s %8s   ", width, "total", "share");
	else
		fz_buf_printf(v->out, "%*s %8s %*s  ", width, "total", "share", width, "self");
	fz_buf_printf(v->out, "%s%s\n", v->t->inverted ? "function and its callers" : "call tree",
		      fz_hue_off(v->style, FZ_HUE_DIM));
}

/* Width of the widest value: times are short, counts may need more room. */
static int value_width(const struct view *v)
{
	char text[FZ_NUMBER_SIZE];
	size_t width = VALUE_COLUMNS;

	for (uint32_t i = v->t->first[0]; i != FZ_NONE; i = v->t->next[i])
		for (int side = 0; side < FZ_SIDES; side++)
			width = FZ_MAX(width, strlen(fz_format_value(
						      (double)v->t->tree.calls[i].total[side],
						      v->t->unit, text)));
	return (int)width;
}

/* Are there calls to show? A diff without a certain change only has rows left out. */
static bool shows_calls(const struct view *v)
{
	uint32_t first = v->t->first[0];

	return first != FZ_NONE && (!v->t->d || v->t->weight[first] > 0);
}

/* Columns per level of guides: wide if the deepest row still has room for its name. */
static unsigned level_columns(const struct view *v, unsigned room)
{
	unsigned deepest = 0, depth = 0;

	for (uint32_t i = v->t->first[0]; i != FZ_NONE; i = following(v, i)) {
		depth = 0;
		for (uint32_t at = v->t->tree.calls[i].parent; at != FZ_NONE && depth < room;
		     depth++)
			at = v->t->tree.calls[at].parent;
		deepest = FZ_MAX(deepest, depth);
	}
	return deepest * LEVEL_COLUMNS <= room / 2 ? LEVEL_COLUMNS : 1;
}

static void print_lines(struct view *v)
{
	int width = value_width(v);
	unsigned room = fz_table_rest(v->style, left_columns(v, width) + 1), column = 0;
	struct line *lines = NULL;
	size_t n = 0, cap = 0;

	if (!shows_calls(v))
		return;
	v->level = level_columns(v, room);
	for (uint32_t i = v->t->first[0]; i != FZ_NONE; i = following(v, i)) {
		fz_grow(lines, n, cap);
		lines[n++] = line_of(v, i, room);
		if (lines[n - 1].columns + PLACE_ROOM <= FZ_MAX(room, 2 * PLACE_ROOM))
			column = FZ_MAX(column, lines[n - 1].columns);
	}
	print_head(v, width);
	for (size_t i = 0; i < n; i++) {
		print_line(v, &lines[i], width, column, room);
		fz_buf_release(&lines[i].guides);
		fz_buf_release(&lines[i].label);
	}
	free(lines);
}

static const char *diff_note(const struct view *v)
{
	if (v->t->j->method == FZ_JUDGE_NONE)
		return "Paths that differ most (--min-share); --all-frames shows all.";
	return shows_calls(v) ? "Paths to significant changes; --all-frames shows all."
			      : "No call path changed significantly; --all-frames shows all.";
}

static bool has_hidden(const struct view *v)
{
	for (uint32_t i = 0; i < v->t->tree.n; i++)
		if (v->t->shown[i] && v->t->tree.calls[i].kind >= FZ_CALL_IMPORT &&
		    v->t->tree.calls[i].kind <= FZ_CALL_HIDDEN)
			return true;
	return false;
}

static bool has_sums(const struct view *v)
{
	for (uint32_t i = 0; v->t->d && i < v->t->tree.n; i++)
		if (v->t->shown[i] &&
		    fz_tree_view_word(v->t, &v->t->tree.calls[i]) >= FZ_TREE_WORD_SLOWER_IN_SUM)
			return true;
	return false;
}

/* Print hints at options that show more. */
static void print_options(const struct view *v)
{
	char share[FZ_NUMBER_SIZE];
	struct fz_buf text = { 0 };
	bool hidden = has_hidden(v);

	if (v->t->d && !v->t->o->all_frames)
		fz_buf_str(&text, diff_note(v));
	else if (v->t->o->min_share > 0)
		fz_buf_printf(&text, "Rows of at least %s (--min-share)%s.",
			      fz_format_percent(v->t->o->min_share, share),
			      hidden ? "; --all-frames shows hidden frames" : "");
	else if (hidden)
		fz_buf_str(&text, "--all-frames shows hidden frames.");
	if (has_sums(v))
		fz_buf_printf(
			&text,
			"%sIn sum: significant only combined with the function's other paths.",
			text.n ? " " : "");
	if (text.n) {
		fz_buf_char(v->out, '\n');
		fz_table_wrap(text.p, 2, v->style, v->out);
	}
	fz_buf_release(&text);
}

void fz_report_tree_profile(const struct fz_profile *p, bool inverted,
			    const struct fz_text_options *o, struct fz_output *out)
{
	struct fz_buf text = { 0 };
	fz_auto(fz_tree_freep) struct fz_tree *t = fz_tree_new(p, &FZ_TREE_DEFAULTS);
	struct fz_tree_view rows;
	struct view v = { .t = &rows, .style = &o->style, .out = &text };

	fz_tree_view_of_profile(&rows, t, inverted, o);
	fz_report_profile_heading(t, v.style, &text);
	print_lines(&v);
	if (!o->no_summary) {
		print_options(&v);
		fz_report_profile_summary(p, v.style, &text);
	}
	fz_output_add(out, text.p, text.n);
	fz_tree_view_release(&rows);
	fz_buf_release(&text);
}

void fz_report_tree_diff(const struct fz_diff *d, const struct fz_judgement *j,
			 const struct fz_text_options *o, struct fz_output *out)
{
	struct fz_buf text = { 0 };
	struct fz_tree_view rows;
	struct view v = { .t = &rows, .style = &o->style, .out = &text };

	fz_tree_view_of_diff(&rows, d, j, o);
	fz_report_diff_headline(d, j, o, &text);
	print_lines(&v);
	print_options(&v);
	fz_report_diff_trust(d, j, o, &text);
	fz_output_add(out, text.p, text.n);
	fz_tree_view_release(&rows);
	fz_buf_release(&text);
}
