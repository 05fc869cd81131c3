/* SPDX-License-Identifier: MIT */
/* The ten hottest lines of a profile, or the ten most changed functions of a diff; see
 * heatmap_hot.h. A diff lists functions, since lines can only be matched by comparing texts.
 */
#include "report/heatmap_hot.h"

#include <math.h>

enum { HOT_MAX = 10 };

struct hot {
	uint32_t file;
	int32_t line;
	struct fz_str name, text;
	uint8_t state, presence; /* of the function, in a diff */
	int64_t self[FZ_SIDES], total[FZ_SIDES];
	double weight;
};

struct hots {
	struct hot list[HOT_MAX];
	size_t n;
};

/* Insert an entry by size; equal ones keep their order. */
static void offer(struct hots *h, const struct hot *hot)
{
	size_t at = h->n;

	while (at > 0 && h->list[at - 1].weight < hot->weight)
		at--;
	if (at == HOT_MAX || hot->weight <= 0)
		return;
	h->n = FZ_MIN(h->n + 1, (size_t)HOT_MAX);
	memmove(&h->list[at + 1], &h->list[at], (h->n - at - 1) * sizeof(*hot));
	h->list[at] = *hot;
}

static struct fz_str line_of(const struct fz_heat *h, const struct fz_heat_file *file, int32_t line)
{
	uint32_t string = file->on_side[FZ_HEAD];
	const struct fz_source_text *text =
		string != FZ_NONE ? fz_profile_source(h->profile[FZ_HEAD], string) : NULL;
	const char *at = text ? text->text : NULL, *end = text ? at + text->size : NULL;

	for (int32_t i = 1; at && i < line; i++) {
		at = memchr(at, '\n', (size_t)(end - at));
		at += at ? 1 : 0;
	}
	if (!at || at == end)
		return FZ_STR("");
	const char *stop = memchr(at, '\n', (size_t)(end - at));
	return (struct fz_str){ at, (size_t)((stop ? stop : end) - at) };
}

static void take_lines(const struct fz_heat *h, bool no_source, struct hots *hots)
{
	for (uint32_t i = 0; i < h->line_count[FZ_HEAD]; i++) {
		const struct fz_heat_line *l = &h->lines[FZ_HEAD][i];
		offer(hots, &(struct hot){ .file = l->file,
					   .line = l->line,
					   .name = l->function == FZ_NONE
							   ? FZ_STR("")
							   : h->functions[l->function].name,
					   .self = { 0, l->self },
					   .total = { 0, l->total },
					   .weight = (double)l->self });
	}
	for (size_t i = 0; i < hots->n && !no_source; i++)
		hots->list[i].text = line_of(h, &h->files[hots->list[i].file], hots->list[i].line);
}

static void take_functions(const struct fz_heat *h, struct hots *hots)
{
	for (uint32_t i = 0; i < h->function_count; i++) {
		const struct fz_heat_function *f = &h->functions[i];
		const int64_t *self = f->cost.self, *total = f->cost.total;
		if (h->judgement && f->self_verdict != FZ_VERDICT_CHANGED)
			continue;
		offer(hots, &(struct hot){ .file = f->file,
					   .line = f->line,
					   .name = f->name,
					   .state = f->state,
					   .presence = f->presence,
					   .self = { self[FZ_BASE], self[FZ_HEAD] },
					   .total = { total[FZ_BASE], total[FZ_HEAD] },
					   .weight = fabs((double)self[FZ_HEAD] -
							  h->factor * (double)self[FZ_BASE]) });
	}
}

static void fill_numbers(const struct hots *hots, struct fz_columns *columns)
{
	static const char *const names[] = { "hot.file",      "hot.line",       "hot.self.base",
					     "hot.self.head", "hot.total.base", "hot.total.head",
					     "hot.state",     "hot.presence" };

	for (size_t what = 0; what < FZ_ARRAY_LEN(names); what++) {
		int64_t column[HOT_MAX];
		for (size_t i = 0; i < hots->n; i++) {
			const struct hot *h = &hots->list[i];
			int64_t values[] = { h->file,          h->line,           h->self[FZ_BASE],
					     h->self[FZ_HEAD], h->total[FZ_BASE], h->total[FZ_HEAD],
					     h->state,         h->presence };
			column[i] = values[what];
		}
		fz_columns_numbers(columns, names[what], column, hots->n);
	}
}

void fz_heat_hot_columns(const struct fz_heat *h, bool no_source, struct fz_columns *columns)
{
	struct hots hots = { 0 };

	if (h->diff)
		take_functions(h, &hots);
	else
		take_lines(h, no_source, &hots);
	fill_numbers(&hots, columns);
	fz_columns_begin_strings(columns, "hot.name");
	for (size_t i = 0; i < hots.n; i++)
		fz_columns_string(columns, hots.list[i].name);
	fz_columns_end_strings(columns);
	fz_columns_begin_strings(columns, "hot.text");
	for (size_t i = 0; i < hots.n; i++)
		fz_columns_string(columns, hots.list[i].text);
	fz_columns_end_strings(columns);
}
