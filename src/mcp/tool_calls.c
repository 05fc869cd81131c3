/* SPDX-License-Identifier: MIT */
/* Callers or callees of a function, with the cost of these calls on both sides. A sample counts
 * once per call, even if the call recurs in it. */
#include "mcp/answer.h"
#include "mcp/subject.h"
#include "profile/places.h"

#include <math.h>

enum { ROWS_MAX = 60 };

static const char *const directions[] = { "callers", "callees", NULL };

struct other {
	int64_t cost[FZ_SIDES];
	uint32_t function;
};

struct view {
	struct fz_mcp_call *c;
	const struct fz_mcp_subject *s;
	uint32_t function;
	bool callees;
	struct other *others; /* by function */
	uint32_t n;
};

static void add_side(struct view *v, enum fz_side side)
{
	const struct fz_profile *p = v->s->diff ? v->s->diff->profile[side] : v->s->profile[side];
	uint32_t metric = fz_mcp_subject_metric(v->s, side);
	fz_auto(fz_places_release) struct fz_places places;
	size_t n;

	fz_places_init(&places, p, FZ_PLACE_FUNCTION, metric);
	fz_auto(fz_free_ptr) struct fz_place_call *calls =
		fz_places_calls(p, &places, &places, metric, true, &n);
	for (size_t i = 0; i < n; i++) {
		uint32_t caller = p->frames[places.list[calls[i].caller].frame].function;
		uint32_t callee = p->frames[places.list[calls[i].callee].frame].function;
		caller = fz_mcp_subject_of(v->s, side, caller);
		callee = fz_mcp_subject_of(v->s, side, callee);
		uint32_t here = v->callees ? caller : callee, other = v->callees ? callee : caller;
		if (here == v->function && other < v->n)
			v->others[other].cost[side] += calls[i].total;
	}
}

static double change_of(const struct view *v, const struct other *o)
{
	return v->s->diff ? fz_diff_delta(v->s->diff, o->cost[FZ_BASE], o->cost[FZ_HEAD])
			  : (double)o->cost[FZ_HEAD];
}

static int by_change(const void *pa, const void *pb, void *arg)
{
	const struct other *a = pa, *b = pb;
	double x = fabs(change_of(arg, a)), y = fabs(change_of(arg, b));

	return FZ_CMP(y, x) ?: FZ_CMP(a->function, b->function);
}

static json_t *row_of(const struct view *v, const struct other *o)
{
	const char *unit = fz_mcp_subject_unit(v->s);
	json_t *row = json_object();

	fz_mcp_subject_id(row, o->function);
	if (v->s->diff) {
		fz_mcp_change(v->c, row, change_of(v, o), unit);
		fz_mcp_value(v->c, row, "before", (double)o->cost[FZ_BASE], unit);
	}
	fz_mcp_value(v->c, row, v->s->diff ? "after" : "cost", (double)o->cost[FZ_HEAD], unit);
	fz_mcp_subject_names(v->s, row, o->function);
	return row;
}

static json_t *rows_of(struct view *v)
{
	json_t *rows = json_array();
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n; i++)
		if (v->others[i].cost[FZ_BASE] || v->others[i].cost[FZ_HEAD]) {
			v->others[n] = v->others[i];
			v->others[n++].function = i;
		}
	qsort_r(v->others, n, sizeof(*v->others), by_change, v);
	for (uint32_t i = 0; i < n && i < ROWS_MAX; i++)
		json_array_append_new(rows, row_of(v, &v->others[i]));
	return rows;
}

static void say(struct view *v, json_t *rows)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	json_t *row = json_object();

	fz_mcp_subject_names(v->s, row, v->function);
	fz_buf_printf(&text, "%s of %s: cost of the calls%s", directions[v->callees],
		      json_string_value(json_object_get(row, "function")),
		      v->s->diff ? ", largest change first; not tested individually" : "");
	json_decref(row);
	fz_mcp_add_text(v->c, "says", &text);
	json_object_set_new(v->c->answer, "of", json_string(v->s->name));
	if (json_array_size(rows)) {
		json_object_set(v->c->answer, directions[v->callees], rows);
		fz_mcp_next(v->c, "where(of=%s, function=%s)", v->s->name,
			    json_string_value(json_object_get(json_array_get(rows, 0), "id")));
	}
}

static int calls(struct fz_mcp_call *c, struct fz_error *err)
{
	fz_auto(fz_mcp_subject_release) struct fz_mcp_subject s;
	const char *direction = fz_mcp_text(c, "direction");
	struct view v = { .c = c, .s = &s };
	int r = fz_mcp_subject_open(c, FZ_MCP_ANY, &s, err);

	if (!r)
		r = fz_mcp_subject_function(c, &s, &v.function, err);
	if (r)
		return r;
	v.callees = direction && strcmp(direction, directions[true]) == 0;
	v.n = s.diff ? s.diff->function_count : s.profile[FZ_HEAD]->function_count;
	v.others = fz_calloc(v.n, sizeof(*v.others));
	for (enum fz_side side = s.diff ? FZ_BASE : FZ_HEAD; side < FZ_SIDES; side++)
		add_side(&v, side);
	json_t *rows = rows_of(&v);
	say(&v, rows);
	json_decref(rows);
	free(v.others);
	return 0;
}

const struct fz_mcp_tool fz_mcp_tool_calls = {
	.name = "calls",
	.title = "Callers or callees of a function",
	.help = "Callers or callees of a function, with the cost of these calls before and after.",
	.arguments = (const struct fz_mcp_argument[]){ FZ_MCP_FUNCTION_ARGUMENT(true),
						       { "direction", "default callers",
							 FZ_MCP_STRING, .choices = directions },
						       FZ_MCP_OF_ARGUMENT,
						       FZ_MCP_SIDE_ARGUMENTS,
						       { 0 } },
	.run = calls,
};
