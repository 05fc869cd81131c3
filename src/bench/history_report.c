/* SPDX-License-Identifier: MIT */
/* A history in a terminal and for programs; see history.h.
 *
 *   parse      120,712      156,713    +29.8 %  ____====
 *     75db0741ab 2026-11-20 +29.8 % Look for references with a regular expression
 *                where: parse > tokens +36,001  parse.c:5
 */
#include "bench/history.h"

#include "base/table.h"

#include <math.h>

enum { BARS_MAX = 60, HEIGHTS = 8 };

static const char *const bars[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const plain_bars[] = { "_", ".", ",", "-", "=", "+", "*", "#" };

/* ---- a line of bars ---- */

struct range {
	double low, high;
};

/* The range of the bars: at least four times the smallest change, so that jitter looks flat. */
static struct range range_of(const struct fz_history *h, const struct fz_history_series *s)
{
	struct range r = { INFINITY, -INFINITY };

	for (uint32_t i = 0; i < h->n; i++) {
		if (isnan(s->count[i]))
			continue;
		r.low = FZ_MIN(r.low, s->count[i]);
		r.high = FZ_MAX(r.high, s->count[i]);
	}
	double least = 4 * s->least * r.high, missing = least - (r.high - r.low);
	if (missing > 0) {
		r.low -= missing / 2;
		r.high += missing / 2;
	}
	return r;
}

/* Add a bar for some commits: the highest count, or a space if all are unknown. */
static void add_bar(const struct fz_history_series *s, uint32_t from, uint32_t to,
		    const struct range *r, const struct fz_style *style, struct fz_buf *out)
{
	double most = NAN;

	for (uint32_t i = from; i < to; i++)
		if (!isnan(s->count[i]))
			most = isnan(most) ? s->count[i] : FZ_MAX(most, s->count[i]);
	double width = r->high - r->low;
	if (isnan(most)) {
		fz_buf_char(out, ' ');
		return;
	}
	int height = width > 0 ? (int)(HEIGHTS * (most - r->low) / width) : 0;
	height = FZ_MIN(FZ_MAX(height, 0), HEIGHTS - 1);
	fz_buf_str(out, style->ascii ? plain_bars[height] : bars[height]);
}

static void add_bars(const struct fz_history *h, const struct fz_history_series *s,
		     unsigned columns, const struct fz_style *style, struct fz_buf *out)
{
	struct range r = range_of(h, s);
	uint32_t n = FZ_MIN(h->n, columns);

	for (uint32_t i = 0; i < n; i++)
		add_bar(s, (uint32_t)((uint64_t)i * h->n / n),
			(uint32_t)((uint64_t)(i + 1) * h->n / n), &r, style, out);
}

/* ---- a terminal ---- */

static void text_turn(const struct fz_history *h, const struct fz_history_turn *turn,
		      const struct fz_style *style, struct fz_buf *out)
{
	const struct fz_history_commit *c = &h->commits[turn->step.at];
	const struct fz_history_commit *since = &h->commits[turn->step.since];
	double change = fz_step_change(&turn->step);
	enum fz_hue hue = change > 0 ? FZ_HUE_RED : FZ_HUE_BLUE;
	char number[FZ_NUMBER_SIZE], subject[256];

	fz_str_printable(c->subject, strlen(c->subject), subject, sizeof(subject));
	fz_buf_printf(out, "  %.10s %s %s%s%s  %s\n", c->commit, c->day, fz_hue_on(style, hue),
		      fz_ci_change(change, number), fz_hue_off(style, hue), subject);
	if (turn->step.kind == FZ_STEP_GRADUAL)
		fz_buf_printf(out, "             gradually since %.10s %s\n", since->commit,
			      since->day);
	else if (turn->step.since + 1 < turn->step.at)
		fz_buf_printf(out, "             or a commit after %.10s that was not counted\n",
			      since->commit);
	if (!turn->place.context)
		return;
	fz_buf_str(out, "             where: ");
	fz_ci_place_text(&turn->place, h->unit, out);
	if (turn->place.file)
		fz_buf_printf(out, "  %s:%d", turn->place.file, turn->place.line);
	fz_buf_char(out, '\n');
}

static void add_series(struct fz_table *t, size_t i, const void *arg)
{
	const struct fz_history *h = arg;
	const struct fz_history_series *s = &h->series[i];
	double first = s->count[s->first], last = s->count[s->last];
	char change[FZ_NUMBER_SIZE];

	fz_table_str(t, s->name);
	fz_table_value(t, first, h->unit);
	fz_table_value(t, last, h->unit);
	fz_table_cell(t, first == last
				 ? "same"
				 : fz_ci_change(first > 0 ? last / first - 1 : INFINITY, change));
	unsigned room = fz_table_last(t);
	add_bars(h, s, FZ_MIN(room, (unsigned)BARS_MAX), t->style, t->out);
}

void fz_history_text(const struct fz_history *h, const struct fz_style *style, struct fz_buf *out)
{
	static const struct fz_column columns[] = {
		{ "benchmark", .max = 40 },
		{ "first", FZ_RIGHT, .gap = 2, .min = 15 },
		{ "last", FZ_RIGHT, .gap = 1, .min = 15 },
		{ "change", FZ_RIGHT, .gap = 1, .min = 9 },
		{ NULL, .gap = 2 },
	};
	uint32_t turned = 0;
	bool moved = false;
	struct fz_table t;

	fz_table_init(&t, columns, FZ_ARRAY_LEN(columns), style, out);
	fz_table_measure(&t, h->series_n, add_series, h);
	fz_table_titles(&t);
	for (uint32_t i = 0; i < h->series_n; i++) {
		const struct fz_history_series *s = &h->series[i];
		add_series(&t, i, h);
		fz_table_end(&t);
		for (uint32_t k = 0; k < s->turn_n; k++)
			text_turn(h, &s->turns[k], style, out);
		turned += s->turn_n > 0;
		moved |= s->moved;
	}
	char commits[FZ_NUMBER_SIZE], benchmarks[FZ_NUMBER_SIZE];
	fz_buf_printf(out, "\n%u of %s changed in %s (%s).\n", turned,
		      fz_format_plural(h->series_n, "benchmark", benchmarks),
		      fz_format_plural(h->n, "commit", commits), h->metric);
	if (moved)
		fz_buf_str(out, "The environment changed; \"first\" is the first count in the "
				"latest one.\n");
}

/* ---- JSON ---- */

static void json_turn(struct fz_json *j, const struct fz_history *h,
		      const struct fz_history_turn *turn)
{
	fz_json_open(j, '{');
	fz_ci_json_text(j, "commit", h->commits[turn->step.at].commit);
	fz_ci_json_text(j, "since", h->commits[turn->step.since].commit);
	fz_ci_json_text(j, "kind", fz_step_names[turn->step.kind]);
	fz_json_kdouble(j, "before", turn->step.before);
	fz_json_kdouble(j, "after", turn->step.after);
	fz_json_kdouble(j, "change", fz_step_change(&turn->step));
	fz_ci_json_where(j, &turn->place);
	fz_json_close(j, '}');
}

static void json_series(struct fz_json *j, const struct fz_history *h,
			const struct fz_history_series *s)
{
	fz_json_open(j, '{');
	fz_json_kstr(j, "name", s->name);
	fz_json_kdouble(j, "threshold", s->least);
	fz_json_kopen(j, "counts", '[');
	for (uint32_t i = 0; i < h->n; i++)
		fz_json_double(j, s->count[i]);
	fz_json_close(j, ']');
	fz_json_kopen(j, "environments", '[');
	for (uint32_t i = 0; i < h->n; i++)
		if (s->environment[i] == FZ_NONE)
			fz_json_null(j);
		else
			fz_json_int(j, s->environment[i]);
	fz_json_close(j, ']');
	fz_json_kopen(j, "changes", '[');
	for (uint32_t i = 0; i < s->turn_n; i++)
		json_turn(j, h, &s->turns[i]);
	fz_json_close(j, ']');
	fz_json_close(j, '}');
}

void fz_history_json(const struct fz_history *h, struct fz_output *out)
{
	struct fz_json j;

	fz_json_init(&j, out, 2);
	fz_json_open(&j, '{');
	fz_json_kint(&j, "schema", 1);
	fz_ci_json_text(&j, "kind", "history");
	fz_ci_json_text(&j, "metric", h->metric);
	fz_json_kopen(&j, "commits", '[');
	for (uint32_t i = 0; i < h->n; i++) {
		fz_json_open(&j, '{');
		fz_ci_json_text(&j, "commit", h->commits[i].commit);
		fz_ci_json_text(&j, "date", h->commits[i].day);
		fz_ci_json_text(&j, "subject", h->commits[i].subject);
		fz_json_close(&j, '}');
	}
	fz_json_close(&j, ']');
	fz_json_kopen(&j, "environments", '[');
	for (uint32_t i = 0; i < h->environment_n; i++)
		fz_json_str(&j, fz_str_of(h->environments[i]));
	fz_json_close(&j, ']');
	fz_json_kopen(&j, "benchmarks", '[');
	for (uint32_t i = 0; i < h->series_n; i++)
		json_series(&j, h, &h->series[i]);
	fz_json_close(&j, ']');
	fz_json_close(&j, '}');
	fz_output_str(out, "\n");
}
