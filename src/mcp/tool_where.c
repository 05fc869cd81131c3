/* SPDX-License-Identifier: MIT */
/* The source lines of a function with their cost before and after, and which of them were edited.
 *
 *   - 12  if x in seen:         8.10 ms                  removed
 *   + 12  if x in list(seen):              590 ms        added
 *     13      continue          1.20 ms   1.30 ms        on both sides
 *
 * It shows edited lines, lines with cost, and the line before each edit.
 */
#include "mcp/answer.h"
#include "mcp/source.h"
#include "profile/places.h"
#include "report/table.h"

enum { TEXT_COLUMNS = 110, LINES_MAX = 400 };

/* ---- costs of lines ---- */

/* The total of a line includes its callees and counts a sample once. */
struct line_cost {
	int32_t line;
	int64_t total;
};

struct costs {
	struct line_cost *list; /* sorted by line; a line may occur several times */
	uint32_t n;
};

static int by_line(const void *pa, const void *pb)
{
	const struct line_cost *a = pa, *b = pb;

	return FZ_CMP(a->line, b->line);
}

static void find_costs(const struct fz_mcp_subject *s, enum fz_side side, uint32_t function,
		       struct costs *ret)
{
	const struct fz_profile *p = s->diff ? s->diff->profile[side] : s->profile[side];
	fz_auto(fz_places_release) struct fz_places places;

	fz_places_init(&places, p, FZ_PLACE_FUNCTION_LINE, fz_mcp_subject_metric(s, side));
	*ret = (struct costs){ .list = fz_calloc(places.n, sizeof(*ret->list)) };
	for (uint32_t i = 0; i < places.n; i++) {
		const struct fz_place *place = &places.list[i];
		uint32_t f = p->frames[place->frame].function;
		if (fz_mcp_subject_of(s, side, f) != function || place->line < 1 || !place->total)
			continue;
		ret->list[ret->n++] = (struct line_cost){ place->line, place->total };
	}
	if (ret->n)
		qsort(ret->list, ret->n, sizeof(*ret->list), by_line);
}

static int64_t cost_at(const struct costs *c, int32_t line)
{
	int64_t sum = 0;

	for (uint32_t i = 0; line > 0 && i < c->n; i++)
		if (c->list[i].line == line)
			sum += c->list[i].total;
	return sum;
}

/* ---- lines ---- */

struct view {
	struct fz_mcp_call *c;
	const struct fz_mcp_subject *s;
	uint32_t function;
	struct fz_mcp_source source[FZ_SIDES];
	struct fz_mcp_body body[FZ_SIDES];
	struct costs costs[FZ_SIDES];
	json_t *rows;
	bool edited;
};

static void release_view(struct view *v)
{
	for (enum fz_side side = 0; side < FZ_SIDES; side++) {
		fz_mcp_source_release(&v->source[side]);
		fz_mcp_body_release(&v->body[side]);
		free(v->costs[side].list);
	}
	json_decref(v->rows);
}

static void open_view(struct view *v)
{
	v->rows = json_array();
	for (enum fz_side side = 0; side < FZ_SIDES; side++) {
		uint32_t on = fz_mcp_subject_on(v->s, side, v->function);
		if (on == FZ_NONE)
			continue;
		fz_mcp_source_init(&v->source[side], v->s->profile[side]);
		fz_mcp_source_body(&v->source[side], on, &v->body[side]);
		find_costs(v->s, side, v->function, &v->costs[side]);
	}
}

/* A line of code with its indentation. */
static json_t *code(struct fz_str text)
{
	fz_auto(fz_buf_release) struct fz_buf b = { 0 };

	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] == '\t')
			fz_buf_str(&b, "    ");
		else if (text.p[i] != '\r')
			fz_buf_char(&b, text.p[i]);
	return fz_mcp_printable(fz_buf_view(&b), TEXT_COLUMNS);
}

/* Less important rows have a higher rank: lines are ranked by cost, after edited ones. */
static void add_line(struct view *v, const struct fz_mcp_line *l, bool context)
{
	const char *unit = fz_mcp_subject_unit(v->s);
	int64_t before = cost_at(&v->costs[FZ_BASE], l->line[FZ_BASE]);
	int64_t after = cost_at(&v->costs[FZ_HEAD], l->line[FZ_HEAD]);
	bool one = !l->line[FZ_BASE] || !l->line[FZ_HEAD];
	bool edit = v->s->diff && one && v->body[FZ_BASE].n && v->body[FZ_HEAD].n;
	json_int_t rank = -(json_int_t)(FZ_MAX(before, after) / 16) - (edit ? INT64_MAX / 2 : 0);
	json_t *row = json_object();

	if (!(edit || context || before || after) || json_array_size(v->rows) >= LINES_MAX) {
		json_decref(row);
		return;
	}
	v->edited |= edit;
	if (v->s->diff)
		json_object_set_new(row, "edit",
				    json_string(!edit              ? " "
						: l->line[FZ_HEAD] ? "+"
								   : "-"));
	json_object_set_new(row, "line",
			    json_integer(l->line[FZ_HEAD] ? l->line[FZ_HEAD] : l->line[FZ_BASE]));
	if (v->s->diff)
		fz_mcp_value(v->c, row, "before", (double)before, unit);
	fz_mcp_value(v->c, row, v->s->diff ? "after" : "cost", (double)after, unit);
	json_object_set_new(row, "text", code(l->text));
	json_object_set_new(row, "rank", json_integer(rank));
	json_array_append_new(v->rows, row);
}

static bool is_edit(const struct fz_mcp_line *l)
{
	return !l->line[FZ_BASE] || !l->line[FZ_HEAD];
}

static void add_both(struct view *v)
{
	uint32_t n;
	fz_auto(fz_free_ptr) struct fz_mcp_line *lines =
		fz_mcp_body_align(&v->body[FZ_BASE], &v->body[FZ_HEAD], &n);

	for (uint32_t i = 0; i < n; i++)
		add_line(v, &lines[i], i + 1 < n && is_edit(&lines[i + 1]) && !is_edit(&lines[i]));
}

/* Add only lines with cost, even if their text is unknown. */
static void add_side(struct view *v, enum fz_side side)
{
	uint32_t on = fz_mcp_subject_on(v->s, side, v->function);
	int32_t last = 0;

	for (uint32_t i = 0; i < v->costs[side].n; i++) {
		struct fz_mcp_line l = { 0 };
		l.line[side] = v->costs[side].list[i].line;
		l.text = fz_mcp_source_line(&v->source[side], on, l.line[side]);
		if (l.line[side] != last)
			add_line(v, &l, false);
		last = l.line[side];
	}
}

/* ---- the next call ---- */

static void add_next(struct view *v)
{
	const char *name = v->s->name;

	if (v->s->diff && v->edited)
		fz_mcp_next(v->c, "verify(of=%s) reports whether the change is proven", name);
	else
		fz_mcp_next(v->c, "calls(of=%s, function=f%u, direction=callers)", name,
			    v->function);
}

static void add_source(struct view *v)
{
	const char *text =
		!v->s->diff                                  ? NULL
		: !v->body[FZ_BASE].n || !v->body[FZ_HEAD].n ? "source not recorded on both sides"
		: v->edited                                  ? "edited"
			    : "same source on both sides: called more often, or with other data";

	if (text)
		json_object_set_new(v->c->answer, "source", json_string(text));
}

static void add_place(struct view *v)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	json_t *row = json_object();

	fz_mcp_subject_names(v->s, row, v->function);
	fz_buf_printf(&text, "%s at %s; line costs include callees",
		      json_string_value(json_object_get(row, "function")),
		      json_string_value(json_object_get(row, "at")));
	json_decref(row);
	fz_mcp_add_text(v->c, "says", &text);
	json_object_set_new(v->c->answer, "of", json_string(v->s->name));
}

static int where(struct fz_mcp_call *c, struct fz_error *err)
{
	fz_auto(fz_mcp_subject_release) struct fz_mcp_subject s;
	fz_auto(release_view) struct view v = { .c = c, .s = &s };
	int r = fz_mcp_subject_open(c, FZ_MCP_ANY, &s, err);

	if (!r)
		r = fz_mcp_subject_function(c, &s, &v.function, err);
	if (r)
		return r;
	open_view(&v);
	if (v.body[FZ_BASE].n && v.body[FZ_HEAD].n) {
		add_both(&v);
	} else {
		add_side(&v, FZ_BASE);
		add_side(&v, FZ_HEAD);
	}
	add_place(&v);
	add_source(&v);
	if (json_array_size(v.rows))
		json_object_set(c->answer, "lines", v.rows);
	add_next(&v);
	return 0;
}

const struct fz_mcp_tool fz_mcp_tool_where = {
	.name = "where",
	.title = "Source lines of a function",
	.help = "The lines of a function with their costs before and after; '+' and '-' mark "
		"edited lines. The source is as recorded, not the current file.",
	.arguments = (const struct fz_mcp_argument[]){ FZ_MCP_FUNCTION_ARGUMENT(true),
						       FZ_MCP_OF_ARGUMENT,
						       FZ_MCP_SIDE_ARGUMENTS,
						       { 0 } },
	.run = where,
};
