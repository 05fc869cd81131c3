/* SPDX-License-Identifier: MIT */
/* Source of functions and the lines that two versions share; see source.h. */
#include "mcp/source.h"

#include "compare/lines.h"

enum { BODY_LINES_MAX = 20000 };

void fz_mcp_source_init(struct fz_mcp_source *s, const struct fz_profile *p)
{
	*s = (struct fz_mcp_source){
		.profile = p,
		.outlines = fz_calloc(p->source_count, sizeof(*s->outlines)),
		.outlined = fz_calloc(p->source_count, sizeof(*s->outlined)),
	};
}

void fz_mcp_source_release(struct fz_mcp_source *s)
{
	for (uint32_t i = 0; s->profile && i < s->profile->source_count; i++)
		if (s->outlined[i])
			fz_outline_release(&s->outlines[i]);
	free(s->outlines);
	free(s->outlined);
}

static const struct fz_outline *outline_of(struct fz_mcp_source *s,
					   const struct fz_source_text *text)
{
	size_t i = (size_t)(text - s->profile->sources);

	if (!s->outlined[i])
		fz_outline_init(&s->outlines[i], (struct fz_str){ text->text, text->size });
	s->outlined[i] = true;
	return &s->outlines[i];
}

/* "f" for "f.<locals>.<listcomp>", whose source is in f. */
static struct fz_str without_inner(struct fz_str name)
{
	static const char inner[] = ".<locals>.<";

	for (size_t i = 0; i + sizeof(inner) - 1 <= name.n; i++)
		if (memcmp(name.p + i, inner, sizeof(inner) - 1) == 0)
			return (struct fz_str){ name.p, i };
	return name;
}

/* The definition of a function; FZ_NONE if unknown. */
static uint32_t find_definition(const struct fz_outline *o, const struct fz_profile *p,
				const struct fz_function *f)
{
	struct fz_str name = without_inner(p->strings[f->name]), tail = fz_outline_tail(name);
	uint32_t found;

	if (f->kind != FZ_KIND_PYTHON || fz_str_eq(name, FZ_STR("<module>")))
		return FZ_NONE;
	found = f->first_line > 0 ? fz_outline_find_at(o, tail, f->first_line) : FZ_NONE;
	return found != FZ_NONE ? found : fz_outline_find(o, name);
}

/* Get lines from..to of a text; the first line is number 1. */
static void add_lines(struct fz_str text, int32_t from, int32_t to, struct fz_mcp_body *ret)
{
	struct fz_str rest = text;

	*ret = (struct fz_mcp_body){ .first = from };
	ret->lines = fz_calloc((size_t)(to - from + 1), sizeof(*ret->lines));
	for (int32_t line = 1; line <= to && rest.n; line++) {
		struct fz_str one = fz_str_take_line(&rest);
		if (line >= from)
			ret->lines[ret->n++] = one;
	}
}

void fz_mcp_source_body(struct fz_mcp_source *s, uint32_t function, struct fz_mcp_body *ret)
{
	const struct fz_profile *p = s->profile;
	const struct fz_function *f = &p->functions[function];
	const struct fz_source_text *text = fz_profile_source(p, f->file);

	*ret = (struct fz_mcp_body){ 0 };
	if (!text)
		return;
	const struct fz_outline *o = outline_of(s, text);
	uint32_t i = find_definition(o, p, f);
	if (i == FZ_NONE)
		return;
	const struct fz_definition *d = &o->definitions[i];
	if (d->first_line < 1 || d->last_line < d->first_line ||
	    d->last_line - d->first_line >= BODY_LINES_MAX)
		return;
	add_lines((struct fz_str){ text->text, text->size }, d->first_line, d->last_line, ret);
}

void fz_mcp_body_release(struct fz_mcp_body *b)
{
	free(b->lines);
	b->lines = NULL;
}

struct fz_str fz_mcp_source_line(const struct fz_mcp_source *s, uint32_t function, int32_t line)
{
	const struct fz_profile *p = s->profile;
	const struct fz_source_text *text = fz_profile_source(p, p->functions[function].file);
	struct fz_str rest = text ? (struct fz_str){ text->text, text->size } : FZ_STR("");
	struct fz_str one = FZ_STR("");

	for (int32_t i = 0; i < line; i++)
		one = fz_str_take_line(&rest);
	return one;
}

/* ---- differences ---- */

bool fz_mcp_body_equal(const struct fz_mcp_body *a, const struct fz_mcp_body *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (!fz_str_eq(a->lines[i], b->lines[i]))
			return false;
	return true;
}

struct fz_mcp_line *fz_mcp_body_align(const struct fz_mcp_body *base,
				      const struct fz_mcp_body *head, uint32_t *ret_n)
{
	const struct fz_mcp_body *body[FZ_SIDES] = { base, head };
	const struct fz_line_list texts[FZ_SIDES] = { { base->lines, base->n },
						      { head->lines, head->n } };
	fz_auto(fz_free_ptr) struct fz_line_pair *pairs = fz_lines_align(texts, ret_n);
	struct fz_mcp_line *lines = fz_calloc(*ret_n, sizeof(*lines));

	for (uint32_t i = 0; i < *ret_n; i++)
		for (enum fz_side side = 0; side < FZ_SIDES; side++) {
			uint32_t at = pairs[i].on_side[side];
			if (at == FZ_NONE)
				continue;
			lines[i].line[side] = body[side]->first + (int32_t)at;
			lines[i].text = body[side]->lines[at]; /* the head's, if it has one */
		}
	return lines;
}
