/* SPDX-License-Identifier: MIT */
/* One recording: what was recorded and how well, and the functions and lines with the highest self
 * cost. */
#include "mcp/answer.h"
#include "mcp/subject.h"
#include "profile/places.h"
#include "report/states.h"
#include "report/table.h"
#include "report/text.h"

enum { ROWS_MAX = 60, LINES_SHOWN = 5 };

static const struct fz_style style = { .columns = 200 };

struct cost {
	int64_t self, total;
	uint32_t function;
	int32_t line;
};

static int by_self(const void *pa, const void *pb)
{
	const struct cost *a = pa, *b = pb;

	return FZ_CMP(b->self, a->self) ?: FZ_CMP(a->function, b->function) ?:
	       FZ_CMP(a->line, b->line);
}

static json_t *row_of(const struct fz_mcp_call *c, const struct fz_mcp_subject *s,
		      const struct cost *cost)
{
	json_t *row = json_object();
	char percent[FZ_NUMBER_SIZE];

	fz_mcp_subject_id(row, cost->function);
	fz_mcp_value(c, row, "self", (double)cost->self, fz_mcp_subject_unit(s));
	if (s->tree->sum <= 0)
		return row;
	double share = (double)cost->self / (double)s->tree->sum;
	json_object_set_new(row, "percent",
			    c->structured ? json_real(100 * share)
					  : json_string(fz_format_percent(share, percent)));
	return row;
}

static void add_functions(struct fz_mcp_call *c, const struct fz_mcp_subject *s)
{
	uint32_t n = s->profile[FZ_HEAD]->function_count;
	fz_auto(fz_free_ptr) struct cost *list = fz_calloc(n, sizeof(*list));
	fz_auto(fz_free_ptr) int64_t *self = NULL;
	fz_auto(fz_free_ptr) int64_t *total = NULL;
	json_t *rows = json_array();

	fz_tree_function_costs(s->tree, &self, &total);
	for (uint32_t i = 0; i < n; i++)
		list[i] = (struct cost){ .self = self[i], .total = total[i], .function = i };
	if (n)
		qsort(list, n, sizeof(*list), by_self);
	for (uint32_t i = 0; i < n && i < ROWS_MAX && list[i].self > 0; i++) {
		json_t *row = row_of(c, s, &list[i]);
		fz_mcp_value(c, row, "total", (double)list[i].total, fz_mcp_subject_unit(s));
		fz_mcp_subject_names(s, row, list[i].function);
		json_array_append_new(rows, row);
	}
	if (json_array_size(rows))
		json_object_set(c->answer, "functions", rows);
	json_decref(rows);
}

static void add_lines(struct fz_mcp_call *c, const struct fz_mcp_subject *s)
{
	const struct fz_profile *p = s->profile[FZ_HEAD];
	fz_auto(fz_places_release) struct fz_places places;
	json_t *rows = json_array();

	fz_places_init(&places, p, FZ_PLACE_FUNCTION_LINE, s->tree->metric);
	fz_auto(fz_free_ptr) struct cost *list = fz_calloc(places.n, sizeof(*list));
	for (uint32_t i = 0; i < places.n; i++)
		list[i] = (struct cost){ .self = places.list[i].self,
					 .function = p->frames[places.list[i].frame].function,
					 .line = places.list[i].line };
	if (places.n)
		qsort(list, places.n, sizeof(*list), by_self);
	for (uint32_t i = 0; i < places.n && json_array_size(rows) < LINES_SHOWN; i++) {
		if (list[i].self <= 0 || list[i].line < 1)
			continue;
		json_t *row = row_of(c, s, &list[i]);
		json_object_set_new(row, "line", json_integer(list[i].line));
		fz_mcp_subject_names(s, row, list[i].function);
		json_object_del(row, "at");
		json_array_append_new(rows, row);
	}
	if (json_array_size(rows))
		json_object_set(c->answer, "hot_lines", rows);
	json_decref(rows);
}

static int summary(struct fz_mcp_call *c, struct fz_error *err)
{
	fz_auto(fz_mcp_subject_release) struct fz_mcp_subject s;
	fz_auto(fz_buf_release) struct fz_buf heading = { 0 };
	fz_auto(fz_buf_release) struct fz_buf states = { 0 };
	fz_auto(fz_buf_release) struct fz_buf quality = { 0 };
	int r = fz_mcp_subject_open(c, FZ_MCP_ONE, &s, err);

	if (r)
		return r;
	fz_report_profile_heading(s.tree, &style, &heading);
	fz_mcp_append_text(c, "says", heading.p ? heading.p : "");
	json_object_set_new(c->answer, "of", json_string(s.name));
	fz_report_quality(s.profile[FZ_HEAD], &quality);
	fz_mcp_add_text(c, "quality", &quality);
	add_functions(c, &s);
	add_lines(c, &s);
	fz_report_states_text(s.profile[FZ_HEAD], &style, &states);
	fz_mcp_append_text(c, "threads", states.p ? states.p : "");
	fz_mcp_next(c, "where(of=%s, function=ID)", s.name);
	return 0;
}

const struct fz_mcp_tool fz_mcp_tool_summary = {
	.name = "summary",
	.title = "Where one recording's time went",
	.help = "One recording: sampling quality, most expensive functions and lines, what its "
		"threads did or waited for. Default: the latest.",
	.arguments = (const struct fz_mcp_argument[]){ FZ_MCP_OF_ARGUMENT, { 0 } },
	.run = summary,
};
