/* SPDX-License-Identifier: MIT */
/* A history as a page of charts without script, made from web/history.html.
 *
 *   +--------------------------------+
 *   | parse                  +29.8 % |
 *   |                ,---o---o---o   |   a picture is stretched to the width of its card; what is
 *   | o---o---o--o---'               |   text stands outside of it, so that it is not
 *   | 24bbbbc22b          e84b23fa2e |
 *   | + 29.8 % at 75db0741ab ...     |
 *   +--------------------------------+
 *
 * The commits' columns are as wide as each other; in the middle of one is its dot.
 */
#include "ci/history.h"
#include "report/markup.h"
#include "report/viewer.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 1000, HEIGHT = 100, DOTS_MAX = 120 };

struct chart {
	const struct fz_history *h;
	const struct fz_history_series *s;
	double low, high;
	struct fz_buf *out;
};

static double x_of(const struct chart *c, double commit)
{
	return WIDTH * (commit + 0.5) / c->h->n;
}

static double y_of(const struct chart *c, double count)
{
	return c->high > c->low ? HEIGHT * (c->high - count) / (c->high - c->low) : HEIGHT / 2.0;
}

/* As much room above and below as jitter would take to look flat. */
static void find_range(struct chart *c)
{
	c->low = INFINITY;
	c->high = -INFINITY;
	for (uint32_t i = 0; i < c->h->n; i++) {
		if (isnan(c->s->count[i]))
			continue;
		c->low = FZ_MIN(c->low, c->s->count[i]);
		c->high = FZ_MAX(c->high, c->s->count[i]);
	}
	double room = FZ_MAX((c->high - c->low) * 0.12, 2 * c->s->least * c->high);
	c->low = FZ_MAX(c->low - room, 0);
	c->high += room;
}

static bool joined(const struct fz_history_series *s, uint32_t a, uint32_t b)
{
	return s->environment[a] == s->environment[b];
}

/* Level for a commit, then up or down to the next one. */
static void add_line(struct chart *c)
{
	const struct fz_history_series *s = c->s;
	uint32_t before = FZ_NONE;

	fz_buf_str(c->out, "<path class=\"cost\" d=\"");
	for (uint32_t i = 0; i < c->h->n; i++) {
		if (isnan(s->count[i]))
			continue;
		double x = x_of(c, i), y = y_of(c, s->count[i]);
		if (before == FZ_NONE || !joined(s, before, i))
			fz_buf_printf(c->out, "M%.1f %.2f", x, y);
		else
			fz_buf_printf(c->out, "H%.1fV%.2fH%.1f", (x_of(c, before) + x) / 2, y, x);
		before = i;
	}
	fz_buf_str(c->out, "\"/>");
}

/* A line of no length with round ends: it stays round when the picture is stretched. */
static void add_dot(struct chart *c, uint32_t commit)
{
	fz_buf_printf(c->out, "M%.1f %.2fh0", x_of(c, commit), y_of(c, c->s->count[commit]));
}

static void add_dots(struct chart *c)
{
	if (c->h->n > DOTS_MAX)
		return;
	fz_buf_str(c->out, "<path class=\"dots\" d=\"");
	for (uint32_t i = 0; i < c->h->n; i++)
		if (!isnan(c->s->count[i]))
			add_dot(c, i);
	fz_buf_str(c->out, "\"/>");
}

static const char *class_of(const struct fz_history_turn *turn)
{
	return fz_step_change(&turn->step) > 0 ? "more" : "less";
}

static void add_marks(struct chart *c)
{
	const struct fz_history_series *s = c->s;
	uint32_t before = FZ_NONE;

	for (uint32_t i = 0; i < s->turn_n; i++) {
		const struct fz_history_turn *turn = &s->turns[i];
		uint32_t at = (uint32_t)turn->step.at;
		const char *class = class_of(turn);
		fz_buf_printf(c->out, "<path class=\"turn %s\" d=\"M%.1f 0V%d\"/>", class,
			      x_of(c, at), HEIGHT);
		fz_buf_printf(c->out, "<path class=\"point %s\" d=\"", class);
		add_dot(c, at);
		fz_buf_str(c->out, "\"/>");
	}
	for (uint32_t i = 0; i < c->h->n; i++) {
		if (isnan(s->count[i]))
			continue;
		if (before != FZ_NONE && !joined(s, before, i))
			fz_buf_printf(c->out, "<path class=\"other\" d=\"M%.1f 0V%d\"/>",
				      (x_of(c, before) + x_of(c, i)) / 2, HEIGHT);
		before = i;
	}
}

static void add_text(struct fz_buf *out, const char *text)
{
	fz_html_escape(out, fz_str_of(text));
}

/* What the pointer is told of each commit. */
static void add_hints(struct chart *c)
{
	char number[FZ_NUMBER_SIZE];
	double width = (double)WIDTH / c->h->n;

	for (uint32_t i = 0; i < c->h->n; i++) {
		const struct fz_history_commit *commit = &c->h->commits[i];
		fz_buf_printf(
			c->out,
			"<rect x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"%d\"><title>%.10s %s ",
			i * width, width, HEIGHT, commit->commit, commit->day);
		add_text(c->out, commit->subject);
		if (isnan(c->s->count[i]))
			fz_buf_str(c->out, "\nnot counted");
		else
			fz_buf_printf(c->out, "\n%s %s",
				      fz_format_value(c->s->count[i], c->h->unit, number),
				      c->h->metric);
		fz_buf_str(c->out, "</title></rect>");
	}
}

static void add_end(const struct chart *c, uint32_t commit)
{
	char number[FZ_NUMBER_SIZE];

	fz_buf_printf(c->out, "<span>%s · %s · %.10s</span>",
		      fz_format_value(c->s->count[commit], c->h->unit, number),
		      c->h->commits[commit].day, c->h->commits[commit].commit);
}

static void add_chart(struct chart *c)
{
	find_range(c);
	fz_buf_printf(
		c->out,
		"<div class=\"chart\"><svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
		"role=\"img\" aria-label=\"",
		WIDTH, HEIGHT);
	fz_html_escape(c->out, c->s->name);
	fz_buf_printf(c->out, " over %u commits\">", c->h->n);
	fz_buf_printf(c->out, "<path class=\"grid\" d=\"M0 0H%dM0 %dH%d\"/>", WIDTH, HEIGHT, WIDTH);
	add_line(c);
	add_dots(c);
	add_marks(c);
	add_hints(c);
	fz_buf_str(c->out, "</svg></div>\n<div class=\"ends\">");
	add_end(c, c->s->first);
	add_end(c, c->s->last);
	fz_buf_str(c->out, "</div>\n");
}

static void add_turn(const struct chart *c, const struct fz_history_turn *turn)
{
	const struct fz_history_commit *commit = &c->h->commits[turn->step.at];
	double change = fz_step_change(&turn->step);
	fz_auto(fz_buf_release) struct fz_buf place = { 0 };
	char number[FZ_NUMBER_SIZE], after[FZ_NUMBER_SIZE];

	fz_buf_printf(c->out, "<li><b class=\"%s\">%s %s</b> <code>%.10s</code> ", class_of(turn),
		      change > 0 ? "▲" : "▼", fz_ci_change(change, number), commit->commit);
	add_text(c->out, commit->subject);
	fz_buf_printf(c->out, " <span class=\"quiet\">%s", commit->day);
	fz_buf_printf(c->out, ", %s -> %s", fz_format_value(turn->step.before, c->h->unit, number),
		      fz_format_value(turn->step.after, c->h->unit, after));
	if (turn->step.kind == FZ_STEP_GRADUAL)
		fz_buf_printf(c->out, ", little by little since %.10s",
			      c->h->commits[turn->step.since].commit);
	else if (turn->step.since + 1 < turn->step.at)
		fz_buf_printf(c->out, ", or a commit after %.10s that was not counted",
			      c->h->commits[turn->step.since].commit);
	fz_buf_str(c->out, "</span>");
	if (turn->place.context) {
		fz_ci_place_text(&turn->place, c->h->unit, &place);
		if (turn->place.file)
			fz_buf_printf(&place, " · %s:%d", turn->place.file, turn->place.line);
		fz_buf_str(c->out, "<br><code>");
		fz_html_escape(c->out, fz_buf_view(&place));
		fz_buf_str(c->out, "</code>");
	}
	fz_buf_str(c->out, "</li>\n");
}

static void add_card(struct chart *c)
{
	double first = c->s->count[c->s->first], last = c->s->count[c->s->last];
	double change = first > 0 ? last / first - 1 : last > 0 ? INFINITY : 0;
	bool same = c->s->turn_n == 0 && fabs(change) <= c->s->least;
	char number[FZ_NUMBER_SIZE];

	fz_buf_str(c->out, "<section>\n<div class=\"head\"><h2>");
	fz_html_escape(c->out, c->s->name);
	fz_buf_printf(c->out, "</h2><p class=\"%s\">%s</p></div>\n",
		      same         ? "quiet"
		      : change > 0 ? "more"
				   : "less",
		      change == 0 ? "same" : fz_ci_change(change, number));
	add_chart(c);
	if (c->s->turn_n)
		fz_buf_str(c->out, "<ol class=\"turns\">\n");
	for (uint32_t i = 0; i < c->s->turn_n; i++)
		add_turn(c, &c->s->turns[i]);
	if (c->s->turn_n)
		fz_buf_str(c->out, "</ol>\n");
	fz_buf_str(c->out, "</section>\n");
}

/* ---- the page ---- */

struct page {
	const struct fz_history *h;
	const char *title;
	struct fz_output *out;
};

static void add_subtitle(const struct fz_history *h, struct fz_buf *out)
{
	char benchmarks[FZ_NUMBER_SIZE], commits[FZ_NUMBER_SIZE];

	fz_buf_printf(out, "%s of %s over %s", h->metric,
		      fz_format_plural(h->series_n, "benchmark", benchmarks),
		      fz_format_plural(h->n, "commit", commits));
	if (h->n)
		fz_buf_printf(out, ", %s to %s", h->commits[0].day, h->commits[h->n - 1].day);
}

static void fill_mark(void *arg, struct fz_str name)
{
	const struct page *page = arg;
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	if (fz_str_eq(name, FZ_STR("title")))
		add_text(&text, page->title);
	else if (fz_str_eq(name, FZ_STR("subtitle")))
		add_subtitle(page->h, &text);
	else
		for (uint32_t i = 0; i < page->h->series_n; i++)
			add_card(&(struct chart){
				.h = page->h, .s = &page->h->series[i], .out = &text });
	fz_output_add(page->out, text.p ? text.p : "", text.n);
}

void fz_history_html(const struct fz_history *h, const char *title, struct fz_output *out)
{
	struct page page = { .h = h, .title = title, .out = out };

	fz_viewer_fill(fz_history_page, fill_mark, &page, out);
}
