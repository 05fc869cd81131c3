/* SPDX-License-Identifier: MIT */
/* A diff as text: whether the whole changed, which functions did, and how far to trust it.
 *
 *   Slower by 27.9 % [+12.1 %, +43.7 %]: 2.33 s -> 2.98 s of wall time, +650 ms.
 *
 *   Self: 1 slower, 0 faster, 2 new, 5 same within ±0.2 % of the run, 12 unsure (?)
 *      before     after      change      95 %         %  function
 *      1.23 s    1.80 s     +570 ms   ±120 ms   +46.3 %  parse (app.py:32)
 *      120 ms    130 ms    +10.0 ms  ±44.1 ms    +8.3 % ? load (app.py:12)
 *
 * The short text has the verdict, only rows that changed, and the sentences of diff_brief.h;
 * --table prints all tables, --verbose also every warning and fact.
 *
 * "before" is the measured cost. If it was scaled, a column "expected" follows, and the change is
 * the difference from there. Rows that noise could explain are few and dim: hints for when nothing
 * else was found, not findings.
 */
#include "report/text.h"

#include "profile/heap_fact.h"
#include "report/advice.h"
#include "report/diff_brief.h"
#include "report/findings.h"
#include "report/startup.h"
#include "report/table.h"

#include <math.h>

enum { UNKNOWN_ROWS = 5, LIST_ROWS = 8, LABEL_COLUMNS = 40 };

static const char origin_words[] = "extracted from ";

struct view {
	const struct fz_diff *d;
	const struct fz_judgement *judgement;
	const struct fz_style *style;
	const char *const *labels;
	uint32_t limit;
	bool brief; /* only what changed */
	bool verbose;
	struct fz_buf *out;
};

static int compare_functions(const struct fz_diff_function *a, const struct fz_diff_function *b)
{
	return fz_str_cmp(a->name, b->name) ?: fz_str_cmp(a->file, b->file) ?: FZ_CMP(a, b);
}

static void print_sentence(const struct view *v, struct fz_buf *line)
{
	if (line->n)
		fz_table_wrap(line->p, v->style, v->out);
	fz_buf_reset(line);
}

/* ---- functions ---- */

static enum fz_hue row_hue(const struct fz_finding *r)
{
	if (r->judged->verdict != FZ_VERDICT_CHANGED)
		return FZ_HUE_DIM;
	if (r->f->state != FZ_COMMON)
		return FZ_HUE_PURPLE;
	return r->change > 0 ? FZ_HUE_RED : FZ_HUE_BLUE;
}

/* Rows of a table, and what is needed to print them. */
struct rows {
	const struct view *v;
	const struct fz_findings *f;
	bool total;
};

/* Add "before", "expected" and "after". */
static void add_values(struct fz_table *t, const char *unit, double before, double expected,
		       double after)
{
	fz_table_value(t, before, unit);
	fz_table_value(t, expected, unit);
	fz_table_value(t, after, unit);
}

static void add_row(struct fz_table *t, size_t i, const void *arg)
{
	const struct view *v = ((const struct rows *)arg)->v;
	const struct fz_finding *r = &((const struct rows *)arg)->f->rows[i];
	struct fz_source_place place = fz_source_place_of(v->d, r->f);
	char text[FZ_NUMBER_SIZE], interval[FZ_INTERVAL_SIZE];

	add_values(t, v->d->unit, r->before, r->expected, r->after);
	t->hue = row_hue(r);
	fz_table_cell(t, fz_format_change(r->change, v->d->unit, text));
	fz_table_cell(t, fz_finding_interval(r, v->d->unit, v->style, interval));
	fz_table_cell(t, fz_finding_percent(r, text));
	t->hue = FZ_HUE_NONE;
	fz_table_cell(t, r->judged->verdict == FZ_VERDICT_UNKNOWN ? "?" : "");
	fz_table_function(r->f->name, &place, fz_table_last(t), v->style, t->out);
}

/* Is it a change, rather than rounding in the last digits of a scaled value? */
static bool is_change(const struct fz_finding *r)
{
	return fabs(r->change) > 1e-9 * FZ_MAX(fabs(r->expected), fabs(r->after));
}

/* Number of rows: all that changed, then the largest differences that noise could explain. */
static uint32_t rows_shown(const struct view *v, const struct fz_findings *f)
{
	uint32_t changed = f->count[FZ_VERDICT_CHANGED];
	uint32_t shown = FZ_MIN(changed, v->limit);
	uint32_t end = changed + f->count[FZ_VERDICT_UNKNOWN] - f->startup;

	while (!v->brief && shown >= changed && shown < end && shown < v->limit &&
	       shown - changed < UNKNOWN_ROWS && is_change(&f->rows[shown]))
		shown++;
	return shown;
}

/* Add unsure functions of start-up and imports as one row; overlapping totals have no sum. */
static void add_startup(struct fz_table *t, size_t i, const void *arg)
{
	const struct rows *rows = arg;
	const struct fz_findings *f = rows->f;
	char text[FZ_NUMBER_SIZE];

	(void)i;
	if (!rows->total) {
		const char *unit = rows->v->d->unit;
		add_values(t, unit, f->startup_before, f->startup_expected, f->startup_after);
		fz_table_cell(t,
			      fz_format_change(f->startup_after - f->startup_expected, unit, text));
		fz_table_cell(t, "");
		fz_table_cell(t, "");
		fz_table_cell(t, "?");
	}
	fz_table_last(t);
	fz_buf_printf(t->out, "%s of start-up and imports",
		      fz_format_plural(f->startup, "function", text));
}

static void print_title(const struct view *v, const char *title, const struct fz_findings *f,
			bool with_unsure)
{
	fz_auto(fz_buf_release) struct fz_buf line = { 0 };

	fz_buf_printf(v->out, "\n%s", fz_hue_on(v->style, FZ_HUE_BOLD));
	fz_buf_printf(&line, "%s: ", title);
	if (v->brief)
		fz_findings_counts(f, v->d, v->judgement, &line);
	else
		fz_findings_summary(f, v->d, v->judgement, v->style, &line);
	fz_buf_str(&line, with_unsure ? " (?)." : ".");
	print_sentence(v, &line);
	v->out->n--; /* the newline comes after the end of the colour */
	fz_buf_printf(v->out, "%s\n", fz_hue_off(v->style, FZ_HUE_BOLD));
}

static void print_rows(const struct view *v, const struct fz_findings *f, uint32_t shown,
		       bool total)
{
	enum { EXPECTED = 1, CHANGE = 3, NAME = 7 };
	static const struct fz_column columns[] = {
		{ "before", FZ_RIGHT, .min = 9 },
		{ "expected", FZ_RIGHT, .gap = 1, .min = 9 },
		{ "after", FZ_RIGHT, .gap = 1, .min = 9 },
		{ NULL, FZ_RIGHT, .gap = 2, .min = 10 },
		{ "interval", FZ_RIGHT, .gap = 1, .min = 9 },
		{ "%", FZ_RIGHT, .gap = 1, .min = 9 },
		{ NULL, .gap = 1, .min = 1 },
		{ NULL, .gap = 1 },
	};
	const struct rows rows = { v, f, total };
	bool startup = f->startup && !v->brief && (!total || shown);
	struct fz_table t;

	fz_table_init(&t, columns, FZ_ARRAY_LEN(columns), v->style, v->out);
	t.titles[CHANGE] = fz_findings_change_title(v->d);
	t.titles[NAME] = fz_findings_words(v->d)->one;
	t.hidden = fz_findings_scaled(v->d) ? 0 : 1u << EXPECTED;
	fz_table_measure(&t, startup, add_startup, &rows);
	fz_table_measure(&t, shown, add_row, &rows);
	if (shown || startup)
		fz_table_titles(&t);
	fz_table_rows(&t, shown, add_row, &rows);
	fz_table_more(&t, FZ_MAX(f->count[FZ_VERDICT_CHANGED], shown) - shown,
		      fz_profile_is_heap(v->d->profile[FZ_HEAD]) ? NULL : "function");
	if (f->imports) {
		fz_table_last(&t);
		fz_findings_imports(f, v->d->unit, v->out);
		fz_table_end(&t);
	}
	fz_table_rows(&t, startup, add_startup, &rows);
}

static void print_table(const struct view *v, const char *title, bool total)
{
	struct fz_findings f;

	fz_findings_init(&f, v->d, v->judgement, total);
	uint32_t shown = rows_shown(v, &f);
	if (!v->brief || shown) {
		print_title(v, title, &f, shown > f.count[FZ_VERDICT_CHANGED]);
		print_rows(v, &f, shown, total);
	}
	fz_findings_release(&f);
}

/* Does a total only repeat the change of the self cost? */
static bool repeats_self(const struct view *v, const struct fz_finding *r)
{
	const struct fz_diff *d = v->d;
	const int64_t *self = r->f->cost.self;
	double change = fz_diff_delta(d, self[FZ_BASE], self[FZ_HEAD]);

	return v->judgement->self[r->f - d->functions].verdict == FZ_VERDICT_CHANGED &&
	       fabs(r->change - change) <= 0.05 * fabs(change);
}

/* Is the function on nearly all stacks of both sides, like main? Then the headline has its change.
 */
static bool repeats_run(const struct fz_diff *d, const struct fz_diff_function *f)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		if ((double)f->cost.total[s] < 0.99 * (double)d->total[s])
			return false;
	return true;
}

/* Print changed totals, except of functions in which only the self cost changed. */
static void print_changed_totals(const struct view *v)
{
	struct fz_findings f;
	uint32_t kept = 0;

	fz_findings_init(&f, v->d, v->judgement, true);
	for (uint32_t i = 0; i < f.count[FZ_VERDICT_CHANGED]; i++)
		if (!repeats_self(v, &f.rows[i]) && !repeats_run(v->d, f.rows[i].f))
			f.rows[kept++] = f.rows[i];
	f.count[FZ_VERDICT_CHANGED] = kept;
	uint32_t shown = rows_shown(v, &f);
	if (shown) {
		fz_auto(fz_free_ptr) char *title =
			fz_asprintf("Only with %s", fz_findings_words(v->d)->below);
		print_title(v, title, &f, false);
		print_rows(v, &f, shown, true);
	} else if (f.imports) {
		fz_auto(fz_buf_release) struct fz_buf line = { 0 };
		fz_buf_printf(&line, "Only with %s: ", fz_findings_words(v->d)->below);
		fz_findings_imports(&f, v->d->unit, &line);
		fz_buf_char(&line, '.');
		fz_buf_char(v->out, '\n');
		print_sentence(v, &line);
	}
	fz_findings_release(&f);
}

/* ---- headline ---- */

static void print_warnings(const struct view *v, uint32_t from, uint32_t to)
{
	struct fz_buf line = { 0 };

	for (uint32_t i = from; i < to; i++) {
		fz_buf_printf(&line, "Warning: %s.", v->d->warnings[i]);
		print_sentence(v, &line);
	}
	fz_buf_release(&line);
}

/* The command is not wrapped: people paste it. */
static void print_beside(const struct view *v)
{
	fz_auto(fz_advice_release) struct fz_advice b;
	struct fz_buf line = { 0 };

	fz_advice_init(&b, v->d, v->judgement);
	for (uint32_t i = 0; i < b.n; i++) {
		fz_buf_printf(&line, "%s.", b.notes[i]);
		print_sentence(v, &line);
	}
	if (b.command) {
		fz_buf_printf(&line, "%s:", b.advice);
		print_sentence(v, &line);
		fz_buf_printf(v->out, "  %s\n", b.command);
	}
	fz_buf_release(&line);
}

static void print_headline(const struct view *v)
{
	struct fz_buf line = { 0 };

	print_warnings(v, 0, v->d->urgent);
	fz_buf_str(v->out, fz_hue_on(v->style, FZ_HUE_BOLD));
	fz_findings_headline(v->d, v->judgement, v->style, &line);
	print_sentence(v, &line);
	v->out->n--; /* as above */
	fz_buf_printf(v->out, "%s\n", fz_hue_off(v->style, FZ_HUE_BOLD));
	if (v->verbose) {
		print_beside(v);
		fz_findings_power(v->judgement, &line);
		print_sentence(v, &line);
		print_warnings(v, v->d->urgent, v->d->warning_count);
	}
	fz_buf_release(&line);
}

/* ---- new and removed code ---- */

struct listed {
	const struct fz_diff_function *f; /* NULL: several, not named */
	double self, total;
	bool startup; /* of start-up, with uncertain cost */
	uint32_t n;
	const char *more; /* "" or "other " */
};

static int compare_listed(const void *pa, const void *pb)
{
	const struct listed *a = pa, *b = pb;

	if (a->startup != b->startup)
		return a->startup - b->startup;
	return FZ_CMP(b->total, a->total) ?: compare_functions(a->f, b->f);
}

static bool has_changed(const struct fz_judgement *j, uint32_t function)
{
	return j->self[function].verdict == FZ_VERDICT_CHANGED ||
	       j->total[function].verdict == FZ_VERDICT_CHANGED;
}

/* Functions that only one side has, by descending total; those of start-up and imports at the end.
 * Freed by the caller. */
static struct listed *list_functions(const struct view *v, enum fz_state state,
				     enum fz_presence presence, uint32_t *ret_n)
{
	const struct fz_diff *d = v->d;
	fz_auto(fz_free_ptr) bool *startup = fz_startup_functions(d);
	struct listed *list = fz_calloc(d->function_count + 1ul, sizeof(*list));
	enum fz_side side = state == FZ_NEW ? FZ_HEAD : FZ_BASE;
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->function_count; i++) {
		const struct fz_diff_function *f = &d->functions[i];
		if (f->state == state && f->presence == presence)
			list[n++] = (struct listed){
				.f = f,
				.self = (double)f->cost.self[side],
				.total = (double)f->cost.total[side],
				.startup = startup[i] && !has_changed(v->judgement, i),
			};
	}
	if (n)
		qsort(list, n, sizeof(*list), compare_listed);
	*ret_n = n;
	return list;
}

/* Smaller functions are only counted, not listed: most are start-up code, sampled once or never. */
static const double listed_share = 0.001;

static uint32_t count_shown(const struct fz_diff *d, enum fz_state state, const struct listed *list,
			    uint32_t n)
{
	double least = listed_share * (double)d->total[state == FZ_NEW ? FZ_HEAD : FZ_BASE];
	uint32_t shown = 0;

	while (shown < n && shown < LIST_ROWS && !list[shown].startup && list[shown].total >= least)
		shown++;
	return shown;
}

struct list {
	const struct view *v;
	struct listed *rows;
};

static void add_listed(struct fz_table *t, size_t i, const void *arg)
{
	const struct view *v = ((const struct list *)arg)->v;
	const struct listed *l = &((const struct list *)arg)->rows[i];

	fz_table_value(t, l->self, v->d->unit);
	if (!l->f) {
		fz_table_last(t);
		fz_buf_str(t->out, "in ");
		fz_findings_rows(v->d, l->n, l->more, t->out);
		if (l->startup)
			fz_buf_str(t->out, " of start-up and imports (--format json lists all)");
		return;
	}
	struct fz_source_place place = fz_source_place_of(v->d, l->f);
	fz_table_value(t, l->total, v->d->unit);
	fz_table_function(l->f->name, &place, fz_table_last(t), v->style, t->out);
	const struct fz_diff_function *from = fz_diff_origin(v->d, l->f);
	if (!from)
		return;
	unsigned room = fz_table_below(t, t->n - 1), used = strlen(origin_words);
	fz_buf_printf(t->out, "%s%s", fz_hue_on(v->style, FZ_HUE_DIM), origin_words);
	fz_table_name(from->name, FZ_MAX(room, used + FZ_TABLE_REST_MIN) - used, v->style, t->out);
	fz_buf_str(t->out, fz_hue_off(v->style, FZ_HUE_DIM));
}

/* Replace some rows by one with their sum, at `at`; returns the end of the rows. */
static uint32_t sum_rows(struct listed *rows, uint32_t at, uint32_t from, uint32_t to,
			 const char *more)
{
	struct listed sum = { .n = to - from, .more = more, .startup = rows[from].startup };

	if (from == to)
		return at;
	for (uint32_t i = from; i < to; i++)
		sum.self += rows[i].self;
	rows[at] = sum;
	return at + 1;
}

static void print_list(const struct view *v, const char *title, enum fz_state state,
		       enum fz_presence presence)
{
	static const struct fz_column columns[] = {
		{ "self", FZ_RIGHT, .min = 9 },
		{ "total", FZ_RIGHT, .gap = 1, .min = 9 },
		{ NULL, .gap = 2 },
	};
	uint32_t n, startup;
	fz_auto(fz_free_ptr) struct listed *rows = list_functions(v, state, presence, &n);
	uint32_t shown = count_shown(v->d, state, rows, n);
	double sum = 0;
	char value[FZ_NUMBER_SIZE];
	struct fz_table t;

	if (n == 0)
		return;
	for (uint32_t i = 0; i < n; i++)
		sum += rows[i].self;
	for (startup = n; startup > 0 && rows[startup - 1].startup;)
		startup--;
	uint32_t end = sum_rows(rows, shown, shown, startup, shown ? "other " : "");
	end = sum_rows(rows, end, startup, n, "");
	fz_buf_printf(v->out, "\n%s%s%s: ", fz_hue_on(v->style, FZ_HUE_PURPLE), title,
		      fz_hue_off(v->style, FZ_HUE_PURPLE));
	fz_findings_rows(v->d, n, "", v->out);
	fz_buf_printf(v->out, ", self %s\n", fz_format_value(sum, v->d->unit, value));
	fz_table_init(&t, columns, FZ_ARRAY_LEN(columns), v->style, v->out);
	t.titles[2] = fz_findings_words(v->d)->one;
	fz_table_measure(&t, end, add_listed, &(struct list){ v, rows });
	if (shown)
		fz_table_titles(&t);
	fz_table_rows(&t, end, add_listed, &(struct list){ v, rows });
}

/* Print lists of new and removed functions: those proven by the sources first. */
static void print_lists(const struct view *v)
{
	static const struct {
		const char *title;
		enum fz_state state;
		enum fz_presence presence;
	} lists[] = {
		{ "New (not in the base's code)", FZ_NEW, FZ_PRESENCE_NO },
		{ "Newly recorded (also in the base's code)", FZ_NEW, FZ_PRESENCE_YES },
		{ "New or newly recorded (not in the base's recording)", FZ_NEW,
		  FZ_PRESENCE_UNKNOWN },
		{ "Removed (not in the head's code)", FZ_REMOVED, FZ_PRESENCE_NO },
		{ "No longer recorded (still in the head's code)", FZ_REMOVED, FZ_PRESENCE_YES },
		{ "Removed or no longer recorded (not in the head's recording)", FZ_REMOVED,
		  FZ_PRESENCE_UNKNOWN },
	};

	if (fz_profile_is_heap(v->d->profile[FZ_HEAD])) {
		print_list(v, "New", FZ_NEW, FZ_PRESENCE_NO);
		print_list(v, "Gone", FZ_REMOVED, FZ_PRESENCE_NO);
		return;
	}
	for (size_t i = 0; i < FZ_ARRAY_LEN(lists); i++)
		print_list(v, lists[i].title, lists[i].state, lists[i].presence);
}

static void print_removed_paths(const struct view *v)
{
	const struct fz_diff *d = v->d;
	char value[FZ_NUMBER_SIZE], count[FZ_NUMBER_SIZE];

	if (d->elided_count == 0)
		return;
	fz_buf_printf(v->out, "\nRemoved %s: %s, self %s\n",
		      fz_profile_is_heap(d->profile[FZ_HEAD]) ? "paths" : "call paths",
		      fz_format_count(d->elided_count, count),
		      fz_format_value((double)d->elided_time, d->unit, value));
}

/* ---- how far to trust it ---- */

static void print_trust(const struct view *v)
{
	static const char *const names[] = { "Base", "Head" };
	struct fz_buf line = { 0 };

	if (!v->verbose) {
		fz_report_brief_basis(v->d, v->judgement, v->style, v->out);
		return;
	}
	fz_buf_char(v->out, '\n');
	fz_findings_speed(v->d, &line);
	print_sentence(v, &line);
	fz_findings_scaling(v->d, &line);
	print_sentence(v, &line);
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		fz_buf_str(&line, names[s]);
		if (v->labels[s]) {
			fz_buf_char(&line, ' ');
			fz_table_path(fz_str_of(v->labels[s]), LABEL_COLUMNS, v->style, &line);
		}
		fz_buf_str(&line, ": ");
		fz_report_quality(v->d->recorded[s], &line);
		fz_buf_char(&line, '.');
		print_sentence(v, &line);
	}
	fz_findings_method(v->d, v->judgement, &line);
	print_sentence(v, &line);
	fz_buf_release(&line);
}

static struct view view_of(const struct fz_diff *d, const struct fz_judgement *j,
			   const struct fz_text_options *o, struct fz_buf *out)
{
	bool brief = o->detail == FZ_TEXT_BRIEF;

	return (struct view){ .d = d,
			      .judgement = j,
			      .style = &o->style,
			      .labels = o->labels,
			      .limit = brief ? o->brief_limit : o->limit,
			      .brief = brief,
			      .verbose = o->detail == FZ_TEXT_VERBOSE,
			      .out = out };
}

void fz_report_diff_headline(const struct fz_diff *d, const struct fz_judgement *j,
			     const struct fz_text_options *o, struct fz_buf *out)
{
	struct view v = view_of(d, j, o, out);

	print_headline(&v);
}

void fz_report_diff_trust(const struct fz_diff *d, const struct fz_judgement *j,
			  const struct fz_text_options *o, struct fz_buf *out)
{
	struct view v = view_of(d, j, o, out);

	print_trust(&v);
}

void fz_report_text_diff(const struct fz_diff *d, const struct fz_judgement *j,
			 const struct fz_text_options *o, struct fz_output *out)
{
	struct fz_buf text = { 0 };
	struct view v = view_of(d, j, o, &text);

	print_headline(&v);
	print_table(&v, "Self", false);
	if (v.brief) {
		print_changed_totals(&v);
		fz_report_brief_rest(d, j, v.style, &text);
	} else {
		fz_auto(fz_free_ptr) char *title =
			fz_asprintf("Total, with %s", fz_findings_words(d)->below);
		print_table(&v, title, true);
		print_lists(&v);
		print_removed_paths(&v);
	}
	if (v.verbose)
		fz_report_inferred(d, v.style, &text);
	print_trust(&v);
	fz_output_add(out, text.p, text.n);
	fz_buf_release(&text);
}
