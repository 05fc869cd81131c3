/* SPDX-License-Identifier: MIT */
/* A diff as text: how much the whole changed, which functions changed most, and how far to trust
 * it.
 *
 *   Total: 2.33 s -> 2.98 s of wall time, +650 ms (+27.9 %), slower.
 *
 *   Self
 *     before     after      change        %   share  function
 *     1.23 s    1.80 s     +570 ms  +46.3 %  61.0 %  parse (app.py:32)
 *
 * "before" is the base as scaled, so that a row adds up. "share" is a row's part of all self
 * changes added without their signs: unlike a part of the net change it means something also
 * where gains and losses cancel, which share scaling makes them do. Totals have none: a callee's
 * change is its callers' change too.
 */
#include "report/text.h"

#include "report/table.h"

#include <math.h>
#include <stdio.h>

enum {
	ROWS_DEFAULT = 15,
	LIST_ROWS = 8,
	NAME_COLUMN = 51,
	SHARE_COLUMNS = 8,
	LIST_NAME_COLUMN = 21,
	LABEL_COLUMNS = 40
};

/* Below this a function is not coloured; see print_note. */
static const double quiet_step = 0.15;

struct view {
	const struct fz_diff *d;
	const struct fz_style *style;
	const char *const *labels;
	uint32_t limit;
	double all_changes; /* of self, without signs */
	struct fz_buf *out;
};

/* One function under one measure, self or total. */
struct row {
	const struct fz_diff_function *f;
	double before, after, change;
};

static double row_change(const struct row *r)
{
	return fabs(r->change);
}

static int compare_functions(const struct fz_diff_function *a, const struct fz_diff_function *b)
{
	int c = fz_str_cmp(a->name, b->name);

	if (!c)
		c = fz_str_cmp(a->file, b->file);
	return c ? c : (a > b) - (a < b);
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	if (row_change(a) != row_change(b))
		return row_change(a) > row_change(b) ? -1 : 1;
	return compare_functions(a->f, b->f);
}

/* Differences in the last digits of a scaled value are no change. */
static bool is_change(const struct row *r)
{
	return row_change(r) > 1e-9 * FZ_MAX(fabs(r->before), fabs(r->after));
}

static struct row *changed_rows(const struct fz_diff *d, bool total, uint32_t *ret_n)
{
	struct row *rows = fz_calloc(d->function_count, sizeof(*rows));
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->function_count; i++) {
		const struct fz_diff_function *f = &d->functions[i];
		const int64_t *cost = total ? f->cost.total : f->cost.self;
		struct row r = { .f = f,
				 .before = d->factor * (double)cost[FZ_BASE],
				 .after = (double)cost[FZ_HEAD] };
		r.change = r.after - r.before;
		if (is_change(&r))
			rows[n++] = r;
	}
	if (n)
		qsort(rows, n, sizeof(*rows), compare_rows);
	*ret_n = n;
	return rows;
}

static enum fz_hue row_hue(const struct row *r)
{
	if (r->f->state != FZ_COMMON)
		return FZ_HUE_PURPLE;
	if (r->before > 0 && row_change(r) < quiet_step * r->before)
		return FZ_HUE_DIM;
	return r->change > 0 ? FZ_HUE_RED : FZ_HUE_BLUE;
}

static const char *row_percent(const struct row *r, char out[FZ_NUMBER_SIZE])
{
	if (r->f->state == FZ_NEW)
		return "new";
	if (r->f->state == FZ_REMOVED)
		return "removed";
	if (r->before == 0)
		return "from 0";
	/* Beyond this a factor reads better than a percentage. */
	if (r->change / r->before >= 99.995) {
		char number[FZ_NUMBER_SIZE];
		fz_format_decimal(r->after / r->before, 0, number);
		snprintf(out, FZ_NUMBER_SIZE, "%.*s x", FZ_NUMBER_SIZE - 3, number);
		return out;
	}
	return fz_format_percent_change(r->change / r->before, out);
}

static void print_row(const struct view *v, const struct row *r, bool with_share)
{
	unsigned name_column = with_share ? NAME_COLUMN : NAME_COLUMN - SHARE_COLUMNS;
	const char *unit = v->d->unit;
	char before[FZ_NUMBER_SIZE], after[FZ_NUMBER_SIZE], change[FZ_NUMBER_SIZE];
	char percent[FZ_NUMBER_SIZE], share[FZ_NUMBER_SIZE];
	enum fz_hue hue = row_hue(r);

	fz_buf_printf(v->out, "%9s %9s  %s%10s %9s%s", fz_format_value(r->before, unit, before),
		      fz_format_value(r->after, unit, after), fz_hue_on(v->style, hue),
		      fz_format_change(r->change, unit, change), row_percent(r, percent),
		      fz_hue_off(v->style, hue));
	if (with_share)
		fz_buf_printf(v->out, " %7s",
			      fz_format_percent(row_change(r) / v->all_changes, share));
	fz_buf_str(v->out, "  ");
	fz_table_function(r->f->name, r->f->file, r->f->line, fz_table_rest(v->style, name_column),
			  v->style, v->out);
	fz_buf_char(v->out, '\n');
}

static void print_table(const struct view *v, const char *title, bool total)
{
	uint32_t n;
	fz_auto(fz_free_ptr) struct row *rows = changed_rows(v->d, total, &n);
	char count[FZ_NUMBER_SIZE];

	if (n == 0)
		return;
	fz_buf_printf(v->out, "\n%s%s%s\n%s%9s %9s  %10s %9s%s  function%s\n",
		      fz_hue_on(v->style, FZ_HUE_BOLD), title, fz_hue_off(v->style, FZ_HUE_BOLD),
		      fz_hue_on(v->style, FZ_HUE_DIM), "before", "after", "change", "%",
		      total ? "" : "   share", fz_hue_off(v->style, FZ_HUE_DIM));
	for (uint32_t i = 0; i < n && i < v->limit; i++)
		print_row(v, &rows[i], !total);
	if (n > v->limit)
		fz_buf_printf(v->out, "%*sand %s\n",
			      total ? NAME_COLUMN - SHARE_COLUMNS : NAME_COLUMN, "",
			      fz_format_plural(n - v->limit, "more function", count));
}

/* ---- headline ---- */

static bool is_time(const struct fz_diff *d)
{
	return strcmp(d->unit, "ns") == 0;
}

/* "2.33 s of wall time", "2,330 samples" */
static void add_total(const struct view *v, double value, struct fz_buf *out)
{
	char number[FZ_NUMBER_SIZE];

	fz_buf_str(out, fz_format_value(value, v->d->unit, number));
	if (!is_time(v->d))
		fz_buf_printf(out, " %s", v->d->metric);
}

static const char *direction(const struct fz_diff *d, double change)
{
	if (change == 0)
		return "unchanged";
	if (is_time(d))
		return change > 0 ? "slower" : "faster";
	return change > 0 ? "more" : "less";
}

static void print_headline(const struct view *v)
{
	const struct fz_diff *d = v->d;
	double before = d->factor * (double)d->total[FZ_BASE], after = (double)d->total[FZ_HEAD];
	char number[FZ_NUMBER_SIZE], percent[FZ_NUMBER_SIZE];
	struct fz_buf line = { 0 };

	fz_buf_str(&line, "Total: ");
	add_total(v, d->scale == FZ_SCALE_SHARE ? (double)d->total[FZ_BASE] : before, &line);
	fz_buf_str(&line, " -> ");
	add_total(v, after, &line);
	if (is_time(d))
		fz_buf_printf(&line, " of %s", fz_table_metric_title(d->metric));
	if (d->scale == FZ_SCALE_SHARE) {
		fz_buf_str(&line, "; compared by share, so the change of the total takes no part.");
	} else {
		fz_buf_printf(&line, ", %s", fz_format_change(after - before, d->unit, number));
		if (before > 0)
			fz_buf_printf(&line, " (%s)",
				      fz_format_percent_change((after - before) / before, percent));
		fz_buf_printf(&line, ", %s.", direction(d, after - before));
	}
	fz_buf_str(v->out, fz_hue_on(v->style, FZ_HUE_BOLD));
	fz_table_wrap(line.p, 2, v->style, v->out);
	v->out->n--; /* the end of the line comes after the colour's */
	fz_buf_str(v->out, fz_hue_off(v->style, FZ_HUE_BOLD));
	fz_buf_char(v->out, '\n');
	fz_buf_release(&line);
}

/* ---- new and removed code ---- */

struct listed {
	const struct fz_diff_function *f;
	double self, total;
};

static int compare_listed(const void *pa, const void *pb)
{
	const struct listed *a = pa, *b = pb;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return compare_functions(a->f, b->f);
}

/* Functions that only one side has, by falling total. */
static struct listed *list_functions(const struct fz_diff *d, enum fz_state state, uint32_t *ret_n)
{
	struct listed *list = fz_calloc(d->function_count, sizeof(*list));
	enum fz_side side = state == FZ_NEW ? FZ_HEAD : FZ_BASE;
	double factor = state == FZ_NEW ? 1 : d->factor;
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->function_count; i++) {
		const struct fz_diff_function *f = &d->functions[i];
		if (f->state == state)
			list[n++] = (struct listed){ f, factor * (double)f->cost.self[side],
						     factor * (double)f->cost.total[side] };
	}
	if (n)
		qsort(list, n, sizeof(*list), compare_listed);
	*ret_n = n;
	return list;
}

/* A program's start-up is sampled once or never: functions that small are only counted. */
static const double listed_share = 0.001;

static uint32_t count_shown(const struct fz_diff *d, const struct listed *list, uint32_t n)
{
	double least = listed_share *
		       FZ_MAX(d->factor * (double)d->total[FZ_BASE], (double)d->total[FZ_HEAD]);
	uint32_t shown = 0;

	while (shown < n && shown < LIST_ROWS && list[shown].total >= least)
		shown++;
	return shown;
}

static void print_listed(const struct view *v, const struct listed *l)
{
	char self[FZ_NUMBER_SIZE], total[FZ_NUMBER_SIZE];

	fz_buf_printf(v->out, "%9s %9s  ", fz_format_value(l->self, v->d->unit, self),
		      fz_format_value(l->total, v->d->unit, total));
	fz_table_function(l->f->name, l->f->file, l->f->line,
			  fz_table_rest(v->style, LIST_NAME_COLUMN), v->style, v->out);
	fz_buf_char(v->out, '\n');
}

static void print_list(const struct view *v, const char *title, enum fz_state state)
{
	uint32_t n;
	fz_auto(fz_free_ptr) struct listed *list = list_functions(v->d, state, &n);
	uint32_t shown = count_shown(v->d, list, n);
	double sum = 0, rest = 0;
	char count[FZ_NUMBER_SIZE], value[FZ_NUMBER_SIZE];

	if (n == 0)
		return;
	for (uint32_t i = 0; i < n; i++) {
		sum += list[i].self;
		rest += i < shown ? 0 : list[i].self;
	}
	fz_buf_printf(v->out, "\n%s%s%s: %s, self %s\n", fz_hue_on(v->style, FZ_HUE_PURPLE), title,
		      fz_hue_off(v->style, FZ_HUE_PURPLE), fz_format_plural(n, "function", count),
		      fz_format_value(sum, v->d->unit, value));
	if (shown)
		fz_buf_printf(v->out, "%s%9s %9s  function%s\n", fz_hue_on(v->style, FZ_HUE_DIM),
			      "self", "total", fz_hue_off(v->style, FZ_HUE_DIM));
	for (uint32_t i = 0; i < shown; i++)
		print_listed(v, &list[i]);
	if (n > shown)
		fz_buf_printf(
			v->out, "%9s %9s  in %s\n", fz_format_value(rest, v->d->unit, value), "",
			fz_format_plural(n - shown, shown ? "other function" : "function", count));
}

static void print_removed_paths(const struct view *v)
{
	const struct fz_diff *d = v->d;
	char value[FZ_NUMBER_SIZE], count[FZ_NUMBER_SIZE];

	if (d->elided_count == 0)
		return;
	fz_buf_printf(v->out, "\nCall paths that are gone: %s, self %s\n",
		      fz_format_count(d->elided_count, count),
		      fz_format_value(d->factor * (double)d->elided_time, d->unit, value));
}

/* ---- how far to trust it ---- */

static void print_sentence(const struct view *v, struct fz_buf *line)
{
	fz_table_wrap(line->p, 2, v->style, v->out);
	fz_buf_reset(line);
}

static void print_scaling(const struct view *v, struct fz_buf *line)
{
	const struct fz_diff *d = v->d;
	char number[FZ_NUMBER_SIZE];

	fz_buf_printf(line, "Scaling: %s", fz_scale_names[d->scale]);
	if (d->factor == 1)
		fz_buf_str(line, "; base values stand as recorded.");
	else
		fz_buf_printf(line, "; base values are multiplied by %s%s.",
			      fz_format_decimal(d->factor, 4, number),
			      d->scale == FZ_SCALE_SHARE ? " to make the totals equal"
							 : " for the different sampling rates");
	print_sentence(v, line);
}

/* Until functions are tested against noise, say what the only threshold is and is not. */
static void print_note(const struct view *v, struct fz_buf *line)
{
	fz_buf_str(line,
		   "Note: one recording a side, not tested against noise. The 15 % step below "
		   "which colours stay grey is a convention, not a test: a larger change can "
		   "be noise and a smaller one real. Record again to see what stays.");
	print_sentence(v, line);
}

static void print_trust(const struct view *v)
{
	static const char *const names[] = { "Base", "Head" };
	struct fz_buf line = { 0 };

	fz_buf_char(v->out, '\n');
	print_scaling(v, &line);
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		fz_buf_str(&line, names[s]);
		if (v->labels[s]) {
			fz_buf_char(&line, ' ');
			fz_table_path(fz_str_of(v->labels[s]), LABEL_COLUMNS, v->style, &line);
		}
		fz_buf_str(&line, ": ");
		fz_report_quality(v->d->profile[s], &line);
		fz_buf_char(&line, '.');
		print_sentence(v, &line);
	}
	for (uint32_t i = 0; i < v->d->warning_count; i++) {
		fz_buf_printf(&line, "Warning: %s.", v->d->warnings[i]);
		print_sentence(v, &line);
	}
	print_note(v, &line);
	fz_buf_release(&line);
}

static double sum_changes(const struct fz_diff *d)
{
	double sum = 0;
	uint32_t n;
	fz_auto(fz_free_ptr) struct row *rows = changed_rows(d, false, &n);

	for (uint32_t i = 0; i < n; i++)
		sum += row_change(&rows[i]);
	return sum;
}

void fz_report_text_diff(const struct fz_diff *d, const struct fz_text_options *o,
			 struct fz_output *out)
{
	struct fz_buf text = { 0 };
	struct view v = { .d = d,
			  .style = &o->style,
			  .labels = o->labels,
			  .limit = o->limit ? o->limit : ROWS_DEFAULT,
			  .all_changes = sum_changes(d),
			  .out = &text };

	print_headline(&v);
	if (v.all_changes > 0) {
		print_table(&v, "Self", false);
		print_table(&v, "Total, callees included", true);
	} else {
		fz_buf_str(&text, "\nNo function changed.\n");
	}
	print_list(&v, "New code, not seen in the base", FZ_NEW);
	print_list(&v, "Removed code, not seen in the head", FZ_REMOVED);
	print_removed_paths(&v);
	print_trust(&v);
	fz_output_add(out, text.p, text.n);
	fz_buf_release(&text);
}
