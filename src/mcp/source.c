/* SPDX-License-Identifier: MIT */
/* Texts of functions and their common lines; see source.h.
 *
 *   base: a b c d        a b - c d       lines that both begin and end with are common; between
 *   head: a x c d   ->   a + c d         them the longest common subsequence is, if it is small
 */
#include "mcp/source.h"

/* Of the table of the longest common subsequence. */
enum { CELLS_MAX = 1 << 20, BODY_LINES_MAX = 20000 };

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

/* "f.<locals>.<listcomp>" stands in f. */
static struct fz_str without_inner(struct fz_str name)
{
	static const char inner[] = ".<locals>.<";

	for (size_t i = 0; i + sizeof(inner) - 1 <= name.n; i++)
		if (memcmp(name.p + i, inner, sizeof(inner) - 1) == 0)
			return (struct fz_str){ name.p, i };
	return name;
}

/* FZ_NONE: not known. */
static uint32_t find_definition(const struct fz_outline *o, const struct fz_profile *p,
				const struct fz_function *f)
{
	struct fz_str name = without_inner(p->strings[f->name]), tail = name;
	uint32_t found;

	if (f->kind != FZ_KIND_PYTHON || fz_str_eq(name, FZ_STR("<module>")))
		return FZ_NONE;
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] == '.')
			tail = (struct fz_str){ name.p + i + 1, name.n - i - 1 };
	found = f->first_line > 0 ? fz_outline_find_at(o, tail, f->first_line) : FZ_NONE;
	return found != FZ_NONE ? found : fz_outline_find(o, name);
}

/* Lines of a text; the first has number 1. */
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

/* ---- what is different ---- */

static bool same(struct fz_str a, struct fz_str b)
{
	return fz_str_eq(fz_str_trimmed(a), fz_str_trimmed(b));
}

bool fz_mcp_body_equal(const struct fz_mcp_body *a, const struct fz_mcp_body *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (!fz_str_eq(a->lines[i], b->lines[i]))
			return false;
	return true;
}

struct alignment {
	const struct fz_mcp_body *side[FZ_SIDES];
	struct fz_mcp_line *lines;
	uint32_t n;
};

static void add(struct alignment *a, uint32_t base, uint32_t head)
{
	const struct fz_mcp_body *b = a->side[FZ_BASE], *h = a->side[FZ_HEAD];

	a->lines[a->n++] = (struct fz_mcp_line){
		.line = { base == FZ_NONE ? 0 : b->first + (int32_t)base,
			  head == FZ_NONE ? 0 : h->first + (int32_t)head },
		.text = head == FZ_NONE ? b->lines[base] : h->lines[head],
	};
}

/* Lines [from, from + n) of both sides, of which the first and the last are different. */
static void align_middle(struct alignment *a, uint32_t from, const uint32_t n[FZ_SIDES])
{
	const struct fz_str *b = a->side[FZ_BASE]->lines + from;
	const struct fz_str *h = a->side[FZ_HEAD]->lines + from;
	uint32_t width = n[FZ_HEAD] + 1, i = 0, j = 0;
	bool small = (uint64_t)(n[FZ_BASE] + 1) * width <= CELLS_MAX;
	/* common[i * width + j]: of what is left from i and j on */
	fz_auto(fz_free_ptr) uint16_t *common =
		fz_calloc(small ? (size_t)(n[FZ_BASE] + 1) * width : 1, sizeof(*common));

	for (uint32_t x = small ? n[FZ_BASE] : 0; x-- > 0;)
		for (uint32_t y = n[FZ_HEAD]; y-- > 0;) {
			uint16_t *at = &common[(size_t)x * width + y];
			*at = same(b[x], h[y]) ? (uint16_t)(at[width + 1] + 1)
					       : FZ_MAX(at[width], at[1]);
		}
	while (i < n[FZ_BASE] || j < n[FZ_HEAD]) {
		const uint16_t *at = small ? &common[(size_t)i * width + j] : NULL;
		if (at && i < n[FZ_BASE] && j < n[FZ_HEAD] && same(b[i], h[j]))
			add(a, from + i++, from + j++);
		else if (i < n[FZ_BASE] && (j == n[FZ_HEAD] || !at || at[width] >= at[1]))
			add(a, from + i++, FZ_NONE);
		else
			add(a, FZ_NONE, from + j++);
	}
}

struct fz_mcp_line *fz_mcp_body_align(const struct fz_mcp_body *base,
				      const struct fz_mcp_body *head, uint32_t *ret_n)
{
	struct alignment a = { .side = { base, head } };
	uint32_t least = FZ_MIN(base->n, head->n), before = 0, behind = 0;

	a.lines = fz_calloc((size_t)base->n + head->n, sizeof(*a.lines));
	while (before < least && same(base->lines[before], head->lines[before]))
		before++;
	while (behind < least - before &&
	       same(base->lines[base->n - 1 - behind], head->lines[head->n - 1 - behind]))
		behind++;
	for (uint32_t i = 0; i < before; i++)
		add(&a, i, i);
	align_middle(&a, before,
		     (uint32_t[]){ base->n - before - behind, head->n - before - behind });
	for (uint32_t i = behind; i > 0; i--)
		add(&a, base->n - i, head->n - i);
	*ret_n = a.n;
	return a.lines;
}
