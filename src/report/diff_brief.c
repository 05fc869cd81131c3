/* SPDX-License-Identifier: MIT */
/* The sentences of a diff's short text; see diff_brief.h.
 *
 *   New: added 30.0 ms.
 *   Unsure: parse +164 ms ±541 ms, helper -35.5 ms ±68.7 ms; 4 more (--table).
 *
 *   Measured: 3 runs against 3; smallest detectable change: 14.2 %.
 *   Limits: the machine was busy; runs were not interleaved (--verbose).
 *   Next: fizeau compare -n 25 1a2b3c4d5e -- python3 app.py
 */
#include "report/diff_brief.h"

#include "profile/fleet_fact.h"
#include "profile/heap_fact.h"
#include "report/advice.h"
#include "report/findings.h"
#include "report/startup.h"
#include "report/table.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { NAMES_SHOWN = 3, NAME_COLUMNS = 40 };

/* Smaller differences, as a fraction of the run, are left out. */
static const double open_share = 0.01;
static const double code_share = 0.001;
/* Larger differences, as a fraction of the cost, are not the cost of the same function. */
static const double same_cost = 0.25;
/* Smaller adjustments, as a fraction of the head, are not printed. */
static const double least_adjustment = 0.05;

static void print_sentence(struct fz_buf *line, const struct fz_style *style, struct fz_buf *out)
{
	if (line->n)
		fz_table_wrap(line->p, style, out);
	fz_buf_reset(line);
}

static double whole(const struct fz_diff *d)
{
	return fabs((double)FZ_MAX(d->total[FZ_BASE], d->total[FZ_HEAD]));
}

static bool shares_name(const struct fz_diff *d, const struct fz_diff_function *f)
{
	for (uint32_t i = 0; i < d->function_count; i++)
		if (&d->functions[i] != f && fz_str_eq(d->functions[i].name, f->name))
			return true;
	return false;
}

/* Append a function of a list: its name, and its place if another function has the same name. */
static void add_name(const struct fz_diff *d, const struct fz_diff_function *f, uint32_t before,
		     const char *title, const struct fz_style *style, struct fz_buf *out)
{
	struct fz_source_place place = { 0 };

	if (shares_name(d, f))
		place = (struct fz_source_place){ .file = f->file, .line = f->line };
	fz_buf_str(out, before ? ", " : title);
	fz_table_function(f->name, &place, NAME_COLUMNS, style, out);
}

/* ---- other differences ---- */

/* Print code that only one side has, if the other side's sources prove that it does not. */
static void print_code(const struct fz_diff *d, const char *title, enum fz_state state,
		       const struct fz_style *style, struct fz_buf *out)
{
	enum fz_side side = state == FZ_NEW ? FZ_HEAD : FZ_BASE;
	fz_auto(fz_free_ptr) bool *startup = fz_startup_functions(d);
	fz_auto(fz_buf_release) struct fz_buf line = { 0 };
	char cost[FZ_NUMBER_SIZE];
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->function_count; i++) {
		const struct fz_diff_function *f = &d->functions[i];
		double total = (double)f->cost.total[side];
		if (f->state != state || f->presence != FZ_PRESENCE_NO || startup[i] ||
		    total < code_share * whole(d))
			continue;
		if (n++ >= NAMES_SHOWN)
			continue;
		add_name(d, f, n - 1, title, style, &line);
		fz_buf_printf(&line, " %s", fz_format_value(total, d->unit, cost));
	}
	if (n > NAMES_SHOWN)
		fz_buf_printf(&line, "; %u more (--table)", n - NAMES_SHOWN);
	if (n)
		fz_buf_char(&line, '.');
	print_sentence(&line, style, out);
}

static void print_renamed(const struct fz_diff *d, const struct fz_style *style, struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf line = { 0 };
	uint32_t shown = FZ_MIN(d->link_count, (uint32_t)NAMES_SHOWN);

	for (uint32_t i = 0; i < shown; i++)
		add_name(d, &d->functions[d->links[i]], i, "Renamed or moved: ", style, &line);
	if (d->link_count > shown)
		fz_buf_printf(&line, " and %u more", d->link_count - shown);
	if (shown)
		fz_buf_str(&line, " (--verbose).");
	print_sentence(&line, style, out);
}

/* Can it be part of an option without quotation marks? */
static bool is_plain(struct fz_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isalnum((unsigned char)s.p[i]) && !memchr("_./-", s.p[i], 4))
			return false;
	return s.n > 0;
}

/* The only function of that name and state; NULL if there are none or several. */
static const struct fz_diff_function *only_one(const struct fz_diff *d, struct fz_str name,
					       enum fz_state state)
{
	const struct fz_diff_function *found = NULL;

	for (uint32_t i = 0; i < d->function_count; i++) {
		const struct fz_diff_function *f = &d->functions[i];
		if (f->state != state || !fz_str_eq(f->name, name))
			continue;
		if (found)
			return NULL;
		found = f;
	}
	return found;
}

/* Did both certainly cost something, and is the difference within noise and not large? */
static bool costs_the_same(const struct fz_diff *d, const struct fz_judgement *j,
			   const struct fz_diff_function *removed,
			   const struct fz_diff_function *new)
{
	const struct fz_judged *x = &j->self[removed - d->functions];
	const struct fz_judged *y = &j->self[new - d->functions];
	double before = fz_diff_expected(d, removed->cost.self[FZ_BASE]);
	double change = (double)new->cost.self[FZ_HEAD] - before;

	return x->verdict == FZ_VERDICT_CHANGED && y->verdict == FZ_VERDICT_CHANGED &&
	       fabs(change) <= hypot(x->high - x->low, y->high - y->low) / 2 &&
	       fabs(change) <= same_cost * before;
}

/* Print the costliest function that may have moved to another file, although its code does not
 * prove that. */
static void print_maybe_moved(const struct fz_diff *d, const struct fz_judgement *j,
			      const struct fz_style *style, struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf line = { 0 };

	for (uint32_t i = 0; i < d->function_count && !line.n; i++) {
		const struct fz_diff_function *was = &d->functions[i], *is;
		if (was->kind != FZ_KIND_PYTHON || !is_plain(was->name) || !is_plain(was->file) ||
		    (double)was->cost.self[FZ_BASE] < open_share * whole(d) ||
		    only_one(d, was->name, FZ_REMOVED) != was)
			continue;
		is = only_one(d, was->name, FZ_NEW);
		if (!is || is->presence == FZ_PRESENCE_YES || was->presence == FZ_PRESENCE_YES ||
		    fz_str_eq(is->file, was->file) || !is_plain(is->file) ||
		    !costs_the_same(d, j, was, is))
			continue;
		int name = (int)was->name.n, from = (int)was->file.n, to = (int)is->file.n;
		fz_buf_printf(&line,
			      "Perhaps moved: %.*s, from %.*s to %.*s (to compare it as one "
			      "function: --map %.*s:%.*s=%.*s:%.*s).",
			      name, was->name.p, from, was->file.p, to, is->file.p, from,
			      was->file.p, name, was->name.p, to, is->file.p, name, was->name.p);
	}
	print_sentence(&line, style, out);
}

/* Print the largest differences that noise could explain. */
static void print_open(const struct fz_diff *d, const struct fz_judgement *j,
		       const struct fz_style *style, struct fz_buf *out)
{
	fz_auto(fz_findings_release) struct fz_findings f = { 0 };
	fz_auto(fz_buf_release) struct fz_buf line = { 0 };
	char change[FZ_NUMBER_SIZE], interval[FZ_INTERVAL_SIZE];
	const char *title = j->method == FZ_JUDGE_NONE ? "Largest differences: " : "Unsure: ";

	fz_findings_init(&f, d, j, false);
	uint32_t first = f.count[FZ_VERDICT_CHANGED];
	uint32_t n = f.count[FZ_VERDICT_UNKNOWN] - f.startup, shown = 0;
	for (; shown < FZ_MIN(n, (uint32_t)NAMES_SHOWN); shown++) {
		const struct fz_finding *r = &f.rows[first + shown];
		if (!(fabs(r->change) >= open_share * whole(d)) || r->change == 0)
			break;
		add_name(d, r->f, shown, title, style, &line);
		fz_finding_interval(r, d->unit, style, interval);
		fz_buf_printf(&line, " %s%s%s", fz_format_change(r->change, d->unit, change),
			      *interval ? " " : "", interval);
	}
	if (shown && n > shown)
		fz_buf_printf(&line, "; %u more (--table)", n - shown);
	if (shown)
		fz_buf_char(&line, '.');
	print_sentence(&line, style, out);
}

void fz_report_brief_rest(const struct fz_diff *d, const struct fz_judgement *j,
			  const struct fz_style *style, struct fz_buf *out)
{
	size_t at = out->n;

	fz_buf_char(out, '\n');
	bool heap = fz_profile_is_heap(d->profile[FZ_HEAD]);
	print_code(d, heap ? "New: " : "New code: ", FZ_NEW, style, out);
	print_code(d, heap ? "Gone: " : "Removed code: ", FZ_REMOVED, style, out);
	print_renamed(d, style, out);
	print_maybe_moved(d, j, style, out);
	if (j->run.word != FZ_RUN_SAME)
		print_open(d, j, style, out);
	if (out->n == at + 1)
		out->n = at;
}

/* ---- how it was measured ---- */

static void add_runs(const struct fz_diff *d, const char *one, const char *many, struct fz_buf *out)
{
	uint32_t base = FZ_MAX(d->profile[FZ_BASE]->run_count, 1);
	uint32_t head = FZ_MAX(d->profile[FZ_HEAD]->run_count, 1);

	if (base == 1 && head == 1)
		fz_buf_printf(out, "one %s per side", one);
	else
		fz_buf_printf(out, "%u %s against %u", base, base == 1 ? one : many, head);
}

/* Print the measured time next to the adjusted one, because the command that recorded the head
 * printed it. */
static void add_adjusted(const struct fz_diff *d, struct fz_buf *out)
{
	double measured = (double)d->speed_scale.total, shown = (double)d->total[FZ_HEAD];
	char number[FZ_NUMBER_SIZE];

	fz_buf_str(out, ", adjusted to the base run's machine speed");
	if (fabs(measured - shown) > least_adjustment * shown)
		fz_buf_printf(out, " (the head took %s)", fz_format_ns(measured, number));
}

static void add_method(const struct fz_diff *d, const struct fz_judgement *j, struct fz_buf *out)
{
	switch (j->method) {
	case FZ_JUDGE_IDENTICAL:
		fz_buf_str(out, "both sides are identical");
		break;
	case FZ_JUDGE_VISITS:
		fz_buf_printf(out, "one %s per side%s",
			      d->scale == FZ_SCALE_WINDOW ? "time range" : "run",
			      strcmp(d->metric, "cpu") == 0    ? ", by the CPU clock"
			      : strcmp(d->metric, "wall") == 0 ? ", by the wall clock"
							       : "");
		break;
	case FZ_JUDGE_APPROXIMATE:
		fz_buf_str(out, "the order of samples is not recorded, so typical noise is "
				"assumed");
		break;
	case FZ_JUDGE_RUNS:
		if (fz_profile_is_fleet(d->profile[FZ_HEAD]))
			add_runs(d, "part of a fleet", "parts of a fleet", out);
		else
			add_runs(d, "run", "runs", out);
		break;
	case FZ_JUDGE_COUNTS:
		if (fz_profile_is_heap(d->profile[FZ_HEAD]))
			fz_buf_str(out, "one copy of the heap per side");
		else
			add_runs(d, "counted run", "counted runs", out);
		break;
	case FZ_JUDGE_NONE:
	case FZ_JUDGE_METHODS:
		fz_buf_printf(out, "not judged: %s", fz_findings_why_not(d, j));
		break;
	}
	if (d->speed_scale.used)
		add_adjusted(d, out);
}

static void print_measured(const struct fz_diff *d, const struct fz_judgement *j,
			   const struct fz_style *style, struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf line = { 0 };
	fz_auto(fz_buf_release) struct fz_buf power = { 0 };
	char factor[FZ_NUMBER_SIZE];

	fz_buf_str(&line, "Measured: ");
	add_method(d, j, &line);
	if (fz_findings_scaled(d))
		fz_buf_printf(&line, "; base scaled by %s (%s)",
			      fz_format_decimal(d->factor, 4, factor), fz_scale_word(d->scale));
	fz_findings_power(j, &power);
	if (power.n) {
		power.p[0] = (char)tolower(power.p[0]);
		fz_buf_printf(&line, "; %s", power.p);
	} else {
		fz_buf_char(&line, '.');
	}
	print_sentence(&line, style, out);
}

/* Print short forms of the notes, then the first warning. */
static void print_limits(const struct fz_diff *d, const struct fz_advice *b,
			 const struct fz_style *style, struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf line = { 0 };
	uint32_t warnings = d->warning_count - d->urgent;

	for (uint32_t i = 0; i < b->n; i++)
		fz_buf_printf(&line, "%s%s", i ? "; " : "Limits: ", b->briefs[i]);
	if (warnings)
		fz_buf_printf(&line, "%s%s", line.n ? "; " : "Limits: ", d->warnings[d->urgent]);
	if (warnings > 1)
		fz_buf_printf(&line, "; %u more %s", warnings - 1,
			      warnings > 2 ? "warnings" : "warning");
	if (line.n)
		fz_buf_str(&line, b->n || warnings > 1 ? " (--verbose)." : ".");
	print_sentence(&line, style, out);
}

void fz_report_brief_basis(const struct fz_diff *d, const struct fz_judgement *j,
			   const struct fz_style *style, struct fz_buf *out)
{
	fz_auto(fz_advice_release) struct fz_advice b;

	fz_advice_init(&b, d, j);
	fz_buf_char(out, '\n');
	print_measured(d, j, style, out);
	print_limits(d, &b, style, out);
	if (b.command)
		fz_buf_printf(out, "Next%s: %s\n", b.each ? ", with each version" : "", b.command);
}
