/* SPDX-License-Identifier: MIT */
/* The sentences that all reports share; see report.h. */
#include "bench/report.h"

#include "base/table.h"
#include "profile/cost_words.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

/* ---- one benchmark ---- */

static const double NOISY = 1.5;

const char *fz_ci_change(double change, char out[FZ_NUMBER_SIZE])
{
	if (isnan(change))
		out[0] = '\0';
	else if (change >= 1)
		snprintf(out, FZ_NUMBER_SIZE, isinf(change) ? "new cost" : "x %.*f",
			 change < 9 ? 2 : 0, 1 + change);
	else
		fz_format_percent_change(change, out);
	return out;
}

/* True if the upper end of the interval is more than NOISY times its lower end: it then reflects
 * the noise of the clock, not the benchmark. */
static bool is_noisy(const struct fz_pairs *wall)
{
	return isfinite(wall->low) && 1 + wall->high > NOISY * (1 + wall->low);
}

static double near_zero(const struct fz_pairs *wall)
{
	return wall->low > 0 ? wall->low : wall->high;
}

void fz_ci_clock(const struct fz_ci_bench *b, struct fz_buf *out)
{
	char change[FZ_NUMBER_SIZE], low[FZ_NUMBER_SIZE], high[FZ_NUMBER_SIZE];

	if (!b->wall.n)
		return;
	fz_buf_str(out, "wall time ");
	if (is_noisy(&b->wall)) {
		if (b->wall.decided)
			fz_buf_printf(out, "at least %s",
				      fz_format_percent_change(near_zero(&b->wall), change));
		else
			fz_buf_str(out, "inconclusive");
		return;
	}
	fz_buf_str(out, fz_format_percent_change(b->wall.change, change));
	if (isfinite(b->wall.low))
		fz_buf_printf(out, " [%s, %s]", fz_format_percent_change(b->wall.low, low),
			      fz_format_percent_change(b->wall.high, high));
	if (!b->wall.decided)
		fz_buf_str(out, ", inconclusive");
}

void fz_ci_place(const struct fz_ci_bench *b, struct fz_buf *out)
{
	fz_ci_place_text(&b->place, b->unit, out);
}

void fz_ci_place_text(const struct fz_ci_place *p, const char *unit, struct fz_buf *out)
{
	char change[FZ_NUMBER_SIZE];

	if (!p->context)
		return;
	fz_buf_printf(out, "%s %s", p->context, fz_format_change(p->change, unit, change));
	if (p->base > 0 && p->change > p->base)
		fz_buf_printf(out, " (x %.1f)", 1 + p->change / p->base);
	else if (p->base <= 0)
		fz_buf_str(out, " (new)");
}

const char *fz_ci_word(const struct fz_ci_bench *b)
{
	const struct fz_cost_words *words = fz_cost_words(b->metric, b->unit);

	return b->verdict == FZ_CI_SLOWER   ? words->more
	       : b->verdict == FZ_CI_FASTER ? words->less
					    : fz_ci_verdict_names[b->verdict];
}

/* The word after the number of benchmarks with a verdict by a metric. */
static const char *many_word(enum fz_ci_verdict v, const char *metric)
{
	const struct fz_cost_words *words = fz_cost_words(metric, fz_ci_unit(metric));

	return v == FZ_CI_SLOWER   ? words->many_more
	       : v == FZ_CI_FASTER ? words->many_less
				   : fz_ci_verdict_names[v];
}

const char *fz_ci_word_of_all(const struct fz_ci_result *r, enum fz_ci_verdict v, const char *mixed)
{
	const char *word = NULL;

	for (uint32_t i = 0; i < r->n; i++) {
		if (r->benches[i].verdict != v)
			continue;
		const char *own = many_word(v, r->benches[i].metric);
		word = !word || strcmp(word, own) == 0 ? own : mixed;
	}
	return word ? word : fz_ci_verdict_names[v];
}

const char *fz_ci_excuse(const struct fz_ci_bench *b, const char **ret_why)
{
	*ret_why = b->ignored ? b->ignored : b->accepted;
	if (!*ret_why || b->verdict == FZ_CI_SAME)
		return NULL;
	return b->ignored ? "ignored" : "accepted";
}

static void add_figures(const struct fz_ci_bench *b, struct fz_buf *out)
{
	char change[FZ_NUMBER_SIZE], base[FZ_NUMBER_SIZE], head[FZ_NUMBER_SIZE];

	fz_format_value(b->count[FZ_BASE], b->unit, base);
	fz_format_value(b->count[FZ_HEAD], b->unit, head);
	if (b->verdict == FZ_CI_NEW)
		fz_buf_printf(out, "new: %s %s", head, b->metric);
	else if (b->verdict == FZ_CI_MISSING)
		fz_buf_printf(out, "missing: %s %s in the base", base, b->metric);
	else
		fz_buf_printf(out, "%s %s (%s -> %s)", fz_ci_change(b->change, change), b->metric,
			      base, head);
}

static void begin_part(struct fz_buf *out, size_t start)
{
	if (out->n > start)
		fz_buf_str(out, "; ");
}

void fz_ci_note_of(const struct fz_ci_bench *b, struct fz_buf *out)
{
	const char *why, *excuse = fz_ci_excuse(b, &why);
	size_t start = out->n;

	if (b->was)
		fz_buf_printf(out, "renamed from %s", b->was);
	if (b->trouble) {
		begin_part(out, start);
		fz_buf_printf(out, "not measured: %s", b->trouble);
	}
	if (excuse) {
		begin_part(out, start);
		fz_buf_printf(out, "%s: %s", excuse, why);
	}
}

void fz_ci_sentence(const struct fz_ci_bench *b, struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf note = { 0 };
	size_t start = out->n;

	if (!b->trouble)
		add_figures(b, out);
	if (b->wall.n) {
		begin_part(out, start);
		fz_ci_clock(b, out);
	}
	if (b->place.context) {
		begin_part(out, start);
		fz_buf_str(out, "in ");
		fz_ci_place(b, out);
	}
	fz_ci_note_of(b, &note);
	if (note.n) {
		begin_part(out, start);
		fz_buf_add(out, note.p, note.n);
	}
}

/* ---- all ---- */

void fz_ci_metrics_text(const struct fz_ci_result *r, struct fz_buf *out)
{
	for (uint32_t i = 0; i < r->metrics.n; i++)
		fz_buf_printf(out, "%s%s", i ? ", " : "", r->metrics.list[i]);
}

static uint32_t count_word(const struct fz_ci_result *r, enum fz_ci_verdict v, const char *word)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n; i++)
		n += r->benches[i].verdict == v &&
		     strcmp(many_word(v, r->benches[i].metric), word) == 0;
	return n;
}

/* Add "1 slower, 2 larger": the words in the order of the metrics, each once. */
static void add_verdict(const struct fz_ci_result *r, enum fz_ci_verdict v, const char **separator,
			struct fz_buf *out)
{
	const char *words[FZ_CI_METRICS_MAX];

	for (uint32_t i = 0; i < r->metrics.n; i++) {
		uint32_t earlier = 0;
		words[i] = many_word(v, r->metrics.list[i]);
		while (strcmp(words[earlier], words[i]) != 0)
			earlier++;
		uint32_t n = earlier == i ? count_word(r, v, words[i]) : 0;
		if (!n)
			continue;
		fz_buf_printf(out, "%s%u %s", *separator, n, words[i]);
		*separator = ", ";
	}
}

void fz_ci_headline(const struct fz_ci_result *r, struct fz_buf *out)
{
	static const enum fz_ci_verdict order[] = {
		FZ_CI_SLOWER, FZ_CI_DISAGREE, FZ_CI_MISSING, FZ_CI_NOT_COMPARABLE,
		FZ_CI_FASTER, FZ_CI_LAYOUT,   FZ_CI_NEW,     FZ_CI_SAME,
	};
	const char *separator = ": ";
	int status = fz_ci_exit(r);

	fz_buf_str(out, status == 2 ? "Performance could not be judged"
			: status    ? "Performance regression"
				    : "No performance regression");
	for (size_t i = 0; i < FZ_ARRAY_LEN(order); i++)
		add_verdict(r, order[i], &separator, out);
	if (!r->n)
		fz_buf_str(out, ": no benchmarks were counted");
}

static void add_failure(const struct fz_ci_bench *b, struct fz_buf *out)
{
	char change[FZ_NUMBER_SIZE], limit[FZ_NUMBER_SIZE];
	const char *bytes = fz_ci_is_of_memory(b->metric) ? " bytes" : "";

	fz_buf_add(out, b->shown.shown.p, b->shown.shown.n);
	if (b->verdict == FZ_CI_MISSING)
		fz_buf_str(out, " is missing");
	else if (b->verdict == FZ_CI_DISAGREE)
		fz_buf_printf(out, ": wall time contradicts %s %s", fz_ci_change(b->change, change),
			      b->metric);
	else if (b->change < 1)
		fz_buf_printf(out, " takes %s more %s%s (limit %s)",
			      fz_format_percent(b->change, change), b->metric, bytes,
			      fz_format_percent(b->limit, limit));
	else if (isinf(b->change))
		fz_buf_printf(out, " takes %s %s; the base takes none",
			      fz_format_value(b->count[FZ_HEAD], b->unit, change), b->metric);
	else
		fz_buf_printf(out, " takes %.1f times the %s%s (limit %s)", 1 + b->change,
			      b->metric, bytes, fz_format_percent(b->limit, limit));
}

void fz_ci_why(const struct fz_ci_result *r, struct fz_buf *out)
{
	char count[FZ_NUMBER_SIZE];
	const char *why;
	uint32_t excused = 0;

	for (uint32_t i = 0; i < r->n; i++)
		excused += r->benches[i].suspect && !r->benches[i].fails &&
			   fz_ci_excuse(&r->benches[i], &why);
	switch (fz_ci_exit(r)) {
	case 2:
		fz_buf_str(out, r->trouble_n ? r->troubles[0]
				: r->n       ? "base and head were counted in different "
					       "environments"
					     : "no benchmarks were counted");
		break;
	case 1:
		add_failure(&r->benches[0], out);
		if (r->failing > 1)
			fz_buf_printf(out, "; %s",
				      fz_format_plural(r->failing - 1, "more failure", count));
		break;
	default:
		fz_buf_str(out, excused ? "all benchmarks over their limit are accepted or ignored"
					: "no benchmark exceeds its limit");
	}
}

/* ---- a terminal ---- */

static enum fz_hue hue_of(const struct fz_ci_bench *b)
{
	switch (b->verdict) {
	case FZ_CI_SLOWER:
	case FZ_CI_MISSING:
		return FZ_HUE_RED;
	case FZ_CI_FASTER:
		return FZ_HUE_BLUE;
	case FZ_CI_DISAGREE:
	case FZ_CI_NOT_COMPARABLE:
		return FZ_HUE_PURPLE;
	default:
		return FZ_HUE_NONE;
	}
}

/* Start a line below a row, under the names. */
static struct fz_buf *line_below(struct fz_table *t)
{
	fz_table_below(t, 1);
	return t->out;
}

static void add_row(struct fz_table *t, size_t i, const void *arg)
{
	const struct fz_ci_bench *b = &((const struct fz_ci_result *)arg)->benches[i];
	fz_auto(fz_buf_release) struct fz_buf note = { 0 };
	char change[FZ_NUMBER_SIZE];

	t->hue = hue_of(b);
	fz_table_cell(t, fz_ci_word(b));
	t->hue = FZ_HUE_NONE;
	fz_table_str(t, b->shown.shown);
	fz_table_cell(t, b->metric);
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		if (b->on_side[s])
			fz_table_value(t, b->count[s], b->unit);
		else
			fz_table_cell(t, "-");
	fz_table_cell(t, fz_ci_change(b->change, change));
	fz_table_percent(t, b->limit);
	if (b->wall.n) {
		fz_ci_clock(b, line_below(t));
		fz_buf_printf(t->out, ", %u pairs", b->wall.n);
	}
	if (b->place.context) {
		fz_buf_str(line_below(t), "where: ");
		fz_ci_place(b, t->out);
		if (b->place.file)
			fz_buf_printf(t->out, "  %s:%d", b->place.file, b->place.line);
	}
	fz_ci_note_of(b, &note);
	if (note.n)
		fz_table_text(fz_buf_view(&note), UINT_MAX, t->style, line_below(t));
}

void fz_ci_text(const struct fz_ci_result *r, const struct fz_style *style, struct fz_buf *out)
{
	enum { METRIC = 2 };
	static const struct fz_column columns[] = {
		{ "verdict", .min = 14 },
		{ "benchmark", .gap = 1, .max = 72 },
		{ "metric", .gap = 1 },
		{ "base", FZ_RIGHT, .gap = 1, .min = 15 },
		{ "head", FZ_RIGHT, .gap = 1, .min = 15 },
		{ "change", FZ_RIGHT, .gap = 1, .min = 9 },
		{ "limit", FZ_RIGHT, .gap = 1, .min = 8 },
	};
	struct fz_table t;

	fz_table_init(&t, columns, FZ_ARRAY_LEN(columns), style, out);
	t.hidden = r->metrics.n > 1 ? 0 : 1u << METRIC;
	if (r->n) {
		fz_table_print(&t, r->n, add_row, r);
		fz_buf_char(out, '\n');
	}
	fz_ci_headline(r, out);
	if (r->n && r->metrics.n == 1)
		fz_buf_printf(out, " (%s)", r->metrics.list[0]);
	fz_buf_str(out, ".\n");
}
