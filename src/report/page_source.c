/* SPDX-License-Identifier: MIT */
/* Selecting the source lines that a page contains.
 *
 * These are the lines around each sampled line and around the first line of each function;
 * overlapping ranges of a file are merged into chunks. A counted recording has only first lines of
 * functions, so its Python functions are included whole. A file with the same text in both
 * recordings is one source. Text that the base did not store is never taken from the head.
 */
#include "page_source.h"

#include "compare/outline.h"
#include "report/text.h"

enum {
	LINES_BEFORE = 6,
	LINES_AFTER = 8,
	SOURCE_BYTES_MAX = 2 << 20, /* of a page; further lines are left out */
};

struct span {
	uint32_t source;
	int32_t first, last;
};

struct collector {
	const struct fz_page *page;
	struct span *spans;
	size_t n, cap;
	const struct fz_source_text **sources;
	uint32_t source_count, source_cap;
	struct fz_map known; /* text -> index in sources */
};

static int compare_spans(const void *pa, const void *pb)
{
	const struct span *a = pa, *b = pb;

	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

static void want_line(struct collector *c, uint32_t source, int32_t line)
{
	if (line <= 0 || line > INT32_MAX - LINES_AFTER)
		return;
	fz_grow(c->spans, c->n, c->cap);
	c->spans[c->n++] =
		(struct span){ source, FZ_MAX(1, line - LINES_BEFORE), line + LINES_AFTER };
}

/* Request all lines of the definition at `line`, as if each were sampled. */
static void want_definition(struct collector *c, uint32_t source, const struct fz_outline *o,
			    int32_t line)
{
	uint32_t at = line > 0 ? fz_outline_at(o, line) : 0;

	if (at == FZ_NONE || at == 0)
		return;
	for (int32_t k = o->definitions[at].first_line; k <= o->definitions[at].last_line;
	     k += LINES_AFTER)
		want_line(c, source, k);
}

static bool same_text(const struct fz_source_text *a, const struct fz_source_text *b)
{
	return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

static const struct fz_source_text *text_of(const struct fz_page *page, uint32_t function,
					    enum fz_side side)
{
	const struct fz_profile *p = page->profile[side];
	uint32_t on_side = page->functions[function].on_side[side];

	if (!p || on_side == FZ_NONE || !p->source_count)
		return NULL;
	return fz_profile_source(p, p->functions[on_side].file);
}

/* Index + 1 of the source in the collector, by identity. */
static uint32_t source_number(struct collector *c, const void *text)
{
	uint32_t *slot = fz_map_slot(&c->known, (uintptr_t)text);

	if (*slot == FZ_NONE) {
		*slot = c->source_count;
		fz_grow(c->sources, c->source_count, c->source_cap);
		c->sources[c->source_count++] = text;
	}
	return *slot + 1;
}

/* ret[i]: source of used function i on this side. */
static int64_t *find_sources(struct collector *c, const uint32_t *used, uint32_t used_n,
			     enum fz_side side)
{
	int64_t *ret = fz_calloc(used_n + 1ul, sizeof(*ret));

	for (uint32_t i = 0; i < used_n; i++) {
		const struct fz_source_text *text = text_of(c->page, used[i], side);
		const struct fz_source_text *head = text_of(c->page, used[i], FZ_HEAD);
		if (text)
			ret[i] = source_number(c, head && same_text(text, head) ? head : text);
	}
	return ret;
}

/* For a counted recording: request all lines of its Python functions. */
static void want_definitions(struct collector *c, const uint32_t *used, const int64_t *source,
			     uint32_t used_n, enum fz_side side)
{
	const struct fz_profile *p = c->page->profile[side];
	fz_auto(fz_free_ptr) struct fz_outline *outlines =
		fz_calloc(c->source_count + 1ul, sizeof(*outlines));

	for (uint32_t i = 0; i < used_n; i++) {
		const struct fz_page_function *f = &c->page->functions[used[i]];
		if (!source[i] || f->kind != FZ_KIND_PYTHON)
			continue;
		uint32_t at = (uint32_t)source[i] - 1;
		const struct fz_source_text *text = c->sources[at];
		if (!outlines[at].n)
			fz_outline_init(&outlines[at], (struct fz_str){ text->text, text->size });
		want_definition(c, at, &outlines[at], p->functions[f->on_side[side]].first_line);
	}
	for (uint32_t i = 0; i < c->source_count; i++)
		if (outlines[i].n)
			fz_outline_release(&outlines[i]);
}

/* Request the lines of each function on this side that has a source. */
static void want_lines(struct collector *c, const uint32_t *used, const int64_t *source,
		       uint32_t used_n, enum fz_side side)
{
	const struct fz_profile *p = c->page->profile[side];
	fz_auto(fz_free_ptr) uint32_t *of_function =
		fz_calloc(p->function_count + 1ul, sizeof(*of_function));

	for (uint32_t i = 0; i < used_n; i++) {
		uint32_t f = c->page->functions[used[i]].on_side[side];
		if (!source[i])
			continue;
		of_function[f] = (uint32_t)source[i];
		want_line(c, (uint32_t)source[i] - 1, p->functions[f].first_line);
	}
	for (uint32_t i = 0; i < p->frame_count; i++)
		if (of_function[p->frames[i].function])
			want_line(c, of_function[p->frames[i].function] - 1, p->frames[i].line);
}

/* Merge sorted spans that overlap or touch. */
static void merge_spans(struct collector *c)
{
	size_t kept = 0;

	if (!c->n)
		return;
	qsort(c->spans, c->n, sizeof(*c->spans), compare_spans);
	for (size_t i = 1; i < c->n; i++) {
		struct span *last = &c->spans[kept];
		if (c->spans[i].source == last->source && c->spans[i].first <= last->last + 1)
			last->last = FZ_MAX(last->last, c->spans[i].last);
		else
			c->spans[++kept] = c->spans[i];
	}
	c->n = kept + 1;
}

/* Spans of a file are in order, so its text is read once; *line and *at are the position. */
static struct fz_str cut_lines(const struct fz_source_text *s, const struct span *span,
			       int32_t *line, size_t *at)
{
	while (*line < span->first && *at < s->size) {
		const char *end = memchr(s->text + *at, '\n', s->size - *at);
		*at = end ? (size_t)(end - s->text) + 1 : s->size;
		++*line;
	}
	size_t start = *at;
	while (*line <= span->last && *at < s->size) {
		const char *end = memchr(s->text + *at, '\n', s->size - *at);
		*at = end ? (size_t)(end - s->text) + 1 : s->size;
		++*line;
	}
	return (struct fz_str){ s->text + start, *at - start };
}

static void add_chunks(const struct collector *c, struct fz_columns *columns)
{
	fz_auto(fz_free_ptr) int64_t *source = fz_calloc(c->n + 1, sizeof(*source));
	fz_auto(fz_free_ptr) int64_t *first = fz_calloc(c->n + 1, sizeof(*first));
	uint32_t walked = FZ_NONE;
	size_t at = 0, bytes = 0, n = 0;
	int32_t line = 1;

	fz_columns_begin_strings(columns, "chunk.text");
	for (size_t i = 0; i < c->n; i++) {
		const struct span *span = &c->spans[i];
		if (span->source != walked) {
			walked = span->source;
			line = 1;
			at = 0;
		}
		struct fz_str text = cut_lines(c->sources[walked], span, &line, &at);
		bytes += text.n;
		if (!text.n || bytes > SOURCE_BYTES_MAX)
			continue;
		source[n] = span->source;
		first[n++] = span->first;
		fz_columns_string(columns, text);
	}
	fz_columns_end_strings(columns);
	fz_columns_numbers(columns, "chunk.source", source, n);
	fz_columns_numbers(columns, "chunk.start", first, n);
}

void fz_page_source_columns(const struct fz_page *page, const uint32_t *used, uint32_t used_n,
			    struct fz_columns *columns)
{
	static const char *const names[FZ_SIDES] = { "function.source.base",
						     "function.source.head" };
	struct collector c = { .page = page };

	for (int side = 0; side < FZ_SIDES; side++) {
		if (!page->profile[side] || !page->profile[side]->source_count)
			continue;
		fz_auto(fz_free_ptr) int64_t *source = find_sources(&c, used, used_n, side);
		fz_columns_numbers(columns, names[side], source, used_n);
		want_lines(&c, used, source, used_n, side);
		if (fz_report_is_counted(page->profile[side]))
			want_definitions(&c, used, source, used_n, side);
	}
	merge_spans(&c);
	if (c.n)
		add_chunks(&c, columns);
	fz_map_release(&c.known);
	free(c.spans);
	free(c.sources);
}
