/* SPDX-License-Identifier: MIT */
/* A history as a page of charts, made from web/history.html.
 *
 *   +--------------------------------+
 *   | parse                  +29.8 % |
 *   | 160 |          :  I   I   I    |   the picture is stretched to the width of its card, so
 *   |   0 | I   I   I: [ ] [ ] [ ]   |   all text is outside of it
 *   | 24bbbbc22b          e84b23fa2e |
 *   | + 29.8 % at 75db0741ab ...     |
 *   +--------------------------------+
 *
 * Columns of commits have equal widths. A bar starts at zero; the line across its end is the range
 * within which a count is not a change. The script only implements the search.
 */
#include "bench/history.h"
#include "report/markup.h"
#include "report/viewer.h"

#include <math.h>

enum { WIDTH = 1000, HEIGHT = 100 };
static const double bar_width = 0.72, reach_width = 0.3; /* fractions of a column */

struct chart {
	const struct fz_history *h;
	const struct fz_history_series *s;
	double high; /* the picture's upper edge; the lower one is 0 */
	struct fz_buf *out;
};

static double x_of(const struct chart *c, double commit)
{
	return WIDTH * (commit + 0.5) / c->h->n;
}

static double y_of(const struct chart *c, double count)
{
	return c->high > 0 ? HEIGHT * (1 - count / c->high) : HEIGHT;
}

/* The axis ranges from zero to the next quarter of a power of ten above the highest count. */
static void find_range(struct chart *c)
{
	double most = 0;

	for (uint32_t i = 0; i < c->h->n; i++)
		if (!isnan(c->s->count[i]))
			most = FZ_MAX(most, c->s->count[i] * (1 + c->s->least));
	double quarter = most > 0 ? pow(10, floor(log10(most))) / 4 : 1;
	c->high = FZ_MAX(ceil(most / quarter) * quarter, 1);
}

static bool joined(const struct fz_history_series *s, uint32_t a, uint32_t b)
{
	return s->environment[a] == s->environment[b];
}

static const char *class_of(const struct fz_history_turn *turn)
{
	return fz_step_change(&turn->step) > 0 ? "more" : "less";
}

static const struct fz_history_turn *turn_at(const struct fz_history_series *s, uint32_t commit)
{
	for (uint32_t i = 0; i < s->turn_n; i++)
		if (s->turns[i].step.at == commit)
			return &s->turns[i];
	return NULL;
}

static void add_bars(struct chart *c)
{
	double width = bar_width * WIDTH / c->h->n;

	for (uint32_t i = 0; i < c->h->n; i++) {
		const struct fz_history_turn *turn = turn_at(c->s, i);
		double y = isnan(c->s->count[i]) ? HEIGHT : y_of(c, c->s->count[i]);
		if (isnan(c->s->count[i]))
			continue;
		fz_buf_printf(c->out,
			      "<rect class=\"bar %s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
			      "height=\"%.2f\"/>",
			      turn ? class_of(turn) : "", x_of(c, i) - width / 2, y, width,
			      HEIGHT - y);
	}
}

/* Add the range around each bar's end within which a count is not a change. */
static void add_reaches(struct chart *c)
{
	double half = reach_width * WIDTH / c->h->n / 2;

	fz_buf_str(c->out, "<path class=\"reach\" d=\"");
	for (uint32_t i = 0; i < c->h->n; i++) {
		double count = c->s->count[i], x = x_of(c, i);
		if (isnan(count))
			continue;
		double low = y_of(c, count * FZ_MAX(1 - c->s->least, 0));
		double high = y_of(c, count * (1 + c->s->least));
		fz_buf_printf(c->out, "M%.2f %.2fh%.2fM%.2f %.2fV%.2fM%.2f %.2fh%.2f", x - half,
			      low, 2 * half, x, low, high, x - half, high, 2 * half);
	}
	fz_buf_str(c->out, "\"/>");
}

/* Returns whether counts of different environments meet. */
static bool add_marks(struct chart *c)
{
	const struct fz_history_series *s = c->s;
	uint32_t before = FZ_NONE;
	bool differs = false;

	for (uint32_t i = 0; i < s->turn_n; i++) {
		const struct fz_history_turn *turn = &s->turns[i];
		uint32_t at = (uint32_t)turn->step.at;
		fz_buf_printf(c->out, "<path class=\"turn %s\" d=\"M%.1f 0V%d\"/>", class_of(turn),
			      x_of(c, at) - WIDTH / 2.0 / c->h->n, HEIGHT);
	}
	for (uint32_t i = 0; i < c->h->n; i++) {
		if (isnan(s->count[i]))
			continue;
		if (before != FZ_NONE && !joined(s, before, i)) {
			fz_buf_printf(c->out, "<path class=\"other\" d=\"M%.1f 0V%d\"/>",
				      (x_of(c, before) + x_of(c, i)) / 2, HEIGHT);
			differs = true;
		}
		before = i;
	}
	return differs;
}

static void add_text(struct fz_buf *out, const char *text)
{
	fz_html_escape(out, fz_str_of(text));
}

/* Begin a link to a commit, if it has a page. */
static void begin_link(const struct fz_history *h, const char *commit, const char *more,
		       struct fz_buf *out)
{
	if (!h->commit_pages)
		return;
	fz_buf_printf(out, "<a%s rel=\"noreferrer\" href=\"", more);
	add_text(out, h->commit_pages);
	add_text(out, commit);
	fz_buf_str(out, "\">");
}

static void end_link(const struct fz_history *h, struct fz_buf *out)
{
	if (h->commit_pages)
		fz_buf_str(out, "</a>");
}

/* Add the tooltips of all commits. */
static void add_hints(struct chart *c)
{
	char number[FZ_NUMBER_SIZE];
	double width = (double)WIDTH / c->h->n;

	for (uint32_t i = 0; i < c->h->n; i++) {
		const struct fz_history_commit *commit = &c->h->commits[i];
		begin_link(c->h, commit->commit, " tabindex=\"-1\"", c->out);
		fz_buf_printf(c->out,
			      "<rect class=\"hint\" x=\"%.1f\" y=\"0\" width=\"%.1f\" "
			      "height=\"%d\"><title>%.10s %s ",
			      i * width, width, HEIGHT, commit->commit, commit->day);
		add_text(c->out, commit->subject);
		if (isnan(c->s->count[i]))
			fz_buf_str(c->out, "\nnot counted");
		else
			fz_buf_printf(c->out, "\n%s %s",
				      fz_format_value(c->s->count[i], c->h->unit, number),
				      c->h->metric);
		fz_buf_str(c->out, "</title></rect>");
		end_link(c->h, c->out);
	}
}

static void add_end(const struct chart *c, uint32_t commit)
{
	char number[FZ_NUMBER_SIZE];

	fz_buf_printf(c->out, "<span>%s<br>%s · ",
		      fz_format_value(c->s->count[commit], c->h->unit, number),
		      c->h->commits[commit].day);
	begin_link(c->h, c->h->commits[commit].commit, "", c->out);
	fz_buf_printf(c->out, "%.10s", c->h->commits[commit].commit);
	end_link(c->h, c->out);
	fz_buf_str(c->out, "</span>");
}

static void add_chart(struct chart *c)
{
	char most[FZ_NUMBER_SIZE];

	find_range(c);
	fz_buf_printf(c->out,
		      "<div class=\"chart\"><p class=\"axis\" aria-hidden=\"true\"><span>%s</span>"
		      "<span>0</span></p><svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
		      "role=\"group\" aria-label=\"",
		      fz_format_value(c->high, c->h->unit, most), WIDTH, HEIGHT);
	fz_html_escape(c->out, c->s->name);
	fz_buf_printf(c->out, " over %u commits\">", c->h->n);
	fz_buf_printf(c->out, "<path class=\"grid\" d=\"M0 0H%dM0 %dH%d\"/>", WIDTH, HEIGHT, WIDTH);
	add_bars(c);
	add_reaches(c);
	bool differs = add_marks(c);
	add_hints(c);
	fz_buf_str(c->out, "</svg></div>\n<div class=\"ends\">");
	add_end(c, c->s->first);
	add_end(c, c->s->last);
	fz_buf_str(c->out, "</div>\n");
	if (differs)
		fz_buf_str(c->out, "<p class=\"quiet\">Dotted lines: the environment "
				   "changed. Counts of different ones are not compared; the first "
				   "and the last are of the latest.</p>\n");
}

static void add_turn(const struct chart *c, const struct fz_history_turn *turn)
{
	const struct fz_history_commit *commit = &c->h->commits[turn->step.at];
	double change = fz_step_change(&turn->step);
	fz_auto(fz_buf_release) struct fz_buf place = { 0 };
	char number[FZ_NUMBER_SIZE], after[FZ_NUMBER_SIZE];

	fz_buf_printf(c->out, "<li><b class=\"%s\">%s %s</b> ", class_of(turn),
		      change > 0 ? "▲" : "▼", fz_ci_change(change, number));
	begin_link(c->h, commit->commit, "", c->out);
	fz_buf_printf(c->out, "<code>%.10s</code>", commit->commit);
	end_link(c->h, c->out);
	fz_buf_char(c->out, ' ');
	add_text(c->out, commit->subject);
	fz_buf_printf(c->out, " <span class=\"quiet\"><time>%s</time>", commit->day);
	fz_buf_printf(c->out, ", %s → %s", fz_format_value(turn->step.before, c->h->unit, number),
		      fz_format_value(turn->step.after, c->h->unit, after));
	if (turn->step.kind == FZ_STEP_GRADUAL)
		fz_buf_printf(c->out, ", gradually since %.10s",
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
	bool same = fabs(change) <= c->s->least;
	char number[FZ_NUMBER_SIZE];

	fz_buf_str(c->out, "<section>\n<div class=\"head\"><h2>");
	fz_html_name(c->out, c->s->name);
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

void fz_history_cards(const struct fz_history *h, uint32_t most, struct fz_buf *out)
{
	for (uint32_t i = 0; i < h->series_n && i < most; i++)
		add_card(&(struct chart){ .h = h, .s = &h->series[i], .out = out });
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
	if (!h->n)
		return;
	fz_buf_printf(out, ", %s", h->commits[0].day);
	if (strcmp(h->commits[0].day, h->commits[h->n - 1].day) != 0)
		fz_buf_printf(out, " to %s", h->commits[h->n - 1].day);
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
		fz_history_cards(page->h, FZ_NONE, &text);
	fz_output_add(page->out, text.p ? text.p : "", text.n);
}

void fz_history_html(const struct fz_history *h, const char *title, struct fz_output *out)
{
	struct page page = { .h = h, .title = title, .out = out };

	fz_viewer_fill(fz_history_page, fill_mark, &page, out);
}
