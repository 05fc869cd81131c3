/* SPDX-License-Identifier: MIT */
/* Lines that several functions share, and parts of lines; see page_places.h.
 *
 *   names = [x.name for x in list]      before CPython 3.12 two functions: the caller and the
 *                                       comprehension. The sum of their totals counts it twice.
 */
#include "page_places.h"

#include "profile/places.h"

enum { SHARED_COLUMNS = 4, SPAN_COLUMNS = 6 };

/* Rows of numbers that become columns. */
struct rows {
	int64_t *values[SPAN_COLUMNS];
	size_t n, cap;
};

static void add_row(struct rows *r, const int64_t *row, size_t columns)
{
	if (r->n == r->cap) {
		r->cap = r->cap ? r->cap * 2 : 64;
		for (size_t k = 0; k < columns; k++)
			r->values[k] = fz_reallocarray(r->values[k], r->cap, sizeof(*r->values[k]));
	}
	for (size_t k = 0; k < columns; k++)
		r->values[k][r->n] = row[k];
	r->n++;
}

static void write_rows(struct rows *r, const char *const *names, size_t columns,
		       struct fz_columns *out)
{
	for (size_t k = 0; k < columns; k++) {
		if (r->n)
			fz_columns_numbers(out, names[k], r->values[k], r->n);
		free(r->values[k]);
	}
}

/* By function of a side: its place in `used`, FZ_NONE if it is not there; freed by the caller. */
static uint32_t *places_in_used(const struct fz_page *page, const uint32_t *used, uint32_t used_n,
				enum fz_side side)
{
	size_t n = page->profile[side]->function_count + 1ul;
	uint32_t *ret = fz_malloc(n * sizeof(*ret));

	memset(ret, 0xff, n * sizeof(*ret));
	for (uint32_t i = 0; i < used_n; i++) {
		uint32_t on_side = page->functions[used[i]].on_side[side];
		if (on_side != FZ_NONE)
			ret[on_side] = i;
	}
	return ret;
}

static bool is_costly(const struct fz_place *place)
{
	return place->line > 0 && place->total_samples > 0;
}

static void add_shared(struct rows *rows, const struct fz_page *page, const uint32_t *number,
		       uint32_t metric, enum fz_side side)
{
	const struct fz_profile *p = page->profile[side];
	struct fz_places lines;

	fz_places_init(&lines, p, FZ_PLACE_LINE, metric);
	fz_auto(fz_free_ptr) bool *shared = fz_calloc(lines.n + 1ul, sizeof(*shared));
	for (uint32_t i = 0; i < p->frame_count; i++) {
		const struct fz_place *place = &lines.list[lines.of_frame[i]];
		uint32_t first = p->frames[place->frame].function, f = p->frames[i].function;
		if (first == f || number[f] == number[first] || !p->functions[f].file)
			continue;
		shared[lines.of_frame[i]] = true;
	}
	for (uint32_t i = 0; i < lines.n; i++) {
		const struct fz_place *place = &lines.list[i];
		uint32_t f = number[p->frames[place->frame].function];
		const int64_t row[SHARED_COLUMNS] = { side, f, place->line, place->total };
		if (shared[i] && is_costly(place) && f != FZ_NONE)
			add_row(rows, row, SHARED_COLUMNS);
	}
	fz_places_release(&lines);
}

static void add_spans(struct rows *rows, const struct fz_profile *p, const uint32_t *number,
		      uint32_t metric)
{
	struct fz_places spans;

	fz_places_init(&spans, p, FZ_PLACE_LINE | FZ_PLACE_BY_SPAN, metric);
	for (uint32_t i = 0; i < spans.n; i++) {
		const struct fz_place *place = &spans.list[i];
		const struct fz_frame *frame = &p->frames[place->frame];
		const int64_t row[SPAN_COLUMNS] = {
			number[frame->function], place->line, frame->column,
			frame->end_column,       place->self, place->total
		};
		if (is_costly(place) && place->self && frame->end_line == place->line &&
		    frame->column >= 0 && frame->end_column >= 0 && row[0] != FZ_NONE)
			add_row(rows, row, SPAN_COLUMNS);
	}
	fz_places_release(&spans);
}

void fz_page_places_columns(const struct fz_page *page, const uint32_t *used, uint32_t used_n,
			    struct fz_columns *columns)
{
	static const char *const shared_names[] = { "shared.side", "shared.function", "shared.line",
						    "shared.total" };
	static const char *const span_names[] = { "span.function", "span.line", "span.from",
						  "span.to",       "span.self", "span.total" };
	struct rows shared = { 0 }, spans = { 0 };

	for (int side = 0; side < FZ_SIDES; side++) {
		const struct fz_profile *p = page->profile[side];
		if (!p || !page->line_count)
			continue;
		uint32_t metric = fz_profile_find_metric(p, fz_str_of(page->metric));
		if (metric == FZ_NONE)
			metric = FZ_METRIC_SAMPLES;
		fz_auto(fz_free_ptr) uint32_t *number = places_in_used(page, used, used_n, side);
		add_shared(&shared, page, number, metric, side);
		if (side == FZ_HEAD)
			add_spans(&spans, p, number, metric);
	}
	write_rows(&shared, shared_names, SHARED_COLUMNS, columns);
	write_rows(&spans, span_names, SPAN_COLUMNS, columns);
}
