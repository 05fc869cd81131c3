/* SPDX-License-Identifier: MIT */
/* One profile as text: the functions that cost most.
 *
 *   2,497 samples, 2.51 s of wall time: python3 app.py
 *
 *             self             total  function
 *     1.23 s  49.1 %    2.41 s  96.4 %  parse (app.py:32)
 *     ...
 *
 * A function is one row, whatever lines of it were seen; its total counts a sample once however
 * often the function recurs in it.
 */
#include "report/text.h"

#include "diff/names.h"
#include "profile/tree.h"
#include "report/table.h"

#include <stdio.h>

enum { ROWS_DEFAULT = 15, NAME_COLUMN = 39, HEADING_COLUMNS = 45 };

struct row {
	struct fz_str name, file;
	int32_t line;
	uint32_t function;
	int64_t self, total;
};

struct rows {
	struct row *rows;
	uint32_t n;
};

static int compare_names(const struct row *a, const struct row *b)
{
	int c = fz_str_cmp(a->name, b->name);

	if (!c)
		c = fz_str_cmp(a->file, b->file);
	return c ? c : (a->function > b->function) - (a->function < b->function);
}

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct row *a = pa, *b = pb;
	enum fz_text_sort sort = *(const enum fz_text_sort *)arg;
	int self = (a->self < b->self) - (a->self > b->self);
	int total = (a->total < b->total) - (a->total > b->total);

	if (sort == FZ_TEXT_SORT_NAME)
		return compare_names(a, b);
	int c = sort == FZ_TEXT_SORT_SELF ? self : total;
	if (!c)
		c = sort == FZ_TEXT_SORT_SELF ? total : self;
	return c ? c : compare_names(a, b);
}

static struct rows function_rows(const struct fz_tree *t, enum fz_text_sort sort,
				 struct fz_arena *arena)
{
	const struct fz_profile *p = t->profile;
	const struct fz_name *names = fz_names_of(p, arena);
	fz_auto(fz_free_ptr) int32_t *lines = fz_profile_function_lines(p, t->metric);
	fz_auto(fz_free_ptr) int64_t *self = NULL;
	fz_auto(fz_free_ptr) int64_t *total = NULL;
	struct rows rows = { fz_calloc(p->function_count, sizeof(*rows.rows)), 0 };

	fz_tree_function_costs(t, &self, &total);
	for (uint32_t f = 0; f < p->function_count; f++)
		if (self[f] || total[f])
			rows.rows[rows.n++] = (struct row){
				.name = names[f].name,
				.file = names[f].file,
				.line = lines[f],
				.function = f,
				.self = self[f],
				.total = total[f],
			};
	qsort_r(rows.rows, rows.n, sizeof(*rows.rows), compare_rows, &sort);
	return rows;
}

/* Without room for all of it, a program's folder is what a command can spare. */
static struct fz_str short_command(struct fz_str command, unsigned columns)
{
	if (command.p[0] != '/' || fz_str_columns(command) <= columns)
		return command;
	const char *blank = memchr(command.p, ' ', command.n);
	size_t word = blank ? (size_t)(blank - command.p) : command.n;
	size_t cut = word - fz_path_base((struct fz_str){ command.p, word }).n;

	return (struct fz_str){ command.p + cut, command.n - cut };
}

static void print_heading(const struct fz_tree *t, const struct fz_style *style, struct fz_buf *out)
{
	const struct fz_metric *m = &t->profile->metrics[t->metric];
	struct fz_str command = fz_profile_fact(t->profile, "command");
	char samples[FZ_NUMBER_SIZE], value[FZ_NUMBER_SIZE];

	fz_buf_str(out, fz_hue_on(style, FZ_HUE_BOLD));
	fz_format_plural((int64_t)t->samples, "sample", samples);
	fz_buf_str(out, samples);
	if (strcmp(m->name, "samples") != 0)
		fz_buf_printf(out, ", %s of %s", fz_format_value((double)t->sum, m->unit, value),
			      fz_table_metric_title(m->name));
	fz_buf_str(out, fz_hue_off(style, FZ_HUE_BOLD));
	if (command.n) {
		unsigned columns = fz_table_rest(style, HEADING_COLUMNS);
		fz_buf_str(out, ": ");
		fz_table_text(short_command(command, columns), columns, style, out);
	}
	fz_buf_str(out, "\n");
}

static void print_row(const struct row *r, const struct fz_tree *t, const struct fz_style *style,
		      struct fz_buf *out)
{
	const char *unit = t->profile->metrics[t->metric].unit;
	double sum = t->sum ? (double)t->sum : 1;
	char self[FZ_NUMBER_SIZE], self_share[FZ_NUMBER_SIZE];
	char total[FZ_NUMBER_SIZE], total_share[FZ_NUMBER_SIZE];

	fz_buf_printf(out, "%9s %8s  %9s %8s  ", fz_format_value((double)r->self, unit, self),
		      fz_format_percent((double)r->self / sum, self_share),
		      fz_format_value((double)r->total, unit, total),
		      fz_format_percent((double)r->total / sum, total_share));
	fz_table_function(r->name, r->file, r->line, fz_table_rest(style, NAME_COLUMN + 1), style,
			  out);
	fz_buf_str(out, "\n");
}

static void print_rows(const struct rows *rows, const struct fz_tree *t,
		       const struct fz_text_options *o, struct fz_buf *out)
{
	uint32_t limit = o->limit ? o->limit : ROWS_DEFAULT;
	char count[FZ_NUMBER_SIZE];

	fz_buf_printf(out, "\n%s%18s  %18s  function%s\n", fz_hue_on(&o->style, FZ_HUE_DIM), "self",
		      "total", fz_hue_off(&o->style, FZ_HUE_DIM));
	for (uint32_t i = 0; i < rows->n && i < limit; i++)
		print_row(&rows->rows[i], t, &o->style, out);
	if (rows->n > limit)
		fz_buf_printf(out, "%*s%s\n", NAME_COLUMN, "and ",
			      fz_format_plural(rows->n - limit, "more function", count));
}

static void add_rejected(const struct fz_quality *q, struct fz_buf *out)
{
	uint64_t rejected = 0;
	char number[FZ_NUMBER_SIZE], share[FZ_NUMBER_SIZE];
	const char *before = ": ";

	for (size_t i = 0; i < FZ_REJECTS; i++)
		rejected += q->rejected[i];
	fz_buf_printf(out, ", %s rejected", fz_format_count((int64_t)rejected, number));
	if (rejected == 0)
		return;
	double all = (double)rejected + (double)q->taken;
	fz_buf_printf(out, " (%s", fz_format_percent((double)rejected / all, share));
	for (size_t i = 0; i < FZ_REJECTS; i++) {
		if (!q->rejected[i])
			continue;
		fz_buf_printf(out, "%s%s %s", before,
			      fz_format_count((int64_t)q->rejected[i], number), fz_reject_names[i]);
		before = ", ";
	}
	fz_buf_char(out, ')');
}

/* What Tachyon stores instead of counts. */
static void add_rates(const struct fz_recording *r, struct fz_buf *out)
{
	char number[FZ_NUMBER_SIZE];

	if (r->error_rate >= 0)
		fz_buf_printf(out, ", %s failed", fz_format_percent(r->error_rate / 100, number));
	if (r->missed_rate >= 0)
		fz_buf_printf(out, ", %s missed", fz_format_percent(r->missed_rate / 100, number));
}

void fz_report_quality(const struct fz_profile *p, struct fz_buf *out)
{
	const struct fz_quality *q = &p->quality;
	char number[FZ_NUMBER_SIZE];

	fz_buf_str(out, fz_format_plural((int64_t)fz_profile_sample_total(p), "sample", number));
	if (p->recording.interval_ns > 0)
		fz_buf_printf(out, " every %s",
			      fz_format_ns((double)p->recording.interval_ns, number));
	if (q->known) {
		add_rejected(q, out);
		fz_buf_printf(out, ", %s missed",
			      fz_format_plural((int64_t)q->missed, "instant", number));
		if (q->longest_gap_ns > 0)
			fz_buf_printf(out, ", longest gap %s",
				      fz_format_ns((double)q->longest_gap_ns, number));
	} else {
		add_rates(&p->recording, out);
	}
	if (q->dropped_bytes)
		fz_buf_printf(out, "; damaged: %s could not be read",
			      fz_format_plural((int64_t)q->dropped_bytes, "byte", number));
	if (p->skipped_lines)
		fz_buf_printf(out, "; %s skipped",
			      fz_format_plural(p->skipped_lines, "line", number));
}

void fz_report_text_profile(const struct fz_profile *p, const struct fz_text_options *o,
			    struct fz_output *out)
{
	struct fz_buf text = { 0 }, quality = { 0 };
	struct fz_arena arena = { 0 };
	fz_auto(fz_tree_freep) struct fz_tree *t = fz_tree_new(p, &FZ_TREE_DEFAULTS);
	struct rows rows = function_rows(t, o->sort, &arena);

	print_heading(t, &o->style, &text);
	if (rows.n)
		print_rows(&rows, t, o, &text);
	fz_buf_str(&quality, "Sampling: ");
	fz_report_quality(p, &quality);
	fz_buf_str(&quality, ".");
	fz_buf_str(&text, "\n");
	fz_table_wrap(quality.p, 2, &o->style, &text);
	fz_output_add(out, text.p, text.n);
	free(rows.rows);
	fz_buf_release(&text);
	fz_buf_release(&quality);
	fz_arena_release(&arena);
}
