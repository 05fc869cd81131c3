/* SPDX-License-Identifier: MIT */
/* Qualifies plain names, those without enclosing classes and functions.
 *
 * CPython has qualified names since 3.11, and other profilers recorded plain ones for longer. If
 * one side has plain names and the other qualified ones, functions of the plain side get the names
 * of the other:
 *
 *   plain side          qualified side
 *   area  app.py:6      Shape.area             app.py:6    one function: Shape.area
 *   load  app.py:16     Store.load             app.py:16   one function: Store.load
 *   <genexpr>  :31      helper.<locals>.<genexpr>  :31     one function
 *
 * The name comes from the recorded source of the plain side. Without one, functions with the same
 * file and last component are matched by line: first lines are equal, or if a side has only sampled
 * lines, these are in the other's function. A plain function that matches several qualified ones is
 * compared with their sum, under its plain name.
 *
 * If both sides have plain names, the sources qualify both, so that an __init__ is not compared
 * with that of another class.
 */
#include "compare/name_qualified.h"

#include "compare/stages.h"
#include "compare/link_internal.h"

#include <stdio.h>

/* A Python function with a file. */
struct namesake {
	struct fz_str key, tail;
	uint32_t function;
	int32_t first_line;   /* 0: unknown */
	const int32_t *lines; /* sampled lines, ascending */
	uint32_t line_count;
	uint32_t component; /* matched functions have the same one: its first entry */
	bool plain;
};

struct qualifier {
	struct fz_code *code;
	struct fz_name *const *names;
	struct fz_arena *arena;
	enum fz_side plain; /* the side with plain names */
	int32_t *lines[FZ_SIDES];
	struct namesake *list;
	uint32_t n;
	uint32_t renamed[FZ_SIDES];
};

/* ---- which side has plain names ---- */

static bool is_python(const struct fz_code *c, enum fz_side side, uint32_t f)
{
	uint8_t kind = c->profile[side]->functions[f].kind;
	struct fz_str key = c->names[side][f].key;

	return key.n &&
	       (kind == FZ_KIND_PYTHON || (kind == FZ_KIND_UNKNOWN && fz_str_ends(key, ".py")));
}

static bool any_qualified(const struct fz_code *c, enum fz_side side)
{
	for (uint32_t f = 0; f < c->profile[side]->function_count; f++) {
		struct fz_str name = c->names[side][f].name;
		if (is_python(c, side, f) && name.n && name.p[0] != '<' &&
		    memchr(name.p, '.', name.n))
			return true;
	}
	return false;
}

static bool is_plain(const struct fz_code *c, enum fz_side side)
{
	const uint8_t *version = c->profile[side]->recording.python;

	if (version[0])
		return version[0] < 3 || (version[0] == 3 && version[1] < 11);
	return !any_qualified(c, side);
}

/* ---- lines ---- */

struct seen_line {
	uint32_t function;
	int32_t line;
};

static int compare_seen(const void *pa, const void *pb)
{
	const struct seen_line *a = pa, *b = pb;

	return FZ_CMP(a->function, b->function) ?: FZ_CMP(a->line, b->line);
}

/* Returns the lines of all frames of a side by function; *start has the start of each function. */
static int32_t *list_lines(const struct fz_profile *p, uint32_t *start)
{
	fz_auto(fz_free_ptr) struct seen_line *seen =
		fz_calloc(FZ_MAX(p->frame_count, 1), sizeof(*seen));
	int32_t *lines = fz_calloc(FZ_MAX(p->frame_count, 1), sizeof(*lines));
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->frame_count; i++)
		if (p->frames[i].line > 0)
			seen[n++] = (struct seen_line){ p->frames[i].function, p->frames[i].line };
	if (n)
		qsort(seen, n, sizeof(*seen), compare_seen);
	for (uint32_t i = 0; i < n; i++) {
		lines[i] = seen[i].line;
		start[seen[i].function + 1] = i + 1;
	}
	for (uint32_t f = 0; f < p->function_count; f++)
		start[f + 1] = FZ_MAX(start[f + 1], start[f]);
	return lines;
}

static bool lines_overlap(const struct namesake *a, const struct namesake *b)
{
	uint32_t i = 0, k = 0;

	while (i < a->line_count && k < b->line_count) {
		if (a->lines[i] == b->lines[k])
			return true;
		if (a->lines[i] < b->lines[k])
			i++;
		else
			k++;
	}
	return a->line_count == 0 || b->line_count == 0;
}

/* ---- names from sources ---- */

/* Returns the qualified name of a plain function from its recorded source; "" if unknown. */
static struct fz_str name_in_source(struct qualifier *q, enum fz_side side, uint32_t function)
{
	bool within;
	struct fz_code_place at = fz_code_find(q->code, side, function, &within);
	struct fz_str tail = fz_outline_tail(q->names[side][function].name);

	if (at.definition == FZ_NONE)
		return FZ_STR("");
	const struct fz_definition *d =
		&fz_code_outline(q->code, side, at.source)->definitions[at.definition];
	if (!within)
		return (struct fz_str){ fz_arena_strndup(q->arena, d->name.p, d->name.n),
					d->name.n };
	if (d->parent == FZ_NONE)
		return tail;
	const char *joint = d->is_class ? "." : ".<locals>.";
	size_t n = d->name.n + strlen(joint) + tail.n;
	char *text = fz_arena_alloc(q->arena, n + 1);
	snprintf(text, n + 1, "%.*s%s%.*s", (int)d->name.n, d->name.p, joint, (int)tail.n, tail.p);
	return (struct fz_str){ text, n };
}

static void rename_function(struct qualifier *q, enum fz_side side, uint32_t function,
			    struct fz_str name)
{
	q->renamed[side] += !fz_str_eq(q->names[side][function].name, name);
	q->names[side][function].name = name;
}

/* ---- both sides plain ---- */

/* A function and its name in the source, "" if unknown. */
struct sourced {
	struct fz_str key, plain, name;
	enum fz_side side;
	uint32_t function;
};

static int compare_sourced(const void *pa, const void *pb)
{
	const struct sourced *a = pa, *b = pb;

	return fz_str_cmp(a->key, b->key) ?: fz_str_cmp(a->plain, b->plain);
}

static uint32_t list_sourced(struct qualifier *q, struct sourced *ret)
{
	uint32_t n = 0;

	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		for (uint32_t f = 0; f < q->code->profile[s]->function_count; f++)
			if (is_python(q->code, s, f))
				ret[n++] =
					(struct sourced){ q->names[s][f].key, q->names[s][f].name,
							  name_in_source(q, s, f), s, f };
	return n;
}

/* Qualifies both sides from their sources. A plain name of a file stays if the source of one of its
 * functions is unknown, because that one could then match no other. */
static void qualify_both(struct qualifier *q, size_t all)
{
	fz_auto(fz_free_ptr) struct sourced *list = fz_calloc(all, sizeof(*list));
	uint32_t n = list_sourced(q, list);

	if (n)
		qsort(list, n, sizeof(*list), compare_sourced);
	for (uint32_t i = 0, end; i < n; i = end) {
		bool known = true;
		for (end = i; end < n && compare_sourced(&list[i], &list[end]) == 0; end++)
			known &= list[end].name.n > 0;
		for (uint32_t k = i; known && k < end; k++)
			rename_function(q, list[k].side, list[k].function, list[k].name);
	}
}

/* ---- names by line ---- */

static void add_namesake(struct qualifier *q, enum fz_side side, uint32_t function,
			 const uint32_t *start)
{
	const struct fz_name *name = &q->names[side][function];

	q->list[q->n++] = (struct namesake){
		.key = name->key,
		.tail = fz_outline_tail(name->name),
		.function = function,
		.first_line = FZ_MAX(q->code->profile[side]->functions[function].first_line, 0),
		.lines = q->lines[side] + start[function],
		.line_count = start[function + 1] - start[function],
		.plain = side == q->plain,
	};
}

static void list_namesakes(struct qualifier *q)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		const struct fz_profile *p = q->code->profile[s];
		fz_auto(fz_free_ptr) uint32_t *start =
			fz_calloc(p->function_count + 1ul, sizeof(*start));
		q->lines[s] = list_lines(p, start);
		for (uint32_t f = 0; f < p->function_count; f++) {
			struct fz_str known = FZ_STR("");
			if (!is_python(q->code, s, f))
				continue;
			if (s == q->plain)
				known = name_in_source(q, s, f);
			if (known.n)
				rename_function(q, s, f, known);
			else
				add_namesake(q, s, f, start);
		}
	}
}

static int compare_namesakes(const void *pa, const void *pb)
{
	const struct namesake *a = pa, *b = pb;

	return fz_str_cmp(a->key, b->key) ?: fz_str_cmp(a->tail, b->tail) ?:
	       FZ_CMP(b->plain, a->plain) ?: FZ_CMP(a->function, b->function);
}

/* Whether `at` is the last in [from, end) with a known first line at or before `line`. */
static bool holds_line(const struct namesake *from, const struct namesake *end,
		       const struct namesake *at, int32_t line)
{
	if (at->first_line > line)
		return false;
	for (const struct namesake *o = from; o < end; o++)
		if (o->first_line > at->first_line && o->first_line <= line)
			return false;
	return true;
}

/* Functions with the same file and last component: plain ones in [plain, qualified), others in
 * [qualified, end). */
struct group {
	struct namesake *plain, *qualified, *end;
};

static bool belongs_together(const struct group *g, const struct namesake *a,
			     const struct namesake *b)
{
	if (a->first_line && b->first_line)
		return a->first_line == b->first_line;
	if (a->first_line && b->line_count)
		return holds_line(g->plain, g->qualified, a, b->lines[0]);
	if (!b->first_line)
		return lines_overlap(a, b);
	for (uint32_t i = 0; i < a->line_count; i++)
		if (holds_line(g->qualified, g->end, b, a->lines[i]))
			return true;
	return a->line_count == 0;
}

static void join_components(const struct group *g, uint32_t a, uint32_t b)
{
	for (struct namesake *at = g->plain; at < g->end; at++)
		if (at->component == b)
			at->component = a;
}

static void find_components(const struct group *g)
{
	for (struct namesake *at = g->plain; at < g->end; at++)
		at->component = (uint32_t)(at - g->plain);
	for (struct namesake *a = g->plain; a < g->qualified; a++)
		for (struct namesake *b = g->qualified; b < g->end; b++)
			if (a->component != b->component && belongs_together(g, a, b))
				join_components(g, a->component, b->component);
}

/* A single plain function and a single qualified one match, unless first lines contradict. First
 * lines of the standard library differ between versions and are ignored. */
static bool is_pair(const struct group *g)
{
	return g->qualified - g->plain == 1 && g->end - g->qualified == 1 &&
	       (!g->plain->first_line || !g->qualified->first_line ||
		fz_str_starts(g->plain->key, "lib/python3/"));
}

static void name_component(struct qualifier *q, const struct group *g, uint32_t component)
{
	const struct namesake *one[2] = { NULL, NULL };
	uint32_t count[2] = { 0, 0 };

	for (const struct namesake *at = g->plain; at < g->end; at++)
		if (at->component == component) {
			one[at->plain] = at;
			count[at->plain]++;
		}
	if (!count[true] || !count[false])
		return;
	if (count[true] == 1 && count[false] == 1) {
		rename_function(q, q->plain, one[true]->function,
				q->names[!q->plain][one[false]->function].name);
		return;
	}
	for (const struct namesake *at = g->qualified; at < g->end; at++)
		if (at->component == component)
			rename_function(q, !q->plain, at->function, at->tail);
}

static void name_group(struct qualifier *q, const struct group *g)
{
	if (g->plain == g->qualified || g->qualified == g->end)
		return;
	find_components(g);
	if (is_pair(g))
		join_components(g, g->plain->component, g->qualified->component);
	for (uint32_t i = 0; i < (uint32_t)(g->end - g->plain); i++)
		name_component(q, g, i);
}

static void name_groups(struct qualifier *q)
{
	struct namesake *all = q->list + q->n;

	if (q->n)
		qsort(q->list, q->n, sizeof(*q->list), compare_namesakes);
	for (struct group g = { .plain = q->list }; g.plain < all; g.plain = g.end) {
		g.qualified = g.plain;
		while (g.qualified < all && g.qualified->plain &&
		       fz_str_eq(g.qualified->key, g.plain->key) &&
		       fz_str_eq(g.qualified->tail, g.plain->tail))
			g.qualified++;
		g.end = g.qualified;
		while (g.end < all && !(g.end->plain && g.end > g.plain) &&
		       fz_str_eq(g.end->key, g.plain->key) && fz_str_eq(g.end->tail, g.plain->tail))
			g.end++;
		name_group(q, &g);
	}
}

static void qualify_one(struct qualifier *q, size_t all)
{
	q->list = fz_calloc(all, sizeof(*q->list));
	list_namesakes(q);
	name_groups(q);
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		free(q->lines[s]);
	free(q->list);
}

void fz_names_qualify(struct fz_code *code, struct fz_name *const names[FZ_SIDES],
		      struct fz_arena *arena, uint32_t ret_renamed[FZ_SIDES])
{
	struct qualifier q = { .code = code, .names = names, .arena = arena };
	bool base = is_plain(code, FZ_BASE), head = is_plain(code, FZ_HEAD);
	size_t all = 1;

	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		all += code->profile[s]->function_count;
	q.plain = base ? FZ_BASE : FZ_HEAD;
	if (base && head)
		qualify_both(&q, all);
	else if (base || head)
		qualify_one(&q, all);
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		ret_renamed[s] = q.renamed[s];
}
