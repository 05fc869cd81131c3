/* SPDX-License-Identifier: MIT */
/* Selecting the source lines that a page contains.
 *
 * These are the lines around each sampled line and around the first line of each function;
 * overlapping ranges of a file are merged into chunks. A counted recording has only first lines of
 * functions, so its Python functions are included whole. Files with at least a hundredth of the run
 * as their own cost are included whole, which makes pages 7 to 17 % larger; if the page opens on
 * the source, all files are, the costliest first, up to a limit (which makes pages 2.5 to 3 times
 * as large). A file with the same text in both recordings is one source. Text that the base did not
 * store is never taken from the head.
 *
 * Both versions of a function are aligned here, with more lines around it than the page contains,
 * so that a nearby edit is recognised as an edit. Each function is aligned by itself, so that one
 * that moved within its file is compared with itself. Whole files are aligned in pairs: a file of
 * the base and the file of the head that has most of the cost of its functions, each once.
 */
#include "page_source.h"

#include "compare/outline.h"
#include "report/file_pairs.h"
#include "report/line_runs.h"
#include "report/recording.h"

enum {
	LINES_BEFORE = 6,
	LINES_AFTER = 8,
	LINES_ALIGNED = 40,         /* around a function */
	LINES_ALIGNED_BODY = 400,   /* below the first line of a function of a counted recording */
	SOURCE_BYTES_MAX = 2 << 20, /* of a page; further lines are left out */
	WHOLE_BYTES_MAX = 24 << 20, /* of whole files; of further ones lines are chosen */
	LAST_LINE = INT32_MAX - 1,
};

#define COSTLY 0.01 /* files with at least this part of the run are always included whole */

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
	int64_t *whole;      /* of sources: are they included whole? */
};

static int compare_spans(const void *pa, const void *pb)
{
	const struct span *a = pa, *b = pb;

	return FZ_CMP(a->source, b->source) ?: FZ_CMP(a->first, b->first);
}

static void want_line(struct collector *c, uint32_t source, int32_t line)
{
	if (line <= 0 || line > INT32_MAX - LINES_AFTER)
		return;
	fz_push(c->spans, c->n, c->cap,
		(struct span){ source, FZ_MAX(1, line - LINES_BEFORE), line + LINES_AFTER });
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
		fz_push(c->sources, c->source_count, c->source_cap, text);
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

struct ranked {
	uint32_t source;
	double cost;
};

static int compare_ranked(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	return (a->source > b->source) - (a->source < b->source);
}

/* Request whole files of at least this own cost, the costliest first, until the limit. */
static void want_files(struct collector *c, int64_t *const source[FZ_SIDES], const uint32_t *used,
		       uint32_t used_n, double least)
{
	fz_auto(fz_free_ptr) struct ranked *files =
		fz_calloc(c->source_count + 1ul, sizeof(*files));
	size_t bytes = 0;

	for (uint32_t i = 0; i < c->source_count; i++)
		files[i].source = i;
	for (int side = 0; side < FZ_SIDES; side++)
		for (uint32_t i = 0; source[side] && i < used_n; i++)
			if (source[side][i])
				files[source[side][i] - 1].cost +=
					(double)c->page->functions[used[i]].cost.self[side];
	qsort(files, c->source_count, sizeof(*files), compare_ranked);
	for (uint32_t i = 0; i < c->source_count; i++) {
		uint32_t file = files[i].source;
		if (files[i].cost < least || bytes + c->sources[file]->size > WHOLE_BYTES_MAX)
			continue;
		bytes += c->sources[file]->size;
		c->whole[file] = 1;
		fz_push(c->spans, c->n, c->cap, (struct span){ file, 1, LAST_LINE });
	}
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
		if (!c->whole[walked])
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

/* ---- alignment ---- */

struct aligner {
	const struct collector *c;
	int64_t *const *source;     /* by side: sources of used functions */
	struct fz_line_list *lines; /* of sources, split when they are first needed */
	size_t *first_line;         /* of functions, among the page's lines */
	struct fz_line_runs runs;
	int64_t *function, *first[FZ_SIDES], *count;
	size_t n;
};

static const struct fz_line_list *lines_of(struct aligner *a, int64_t source)
{
	struct fz_line_list *list = &a->lines[source - 1];
	const struct fz_source_text *text = a->c->sources[source - 1];

	if (!list->list)
		fz_lines_init(list, (struct fz_str){ text->text, text->size });
	return list;
}

/* The first and last line of a function on one side, from its definition and its costs, with lines
 * around them. Returns whether any is known. */
static bool function_range(const struct aligner *a, uint32_t function, enum fz_side side,
			   int64_t *ret_first, int64_t *ret_last)
{
	const struct fz_page *page = a->c->page;
	const struct fz_profile *p = page->profile[side];
	int32_t line = p->functions[page->functions[function].on_side[side]].first_line;
	int64_t first = line > 0 ? line : INT32_MAX, last = FZ_MAX(line, 0);

	for (size_t i = a->first_line[function]; i < a->first_line[function + 1]; i++) {
		const struct fz_page_line *l = &page->lines[i];
		if (!l->self[side] && !l->total[side])
			continue;
		first = FZ_MIN(first, l->line);
		last = FZ_MAX(last, l->line);
	}
	*ret_first = FZ_MAX(first - LINES_ALIGNED, 1);
	*ret_last = last + (fz_recording_is_counted(p) ? LINES_ALIGNED_BODY : LINES_ALIGNED);
	return last > 0;
}

static void align_function(struct aligner *a, uint32_t number, uint32_t function)
{
	struct fz_line_list part[FZ_SIDES];
	int64_t first, last;

	for (int side = 0; side < FZ_SIDES; side++) {
		const struct fz_line_list *all = lines_of(a, a->source[side][number]);
		if (!function_range(a, function, side, &first, &last) || first > all->n)
			return;
		part[side] = (struct fz_line_list){ all->list + first - 1,
						    (uint32_t)(FZ_MIN(last, all->n) - first + 1) };
		a->first[side][a->n] = first;
	}
	a->function[a->n] = number;
	a->count[a->n++] = (int64_t)fz_line_runs_add(&a->runs, part);
}

static int64_t line_on(const struct fz_page *page, uint32_t function, enum fz_side side)
{
	return page->profile[side]->functions[page->functions[function].on_side[side]].first_line;
}

/* Align the used functions whose texts differ. In all others, lines have the same numbers. */
static void align_functions(struct aligner *a, const uint32_t *used, uint32_t used_n)
{
	for (uint32_t i = 0; i < used_n; i++) {
		int64_t base = a->source[FZ_BASE][i], head = a->source[FZ_HEAD][i];
		if (base && head &&
		    (base != head || line_on(a->c->page, used[i], FZ_BASE) !=
					     line_on(a->c->page, used[i], FZ_HEAD)))
			align_function(a, i, used[i]);
	}
}

/* ---- pairs of files ---- */

static void find_pairs(const struct aligner *a, const uint32_t *used, uint32_t used_n,
		       struct fz_file_pairs *pairs)
{
	for (uint32_t i = 0; i < used_n; i++) {
		const struct fz_diff_cost *cost = &a->c->page->functions[used[i]].cost;
		int64_t base = a->source[FZ_BASE][i], head = a->source[FZ_HEAD][i];
		if (base && head)
			fz_file_pairs_add(pairs, (uint32_t)base, (uint32_t)head,
					  (double)cost->total[FZ_BASE] +
						  (double)cost->total[FZ_HEAD]);
	}
	fz_file_pairs_choose(pairs);
}

/* Add the columns "pair.base", "pair.head" and "pair.runs", which follow those of functions. */
static void add_pairs(struct aligner *a, const uint32_t *used, uint32_t used_n,
		      struct fz_columns *columns)
{
	static const char *const names[] = { "pair.base", "pair.head", "pair.runs" };
	fz_auto(fz_file_pairs_release) struct fz_file_pairs pairs = { 0 };

	find_pairs(a, used, used_n, &pairs);
	size_t n = pairs.n;
	fz_auto(fz_free_ptr) int64_t *values = fz_calloc(3 * n + 1, sizeof(*values));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t base = pairs.list[i].base, head = pairs.list[i].head;
		values[i] = base;
		values[n + i] = head;
		if (base == head || !a->c->whole[base - 1] || !a->c->whole[head - 1])
			continue;
		const struct fz_line_list texts[] = { *lines_of(a, base), *lines_of(a, head) };
		values[2 * n + i] = (int64_t)fz_line_runs_add(&a->runs, texts);
	}
	for (size_t k = 0; k < FZ_ARRAY_LEN(names); k++)
		fz_columns_numbers(columns, names[k], values + k * n, n);
}

/* ---- the columns ---- */

static void add_alignments(const struct collector *c, int64_t *const source[FZ_SIDES],
			   const uint32_t *used, uint32_t used_n, struct fz_columns *columns)
{
	const struct fz_page *page = c->page;
	struct aligner a = { .c = c, .source = source };
	int64_t **lists[] = { &a.function, &a.first[FZ_BASE], &a.first[FZ_HEAD], &a.count };
	static const char *const names[] = { "aligned.function", "aligned.base", "aligned.head",
					     "aligned.runs" };

	for (size_t k = 0; k < FZ_ARRAY_LEN(lists); k++)
		*lists[k] = fz_calloc(used_n + 1ul, sizeof(int64_t));
	a.lines = fz_calloc(c->source_count + 1ul, sizeof(*a.lines));
	a.first_line = fz_calloc(page->function_count + 2ul, sizeof(*a.first_line));
	for (size_t i = 0; i < page->line_count; i++)
		a.first_line[page->lines[i].function + 1]++;
	for (uint32_t i = 0; i < page->function_count; i++)
		a.first_line[i + 1] += a.first_line[i];
	align_functions(&a, used, used_n);
	add_pairs(&a, used, used_n, columns);
	if (a.runs.n)
		fz_line_runs_columns(&a.runs, columns);
	for (size_t k = 0; k < FZ_ARRAY_LEN(lists); k++) {
		if (a.n)
			fz_columns_numbers(columns, names[k], *lists[k], a.n);
		free(*lists[k]);
	}
	for (uint32_t i = 0; i < c->source_count; i++)
		fz_lines_release(&a.lines[i]);
	free(a.lines);
	free(a.first_line);
	fz_line_runs_release(&a.runs);
}

void fz_page_source_columns(const struct fz_page *page, const uint32_t *used, uint32_t used_n,
			    bool all, struct fz_columns *columns)
{
	static const char *const names[FZ_SIDES] = { "function.source.base",
						     "function.source.head" };
	struct collector c = { .page = page };
	int64_t *source[FZ_SIDES] = { NULL };

	for (int side = 0; side < FZ_SIDES; side++) {
		if (!page->profile[side] || !page->profile[side]->source_count)
			continue;
		source[side] = find_sources(&c, used, used_n, side);
		fz_columns_numbers(columns, names[side], source[side], used_n);
		want_lines(&c, used, source[side], used_n, side);
		if (fz_recording_is_counted(page->profile[side]))
			want_definitions(&c, used, source[side], used_n, side);
	}
	c.whole = fz_calloc(c.source_count + 1ul, sizeof(*c.whole));
	if (c.source_count)
		want_files(&c, source, used, used_n,
			   all ? 0 : COSTLY * (double)(page->sum[FZ_BASE] + page->sum[FZ_HEAD]));
	fz_columns_numbers(columns, "source.whole", c.whole, c.source_count);
	merge_spans(&c);
	if (c.n)
		add_chunks(&c, columns);
	if (source[FZ_BASE] && source[FZ_HEAD])
		add_alignments(&c, source, used, used_n, columns);
	free(source[FZ_BASE]);
	free(source[FZ_HEAD]);
	fz_map_release(&c.known);
	free(c.whole);
	free(c.spans);
	free(c.sources);
}
