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

enum { LEVEL_COLUMNS = 3, PLACE_MIN = 12, PLACE_ROOM = 30 };

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
	fz_table_name(name, room, v->style, out);
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

static void add_cost(struct fz_table *t, const struct view *v, const struct fz_call *c)
{
	double total = (double)c->total[FZ_HEAD] / v->t->whole;
	double self = (double)c->self[FZ_HEAD] / v->t->whole;

	t->hue = hue_of_share(total);
	fz_table_value(t, (double)c->total[FZ_HEAD], v->t->unit);
	fz_table_percent(t, total);
	t->hue = hue_of_share(2 * self);
	if (self > 0 && self >= v->t->o->min_share)
		fz_table_value(t, (double)c->self[FZ_HEAD], v->t->unit);
}

static const char *word_text(const struct view *v, enum fz_tree_word word)
{
	const struct fz_cost_words *cost = fz_cost_words(v->t->d->metric, v->t->unit);

	return word == FZ_TREE_WORD_SLOWER   ? cost->more
	       : word == FZ_TREE_WORD_FASTER ? cost->less
					     : words[word].text;
}

static void add_change(struct fz_table *t, const struct view *v, const struct fz_call *c)
{
	enum fz_tree_word word = fz_tree_view_word(v->t, c);
	char change[FZ_NUMBER_SIZE];

	fz_table_value(t, (double)c->total[FZ_BASE], v->t->unit);
	fz_table_value(t, (double)c->total[FZ_HEAD], v->t->unit);
	t->hue = words[word].hue;
	fz_table_cell(t, fz_format_change(fz_tree_view_delta(v->t, c->total), v->t->unit, change));
	fz_table_cell(t, v->style->ascii ? words[word].ascii : words[word].glyph);
	fz_table_cell(t, word_text(v, word));
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

/* The shown rows; their texts are made when the costs have been measured. */
struct lines {
	const struct view *v;
	struct line *list;
	unsigned column, room;
};

static void add_row(struct fz_table *t, size_t i, const void *arg)
{
	const struct lines *lines = arg;
	const struct line *l = &lines->list[i];
	const struct view *v = lines->v;
	const struct fz_call *c = &v->t->tree.calls[l->row];
	enum fz_hue hue = label_hue(v, c);

	(v->t->d ? add_change : add_cost)(t, v, c);
	if (t->measuring)
		return;
	fz_table_last(t);
	if (l->guides.n)
		fz_buf_printf(v->out, "%s%s%s", fz_hue_on(v->style, FZ_HUE_DIM), l->guides.p,
			      fz_hue_off(v->style, FZ_HUE_DIM));
	fz_buf_printf(v->out, "%s%s%s", fz_hue_on(v->style, hue), fz_buf_view(&l->label).p,
		      fz_hue_off(v->style, hue));
	print_place(v, l, lines->column, lines->room);
}

static void table_init(struct fz_table *t, const struct view *v)
{
	enum { CHANGE = 2, SELF = 2 };
	static const struct fz_column costs[] = {
		{ "total", FZ_RIGHT, .min = 9 },
		{ "share", FZ_RIGHT, .gap = 1, .min = 8 },
		{ "self", FZ_RIGHT, .gap = 1, .min = 9 },
		{ "call tree", .gap = 2 },
	};
	static const struct fz_column changes[] = {
		{ "before", FZ_RIGHT, .min = 9 },
		{ "after", FZ_RIGHT, .gap = 1, .min = 9 },
		{ NULL, FZ_RIGHT, .gap = 1, .min = 10 },
		{ NULL, .gap = 1, .min = 1 },
		{ NULL, .gap = 1, .min = 6 },
		{ "call tree", .gap = 2 },
	};

	if (v->t->d) {
		fz_table_init(t, changes, FZ_ARRAY_LEN(changes), v->style, v->out);
		t->titles[CHANGE] = fz_findings_change_title(v->t->d);
	} else {
		fz_table_init(t, costs, FZ_ARRAY_LEN(costs), v->style, v->out);
		t->hidden = v->t->inverted ? 1u << SELF : 0;
	}
	if (v->t->inverted)
		t->titles[t->n - 1] = "function and its callers";
}

/* Are there calls to show? In a diff without a certain change, all rows are hidden. */
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
	struct lines lines = { .v = v };
	size_t n = 0, cap = 0;
	struct fz_table t;

	if (!shows_calls(v))
		return;
	for (uint32_t i = v->t->first[0]; i != FZ_NONE; i = following(v, i)) {
		fz_push(lines.list, n, cap, (struct line){ .row = i });
	}
	table_init(&t, v);
	fz_table_measure(&t, n, add_row, &lines);
	unsigned room = lines.room = fz_table_room(&t);
	v->level = level_columns(v, room);
	for (size_t i = 0; i < n; i++) {
		struct line *l = &lines.list[i];
		*l = line_of(v, l->row, room);
		if (l->columns + PLACE_ROOM <= FZ_MAX(room, 2 * PLACE_ROOM))
			lines.column = FZ_MAX(lines.column, l->columns);
	}
	fz_buf_char(v->out, '\n');
	fz_table_titles(&t);
	fz_table_rows(&t, n, add_row, &lines);
	for (size_t i = 0; i < n; i++) {
		fz_buf_release(&lines.list[i].guides);
		fz_buf_release(&lines.list[i].label);
	}
	free(lines.list);
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
		fz_table_wrap(text.p, v->style, v->out);
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
