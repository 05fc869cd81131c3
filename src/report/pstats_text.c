/* SPDX-License-Identifier: MIT */
/* The table of `profiling.sampling --pstats`, as text.
 *
 *   Profile Stats:
 *          nsamples   sample%  tottime (ms)    cumul%  cumtime (ms)  filename:lineno(function)
 *           735/735      61.2       367.500      61.2       367.500  program.py:11(parse)
 *
 * Columns, units, legend and summaries are CPython's. Rows are functions, or lines if requested; a
 * function's second number counts a sample once, even if several of its lines are on the stack. The
 * summaries choose among all functions, while CPython's only use the rows printed. Files with the
 * same name keep as many folders as needed to distinguish them.
 */
#include "report/pstats_text.h"

#include "base/clock.h"
#include "base/table.h"
#include "profile/places.h"

#include <math.h>
#include <stdio.h>

enum { BEST = 3, NAME_MAX = 4096 };

struct row {
	const struct fz_place *place;
	struct fz_str name, file;
	struct fz_str shown; /* the file's name, or all of its path */
};

struct table {
	const struct fz_profile *p;
	const struct fz_style *style;
	struct fz_buf *out;
	struct fz_places places;
	struct row *rows;
	uint32_t n;
	const struct fz_metric *metric;
	bool timed;
	bool has_values; /* false: they would only repeat the samples */
};

struct unit {
	char name[FZ_NUMBER_SIZE];
	double scale;
};

/* ---- rows ---- */

/* Show paths for different files with the same name. */
static void name_files(struct table *t)
{
	struct fz_map first = { 0 }; /* file name -> row that had it first */
	fz_auto(fz_free_ptr) bool *several = fz_calloc(t->n + 1ul, sizeof(*several));
	fz_auto(fz_free_ptr) uint32_t *namesake = fz_calloc(t->n + 1ul, sizeof(*namesake));

	for (uint32_t i = 0; i < t->n; i++) {
		struct fz_str base = fz_path_base(t->rows[i].file);
		uint32_t *slot = fz_map_slot(&first, fz_map_hash(base.p, base.n));
		if (*slot == FZ_NONE)
			*slot = i;
		namesake[i] = *slot;
		if (!fz_str_eq(t->rows[*slot].file, t->rows[i].file))
			several[*slot] = true;
	}
	for (uint32_t i = 0; i < t->n; i++)
		t->rows[i].shown =
			several[namesake[i]] ? t->rows[i].file : fz_path_base(t->rows[i].file);
	fz_map_release(&first);
}

static int compare_names(const struct row *a, const struct row *b)
{
	return fz_str_cmp(a->file, b->file) ?: FZ_CMP(a->place->line, b->place->line) ?:
	       fz_str_cmp(a->name, b->name);
}

#define DESCENDING(a, b) (((a) < (b)) - ((a) > (b)))

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct row *a = pa, *b = pb;
	const struct fz_place *pl = a->place, *pr = b->place;
	int by[] = { DESCENDING(pl->self, pr->self), DESCENDING(pl->total, pr->total),
		     DESCENDING(pl->self_samples, pr->self_samples),
		     DESCENDING(pl->total_samples, pr->total_samples) };
	static const int orders[][4] = {
		[FZ_TEXT_SORT_SELF] = { 0, 1, 2, 3 },
		[FZ_TEXT_SORT_TOTAL] = { 1, 0, 3, 2 },
		[FZ_TEXT_SORT_SELF_SAMPLES] = { 2, 3, 0, 1 },
		[FZ_TEXT_SORT_TOTAL_SAMPLES] = { 3, 2, 1, 0 },
	};
	enum fz_text_sort sort = *(const enum fz_text_sort *)arg;

	for (int i = 0; i < 4 && sort != FZ_TEXT_SORT_NAME; i++)
		if (by[orders[sort][i]])
			return by[orders[sort][i]];
	return compare_names(a, b);
}

static void make_rows(struct table *t, enum fz_text_sort sort)
{
	t->rows = fz_calloc(t->places.n + 1ul, sizeof(*t->rows));
	for (uint32_t i = 0; i < t->places.n; i++) {
		const struct fz_place *place = &t->places.list[i];
		const struct fz_function *f = fz_place_function(t->p, place);
		if (place->total_samples)
			t->rows[t->n++] = (struct row){
				.place = place,
				.name = t->p->strings[f->name],
				.file = fz_place_file(t->p, f),
			};
	}
	name_files(t);
	if (t->n)
		qsort_r(t->rows, t->n, sizeof(*t->rows), compare_rows, &sort);
}

/* ---- the table ---- */

/* Unit of a column, by its largest value: seconds, milliseconds or microseconds. */
static struct unit best_unit(const struct table *t, int64_t most)
{
	struct unit u = { .scale = 1 };

	if (!t->timed)
		snprintf(u.name, sizeof(u.name), "%s", t->metric->name);
	else if (most >= FZ_SECOND)
		u = (struct unit){ "s", 1e-9 };
	else if (most >= FZ_MS)
		u = (struct unit){ "ms", 1e-6 };
	else
		u = (struct unit){ "", 1e-3 };
	if (!u.name[0])
		snprintf(u.name, sizeof(u.name), "%s", t->style->ascii ? "us" : "\u03bcs");
	return u;
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void add_name(const struct row *r, bool with_line, struct fz_buf *out)
{
	char name[NAME_MAX], file[NAME_MAX];

	fz_str_printable(r->name.p, r->name.n, name, sizeof(name));
	fz_str_printable(r->shown.p, r->shown.n, file, sizeof(file));
	if (with_line)
		fz_buf_printf(out, "%s:%d(%s)", file, (int)r->place->line, name);
	else
		fz_buf_printf(out, "%s:(%s)", file, name);
}

struct rows {
	const struct table *t;
	struct unit self, total;
};

static void add_samples(struct fz_table *out, const struct rows *c, uint64_t samples)
{
	char text[FZ_NUMBER_SIZE];

	snprintf(text, sizeof(text), "%.1f", percent(samples, c->t->places.samples));
	fz_table_cell(out, text);
}

static void add_value(struct fz_table *out, const struct rows *c, int64_t v, const struct unit *u)
{
	char text[FZ_NUMBER_SIZE];

	if (c->t->timed)
		snprintf(text, sizeof(text), "%.3f", (double)v * u->scale);
	else
		snprintf(text, sizeof(text), "%lld", (long long)v);
	fz_table_cell(out, text);
}

static void add_row(struct fz_table *out, size_t i, const void *arg)
{
	const struct rows *c = arg;
	const struct fz_place *place = c->t->rows[i].place;
	char text[FZ_NUMBER_SIZE];

	snprintf(text, sizeof(text), "%llu/%llu", (unsigned long long)place->self_samples,
		 (unsigned long long)place->total_samples);
	fz_table_cell(out, text);
	add_samples(out, c, place->self_samples);
	add_value(out, c, place->self, &c->self);
	add_samples(out, c, place->total_samples);
	add_value(out, c, place->total, &c->total);
	fz_table_last(out);
	add_name(&c->t->rows[i], true, out->out);
}

static void print_table(const struct table *t, uint32_t shown)
{
	enum { SELF = 2, TOTAL = 4 };
	static const struct fz_column columns[] = {
		{ "nsamples", FZ_RIGHT, .min = 15 },
		{ "sample%", FZ_RIGHT, .gap = 2, .min = 8 },
		{ NULL, FZ_RIGHT, .gap = 2, .min = 12 },
		{ "cumul%", FZ_RIGHT, .gap = 2, .min = 8 },
		{ NULL, FZ_RIGHT, .gap = 2, .min = 12 },
		{ "filename:lineno(function)", .gap = 2 },
	};
	char self_title[FZ_NUMBER_SIZE + 16], total_title[FZ_NUMBER_SIZE + 16];
	int64_t self = 0, total = 0;
	struct fz_table out;

	for (uint32_t i = 0; i < shown; i++) {
		self = FZ_MAX(self, t->rows[i].place->self);
		total = FZ_MAX(total, t->rows[i].place->total);
	}
	struct rows rows = { t, best_unit(t, self), best_unit(t, total) };
	snprintf(self_title, sizeof(self_title), "%s (%s)", t->timed ? "tottime" : "self",
		 rows.self.name);
	snprintf(total_title, sizeof(total_title), "%s (%s)", t->timed ? "cumtime" : "total",
		 rows.total.name);
	fz_buf_printf(t->out, "%sProfile Stats:%s\n", fz_hue_on(t->style, FZ_HUE_BOLD),
		      fz_hue_off(t->style, FZ_HUE_BOLD));
	fz_table_init(&out, columns, FZ_ARRAY_LEN(columns), t->style, t->out);
	out.title_hue = FZ_HUE_BOLD;
	out.titles[SELF] = self_title;
	out.titles[TOTAL] = total_title;
	out.hidden = t->has_values ? 0 : 1u << SELF | 1u << TOTAL;
	fz_table_print(&out, shown, add_row, &rows);
}

static void print_legend(const struct table *t)
{
	static const struct {
		const char *column, *text;
		bool value;
	} legend[] = {
		{ "nsamples", "Direct/Cumulative samples (direct executing / on call stack)",
		  false },
		{ "sample%", "Percentage of total samples this function was directly executing",
		  false },
		{ "tottime", "Estimated total time spent directly in this function", true },
		{ "cumul%", "Percentage of total samples when this function was on the call stack",
		  false },
		{ "cumtime", "Estimated cumulative time (including time in called functions)",
		  true },
		{ "filename:lineno(function)", "Function location and name", false },
	};

	fz_buf_printf(t->out, "\n%sLegend:%s\n", fz_hue_on(t->style, FZ_HUE_BOLD),
		      fz_hue_off(t->style, FZ_HUE_BOLD));
	for (size_t i = 0; i < FZ_ARRAY_LEN(legend); i++)
		if (!legend[i].value || (t->has_values && t->timed))
			fz_buf_printf(t->out, "  %s: %s\n", legend[i].column, legend[i].text);
}

/* ---- summaries ---- */

/* Score of a function in the summary; 0: it is left out. */
static double hot_spot(const struct fz_place *f)
{
	return f->total_samples ? (double)f->self_samples / (double)f->total_samples : 0;
}

static double indirect_calls(const struct fz_place *f)
{
	return (double)(f->total_samples - f->self_samples);
}

static double magnification(const struct fz_place *f)
{
	return f->self_samples && f->total_samples > f->self_samples
		       ? (double)f->total_samples / (double)f->self_samples
		       : 0;
}

static void print_hot_spot(const struct table *t, const struct fz_place *f)
{
	fz_buf_printf(t->out,
		      "  %.3f direct/cumulative ratio, %.1f%% direct samples: ", hot_spot(f),
		      percent(f->self_samples, t->places.samples));
}

static void print_indirect(const struct table *t, const struct fz_place *f)
{
	fz_buf_printf(t->out,
		      "  %.0f indirect calls, %.1f%% total stack presence: ", indirect_calls(f),
		      percent(f->total_samples, t->places.samples));
}

static void print_magnification(const struct table *t, const struct fz_place *f)
{
	fz_buf_printf(t->out, "  %.1fx call magnification, %.0f indirect calls from %llu direct: ",
		      magnification(f), indirect_calls(f), (unsigned long long)f->self_samples);
}

static const struct summary {
	const char *title;
	double (*score)(const struct fz_place *f);
	void (*print)(const struct table *t, const struct fz_place *f);
} summaries[] = {
	{ "Functions with Highest Direct/Cumulative Ratio (Hot Spots)", hot_spot, print_hot_spot },
	{ "Functions with Highest Call Frequency (Indirect Calls)", indirect_calls,
	  print_indirect },
	{ "Functions with Highest Call Magnification (Cumulative/Direct)", magnification,
	  print_magnification },
};

/* Print the rows with the highest scores; with equal scores the first in the table. */
static void print_summary(struct table *t, const struct summary *s)
{
	const struct row *best[BEST] = { NULL };

	fz_buf_printf(t->out, "\n%s%s:%s\n", fz_hue_on(t->style, FZ_HUE_BOLD), s->title,
		      fz_hue_off(t->style, FZ_HUE_BOLD));
	for (uint32_t i = 0; i < t->n; i++) {
		const struct row *r = &t->rows[i];
		for (int k = 0; k < BEST && r && s->score(r->place) > 0; k++) {
			if (best[k] && s->score(best[k]->place) >= s->score(r->place))
				continue;
			const struct row *down = best[k];
			best[k] = r;
			r = down;
		}
	}
	for (int k = 0; k < BEST && best[k]; k++) {
		s->print(t, best[k]->place);
		add_name(best[k], false, t->out);
		fz_buf_char(t->out, '\n');
	}
}

static void print_summaries(struct table *t)
{
	fz_buf_printf(t->out, "\n%sSummary of Interesting Functions:%s\n",
		      fz_hue_on(t->style, FZ_HUE_BOLD), fz_hue_off(t->style, FZ_HUE_BOLD));
	for (size_t i = 0; i < FZ_ARRAY_LEN(summaries); i++)
		print_summary(t, &summaries[i]);
}

void fz_report_pstats_sampling(const struct fz_profile *p, struct fz_buf *out)
{
	const struct fz_quality *q = &p->quality;
	const struct fz_recording *r = &p->recording;
	unsigned long long taken = q->taken, missed = q->missed;

	if (!q->known || r->duration_ns <= 0)
		return;
	fz_buf_printf(out, "Captured %llu sample%s in %.2f seconds\n", taken, taken == 1 ? "" : "s",
		      (double)r->duration_ns / 1e9);
	fz_buf_printf(out, "Sample rate: %.2f samples/sec\nError rate: %.2f\n",
		      (double)taken * 1e9 / (double)r->duration_ns,
		      isnan(r->error_rate) ? 0 : r->error_rate);
	if (missed)
		fz_buf_printf(out,
			      "Warning: missed %llu samples from the expected total of %llu "
			      "(%.2f%%)\n",
			      missed, taken + missed, percent(missed, taken + missed));
}

/* ---- the whole ---- */

static void table_init(struct table *t, const struct fz_profile *p,
		       const struct fz_text_options *text, unsigned by, struct fz_buf *out)
{
	*t = (struct table){ .p = p, .style = &text->style, .out = out };
	t->metric = &p->metrics[p->default_metric];
	t->timed = strcmp(t->metric->unit, "ns") == 0;
	t->has_values = strcmp(t->metric->name, "samples") != 0;
	fz_places_init(&t->places, p, by, p->default_metric);
	make_rows(t, text->sort);
}

static void table_release(struct table *t)
{
	free(t->rows);
	fz_places_release(&t->places);
}

int fz_report_pstats(const struct fz_profile *p, const struct fz_text_options *text,
		     const struct fz_pstats_options *o, struct fz_output *out, struct fz_error *err)
{
	unsigned by = o->per_line ? FZ_PLACE_FUNCTION_LINE : FZ_PLACE_FUNCTION;
	uint32_t limit = text->limit;
	struct fz_buf b = { 0 };
	struct table t;

	if (!p->metric_count)
		return fz_fail(err, FZ_EINPUT, "the profile has no metric to show");
	table_init(&t, p, text, by, &b);
	if (t.n == 0)
		fz_buf_str(&b, "No samples were collected.\n");
	else {
		print_table(&t, FZ_MIN(t.n, limit));
		print_legend(&t);
	}
	bool summary = t.n && limit && !o->no_summary;
	table_release(&t);
	if (summary) {
		table_init(&t, p, text, FZ_PLACE_FUNCTION, &b);
		print_summaries(&t);
		table_release(&t);
	}
	fz_output_add(out, b.p ? b.p : "", b.n);
	fz_buf_release(&b);
	return 0;
}
