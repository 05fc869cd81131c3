/* SPDX-License-Identifier: MIT */
/* Sorts functions and writes verdicts; see findings.h. */
#include "report/findings.h"

#include "profile/cost_words.h"
#include "profile/fleet_fact.h"
#include "profile/heap_fact.h"
#include "profile/speed.h"
#include "report/import_moves.h"
#include "report/startup.h"
#include "report/table.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

/* ---- functions ---- */

static int rank(const struct fz_finding *r)
{
	static const int ranks[FZ_VERDICTS] = {
		[FZ_VERDICT_CHANGED] = 0,
		[FZ_VERDICT_UNKNOWN] = 1,
		[FZ_VERDICT_UNCHANGED] = 3,
	};

	return ranks[r->judged->verdict] + (r->startup && r->judged->verdict == FZ_VERDICT_UNKNOWN);
}

static int compare_findings(const void *pa, const void *pb)
{
	const struct fz_finding *a = pa, *b = pb;
	double size_a = fabs(a->change), size_b = fabs(b->change);

	return rank(a) - rank(b) ?: FZ_CMP(size_b, size_a) ?: fz_str_cmp(a->f->name, b->f->name) ?:
	       fz_str_cmp(a->f->file, b->f->file) ?: FZ_CMP(a->f, b->f);
}

void fz_findings_init(struct fz_findings *ret, const struct fz_diff *d,
		      const struct fz_judgement *j, bool total)
{
	fz_auto(fz_free_ptr) bool *startup = fz_startup_functions(d);
	struct fz_import_moves moves = { 0 };

	if (total)
		moves = fz_import_moves_find(d, j);
	*ret = (struct fz_findings){ .rows = fz_calloc(d->function_count, sizeof(*ret->rows)),
				     .imports = moves.n,
				     .imports_net = moves.net };
	for (uint32_t i = 0; i < d->function_count; i++) {
		const struct fz_diff_function *f = &d->functions[i];
		const int64_t *cost = total ? f->cost.total : f->cost.self;
		struct fz_finding *r = &ret->rows[ret->n];

		if ((!cost[FZ_BASE] && !cost[FZ_HEAD]) || (moves.moved && moves.moved[i]))
			continue;
		*r = (struct fz_finding){ .f = f,
					  .judged = total ? &j->total[i] : &j->self[i],
					  .before = (double)cost[FZ_BASE],
					  .after = (double)cost[FZ_HEAD],
					  .expected = fz_diff_expected(d, cost[FZ_BASE]),
					  .startup = startup[i] };
		r->change = r->after - r->expected;
		ret->count[r->judged->verdict]++;
		if (r->startup && r->judged->verdict == FZ_VERDICT_UNKNOWN) {
			ret->startup++;
			ret->startup_before += r->before;
			ret->startup_expected += r->expected;
			ret->startup_after += r->after;
		}
		ret->n++;
	}
	free(moves.moved);
	if (ret->n)
		qsort(ret->rows, ret->n, sizeof(*ret->rows), compare_findings);
}

void fz_findings_release(struct fz_findings *f)
{
	free(f->rows);
	*f = (struct fz_findings){ 0 };
}

static const char *plus_minus(const struct fz_style *style)
{
	return style->ascii ? "+-" : "\u00b1";
}

const char *fz_finding_interval(const struct fz_finding *r, const char *unit,
				const struct fz_style *style, char out[FZ_INTERVAL_SIZE])
{
	double low = r->judged->low, high = r->judged->high;
	double reach = FZ_MAX(high - r->change, r->change - low);
	bool changed = r->judged->verdict == FZ_VERDICT_CHANGED && reach >= fabs(r->change);
	char number[FZ_NUMBER_SIZE];

	if (!isfinite(reach))
		*out = '\0';
	else if (changed && low > 0)
		snprintf(out, FZ_INTERVAL_SIZE, "%s%s", style->ascii ? ">=" : "\u2265",
			 fz_format_change(low, unit, number));
	else if (changed && high < 0)
		snprintf(out, FZ_INTERVAL_SIZE, "%s%s", style->ascii ? "<=" : "\u2264",
			 fz_format_change(high, unit, number));
	else
		snprintf(out, FZ_INTERVAL_SIZE, "%s%s", plus_minus(style),
			 fz_format_value(reach, unit, number));
	return out;
}

const char *fz_finding_percent(const struct fz_finding *r, char out[FZ_NUMBER_SIZE])
{
	if (r->f->state != FZ_COMMON && r->f->presence == FZ_PRESENCE_NO)
		return fz_diff_word(r->f);
	if (r->before == 0)
		return "from 0";
	if (r->f->state == FZ_REMOVED)
		return "to 0";
	/* from here on a factor reads better than a percentage */
	if (r->change / r->expected >= 99.995) {
		char number[FZ_NUMBER_SIZE];
		fz_format_decimal(r->after / r->expected, 0, number);
		snprintf(out, FZ_NUMBER_SIZE, "%.*s x", FZ_NUMBER_SIZE - 3, number);
		return out;
	}
	return fz_format_percent_change(r->change / r->expected, out);
}

const char *fz_findings_change_title(const struct fz_diff *d)
{
	return d->scale == FZ_SCALE_SHARE ? "by share" : "change";
}

/* Append ", 2 new" or ", 3 gone or no longer recorded": changed functions that one side lacks. */
static void add_one_sided(const struct fz_findings *f, enum fz_state state, struct fz_buf *out)
{
	const struct fz_diff_function either = { .state = state };
	const char *word = NULL;
	char number[FZ_NUMBER_SIZE];
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->count[FZ_VERDICT_CHANGED]; i++) {
		const char *own = fz_diff_word(f->rows[i].f);
		if (f->rows[i].f->state == state)
			word = n++ == 0 || own == word ? own : fz_diff_word(&either);
	}
	if (n)
		fz_buf_printf(out, ", %s %s", fz_format_count(n, number), word);
}

void fz_findings_counts(const struct fz_findings *f, const struct fz_diff *d,
			const struct fz_judgement *j, struct fz_buf *out)
{
	const struct fz_cost_words *words = fz_cost_words(d->metric, d->unit);
	char more[FZ_NUMBER_SIZE], less[FZ_NUMBER_SIZE];
	uint32_t grown = 0, shrunk = 0;

	for (uint32_t i = 0; i < f->count[FZ_VERDICT_CHANGED]; i++) {
		uint8_t state = f->rows[i].f->state;
		bool one_sided = state == FZ_NEW || state == FZ_REMOVED;
		grown += !one_sided && f->rows[i].change > 0;
		shrunk += !one_sided && f->rows[i].change <= 0;
	}
	fz_format_count(grown, more);
	fz_format_count(shrunk, less);
	if (j->run.word == FZ_RUN_FASTER)
		fz_buf_printf(out, "%s %s, %s %s", less, words->many_less, more, words->many_more);
	else
		fz_buf_printf(out, "%s %s, %s %s", more, words->many_more, less, words->many_less);
	add_one_sided(f, FZ_NEW, out);
	add_one_sided(f, FZ_REMOVED, out);
}

void fz_findings_summary(const struct fz_findings *f, const struct fz_diff *d,
			 const struct fz_judgement *j, const struct fz_style *style,
			 struct fz_buf *out)
{
	char same[FZ_NUMBER_SIZE], unknown[FZ_NUMBER_SIZE], delta[FZ_NUMBER_SIZE];

	snprintf(delta, sizeof(delta), "%.2g %%", 100 * j->delta);
	fz_findings_counts(f, d, j, out);
	fz_buf_printf(out, ", %s same within %s%s of the %s, %s unsure",
		      fz_format_count(f->count[FZ_VERDICT_UNCHANGED], same), plus_minus(style),
		      delta, fz_findings_words(d)->whole,
		      fz_format_count(f->count[FZ_VERDICT_UNKNOWN], unknown));
}

/* ---- the run ---- */

enum { MORE_RUNS_MAX = 100 };

static bool is_counted(const struct fz_diff *d)
{
	return strcmp(d->unit, "count") == 0;
}

/* Append "2.33 s", "2,330 samples". */
static void add_total(const struct fz_diff *d, double value, struct fz_buf *out)
{
	char number[FZ_NUMBER_SIZE];

	fz_buf_str(out, fz_format_value(value, d->unit, number));
	if (is_counted(d))
		fz_table_add_metric(d->metric, d->unit, out);
}

/* Append "2.33 s -> 2.98 s of wall time". */
static void add_totals(const struct fz_diff *d, struct fz_buf *out)
{
	add_total(d, (double)d->total[FZ_BASE], out);
	fz_buf_str(out, " -> ");
	add_total(d, (double)d->total[FZ_HEAD], out);
	if (!is_counted(d))
		fz_table_add_metric(d->metric, d->unit, out);
	if (d->per_run)
		fz_buf_str(out, " per run");
}

/* Append "[-1.2 %, +3.4 %]". */
static void add_interval(const struct fz_judged_run *run, struct fz_buf *out)
{
	char low[FZ_NUMBER_SIZE], high[FZ_NUMBER_SIZE];

	fz_buf_printf(out, "[%s, %s]", fz_format_percent_change(run->low, low),
		      fz_format_percent_change(run->high, high));
}

/* Why the totals do not show a change; NULL if they do. */
static const char *no_change(const struct fz_diff *d, const struct fz_judgement *j)
{
	if (j->method == FZ_JUDGE_IDENTICAL)
		return NULL;
	switch (d->scale) {
	case FZ_SCALE_SHARE:
		return "shares are compared";
	case FZ_SCALE_WINDOW:
		return "parts of running programs were recorded";
	default:
		return NULL;
	}
}

void fz_findings_verdict(const struct fz_diff *d, const struct fz_judgement *j,
			 const struct fz_style *style, struct fz_buf *out)
{
	const struct fz_cost_words *words = fz_cost_words(d->metric, d->unit);
	const struct fz_judged_run *run = &j->run;
	const char *word, *nothing = no_change(d, j);
	char number[FZ_NUMBER_SIZE];

	switch (run->word) {
	case FZ_RUN_SLOWER:
	case FZ_RUN_FASTER:
		word = run->word == FZ_RUN_SLOWER ? words->more : words->less;
		fz_buf_printf(out, "%c%s by %s ", toupper(*word), word + 1,
			      fz_format_percent(fabs(run->change), number));
		add_interval(run, out);
		break;
	case FZ_RUN_SAME:
		if (j->method == FZ_JUDGE_IDENTICAL)
			fz_buf_str(out, "Same: nothing differs");
		else
			fz_buf_printf(out, "Same: no change beyond %s%s", plus_minus(style),
				      fz_format_percent(FZ_MAX(-run->low, run->high), number));
		break;
	case FZ_RUN_UNKNOWN:
	case FZ_RUN_WORDS:
		if (j->method == FZ_JUDGE_NONE)
			fz_buf_str(out, "Not judged");
		else if (fz_diff_is_one_recording(d))
			fz_buf_str(out, "Two ranges of one recording");
		else if (nothing)
			fz_buf_printf(out, "No overall verdict, because only %s", nothing);
		else
			fz_buf_printf(out, "Unsure whether %s or %s", words->more, words->less);
		break;
	}
	if (j->method == FZ_JUDGE_APPROXIMATE && !nothing)
		fz_buf_str(out, " (approximate: sample order unknown)");
}

/* Append the change of the total, with its interval if the verdict did not have it. */
static void add_change(const struct fz_diff *d, const struct fz_judgement *j, struct fz_buf *out)
{
	double expected = fz_diff_expected(d, d->total[FZ_BASE]);
	double change = (double)d->total[FZ_HEAD] - expected;
	bool changed = j->run.word == FZ_RUN_SLOWER || j->run.word == FZ_RUN_FASTER;
	char number[FZ_NUMBER_SIZE], percent[FZ_NUMBER_SIZE];

	if (no_change(d, j))
		return;
	fz_buf_printf(out, ", %s", fz_format_change(change, d->unit, number));
	if (fz_findings_scaled(d)) {
		fz_buf_str(out, " against the expected ");
		add_total(d, expected, out);
	}
	if (changed || expected <= 0)
		return;
	fz_buf_printf(out, " (%s", fz_format_percent_change(change / expected, percent));
	if (j->method != FZ_JUDGE_IDENTICAL && isfinite(j->run.low)) {
		fz_buf_char(out, ' ');
		add_interval(&j->run, out);
	}
	fz_buf_char(out, ')');
}

void fz_findings_headline(const struct fz_diff *d, const struct fz_judgement *j,
			  const struct fz_style *style, struct fz_buf *out)
{
	fz_findings_verdict(d, j, style, out);
	fz_buf_str(out, ": ");
	add_totals(d, out);
	add_change(d, j, out);
	fz_buf_char(out, '.');
}

/* Append how many more runs are needed, unless that is unreasonably many; advice.h then has a
 * better one. */
static void add_more_runs(const struct fz_judgement *j, struct fz_buf *out)
{
	char more[FZ_NUMBER_SIZE], goal[FZ_NUMBER_SIZE];
	double runs = ceil(j->run.more_runs);

	if (runs > 0 && runs <= MORE_RUNS_MAX)
		fz_buf_printf(out, "; %s per side would detect %s",
			      fz_format_plural((int64_t)runs, "more run", more),
			      fz_format_percent(FZ_JUDGE_DEFAULTS.run_delta, goal));
}

void fz_findings_imports(const struct fz_findings *f, const char *unit, struct fz_buf *out)
{
	char change[FZ_NUMBER_SIZE], count[FZ_NUMBER_SIZE];

	if (f->imports)
		fz_buf_printf(out, "%s, %s net",
			      fz_format_plural(f->imports, "moved import", count),
			      fz_format_change(f->imports_net, unit, change));
}

void fz_findings_power(const struct fz_judgement *j, struct fz_buf *out)
{
	const struct fz_judged_run *run = &j->run;
	bool of_run = run->visible_share == 1;
	char number[FZ_NUMBER_SIZE], share[FZ_NUMBER_SIZE];

	if (j->method == FZ_JUDGE_IDENTICAL || !isfinite(run->smallest_visible))
		return;
	if (of_run)
		fz_buf_str(out, "Smallest detectable change: ");
	else
		fz_buf_printf(out, "Smallest detectable change of a function with %s of the run: ",
			      fz_format_percent(run->visible_share, share));
	if (run->smallest_visible < 0.0005)
		fz_buf_str(out, "less than 0.1 %");
	else
		fz_buf_str(out, fz_format_percent(run->smallest_visible, number));
	fz_buf_str(out, of_run ? "" : " of the run");
	add_more_runs(j, out);
	fz_buf_char(out, '.');
}

/* Append the speed as a percentage of the best in both recordings: "90 %" or "55 to 98 %". */
static void add_speed(const struct fz_speed_range *range, double best, struct fz_buf *out)
{
	double low = 100 * best / range->slowest, high = 100 * best / range->fastest;

	if (high - low < 1)
		fz_buf_printf(out, "%.0f %%", high);
	else
		fz_buf_printf(out, "%.0f to %.0f %%", low, high);
}

void fz_findings_speed(const struct fz_diff *d, struct fz_buf *out)
{
	const struct fz_speed_scale_side *base = &d->speed_scale.side[FZ_BASE],
					 *head = &d->speed_scale.side[FZ_HEAD];
	double best = FZ_MIN(base->range.fastest, head->range.fastest);
	char measured[FZ_NUMBER_SIZE], waited[FZ_NUMBER_SIZE];

	if (!d->speed_scale.used)
		return;
	fz_buf_str(out, "Adjusted to the base run's machine speed: the machine ran at ");
	add_speed(&base->range, best, out);
	fz_buf_str(out, " of its full speed for the base and ");
	add_speed(&head->range, best, out);
	fz_buf_printf(out, " for the head; measured head time: %s",
		      fz_format_ns((double)d->speed_scale.total, measured));
	if (head->waited >= d->speed_scale.total / 100)
		fz_buf_printf(out, ", of which %s waiting for a CPU",
			      fz_format_ns((double)head->waited, waited));
	fz_buf_char(out, '.');
}

const struct fz_row_words *fz_findings_words(const struct fz_diff *d)
{
	static const struct fz_row_words code = { "function", "functions", "callees", "run" };
	static const struct fz_row_words heap = { "type or holder", "types and holders",
						  "objects held", "heap" };

	return fz_profile_is_heap(d->profile[FZ_HEAD]) ? &heap : &code;
}

void fz_findings_rows(const struct fz_diff *d, uint32_t n, const char *more, struct fz_buf *out)
{
	const struct fz_row_words *words = fz_findings_words(d);
	char number[FZ_NUMBER_SIZE];

	fz_buf_printf(out, "%s %s%s", fz_format_count(n, number), more,
		      n == 1 ? words->one : words->many);
}

const char *fz_findings_why_not(const struct fz_diff *d, const struct fz_judgement *j)
{
	const struct fz_profile *base = d->profile[FZ_BASE], *head = d->profile[FZ_HEAD];
	/* Is each side a single part of a fleet? Their variation is unknown. */
	bool is_too_small = fz_profile_is_fleet(base) && fz_profile_is_fleet(head) &&
			    base->run_count + head->run_count == FZ_SIDES;

	if (is_too_small)
		return "a side has too few hosts or too little data to estimate its noise";
	if (fz_diff_is_subtracted(d))
		return "a side has negative costs, like a difference of two profiles";
	if (!d->samples[FZ_BASE] || !d->samples[FZ_HEAD])
		return "a side has no samples";
	return j->empty_run ? "a run has no samples" : "no test exists for this metric";
}

void fz_findings_method(const struct fz_diff *d, const struct fz_judgement *j, struct fz_buf *out)
{
	const struct fz_profile *base = d->profile[FZ_BASE], *head = d->profile[FZ_HEAD];

	switch (j->method) {
	case FZ_JUDGE_IDENTICAL:
		fz_buf_str(out, "Judged: nothing differs.");
		break;
	case FZ_JUDGE_VISITS:
		fz_buf_printf(out,
			      "Judged: one %s per side, by how often and how long each function "
			      "was sampled, assuming the usual noise of %s.",
			      d->scale == FZ_SCALE_WINDOW ? "time range" : "run",
			      d->speed_scale.used ? "times adjusted to the machine's speed"
			      : j->cpu_clock      ? "CPU time"
						  : "wall time");
		break;
	case FZ_JUDGE_APPROXIMATE:
		fz_buf_str(out, "Judged: approximately. The order of samples is not recorded, so "
				"typical noise is assumed.");
		break;
	case FZ_JUDGE_RUNS:
		fz_buf_printf(out,
			      "Judged: %u %s against %u, by how much those of one side differ.",
			      FZ_MAX(base->run_count, 1),
			      fz_profile_is_fleet(head) ? "parts of a fleet" : "runs",
			      FZ_MAX(head->run_count, 1));
		break;
	case FZ_JUDGE_COUNTS:
		fz_buf_str(out, FZ_MIN(base->run_count, head->run_count) > 1
					? "Judged: counted, not sampled; by how counts differ from "
					  "run to run."
					: "Judged: counted, not sampled; a side was counted only "
					  "once, so the intervals allow for changes of the "
					  "environment.");
		break;
	case FZ_JUDGE_NONE:
	case FZ_JUDGE_METHODS:
		fz_buf_printf(out, "Not judged: %s.", fz_findings_why_not(d, j));
		break;
	}
}

/* Append why base values are scaled, or why not. */
static void add_reason(const struct fz_diff *d, struct fz_buf *out)
{
	static const char *const agreed = "which leaves most functions unchanged";
	char base[FZ_NUMBER_SIZE], head[FZ_NUMBER_SIZE];

	switch (d->scale) {
	case FZ_SCALE_SHARE:
	case FZ_SCALE_REFERENCE:
		fz_buf_str(out, d->basis == FZ_BASIS_AGREED ? agreed : "to make the totals equal");
		break;
	case FZ_SCALE_UNIT:
		fz_buf_printf(out, "for %.10g units of work instead of %.10g", d->units[FZ_HEAD],
			      d->units[FZ_BASE]);
		break;
	case FZ_SCALE_WINDOW:
		fz_buf_printf(
			out, "for %s recorded instead of %s",
			fz_format_ns((double)d->profile[FZ_HEAD]->recording.duration_ns, head),
			fz_format_ns((double)d->profile[FZ_BASE]->recording.duration_ns, base));
		break;
	case FZ_SCALE_TIME:
	case FZ_SCALE_AMOUNT:
	case FZ_SCALE_AUTO:
		fz_buf_printf(out, "because of different %s",
			      strcmp(d->metric, "samples") == 0 ? "sampling rates"
								: "numbers of runs");
		break;
	}
}

void fz_findings_scaling(const struct fz_diff *d, struct fz_buf *out)
{
	char number[FZ_NUMBER_SIZE];

	fz_buf_printf(out, "Scaling: %s", fz_scale_word(d->scale));
	if (!fz_findings_scaled(d)) {
		fz_buf_printf(out, ", factor %s%s; base values are as recorded.",
			      d->factor == 1 ? "1" : "1.00",
			      d->basis == FZ_BASIS_AGREED ? ", which most functions agree with"
							  : "");
		return;
	}
	fz_buf_printf(out, "; expected is before times %s, ",
		      fz_format_decimal(d->factor, 4, number));
	add_reason(d, out);
	fz_buf_char(out, '.');
}
