/* SPDX-License-Identifier: MIT */
/* Draws the table of functions, the title, the meters and the key line.
 *
 *   fizeau  app.py                                PID 4711  Python 3.13.0  0:12   title
 *   RUNNING  all 3 threads  12,034 samples ...                                    status
 *   GIL ▂▃▅▇ ███████▌ 63.0 %  waiting 1.2 %  GC 0.0 %                             meters
 *      SELF%  TOTAL%    SELF   FUNCTION              FILE:LINE                    head
 *   ▸  42.1    98.0    5.1 s   leaf                  app.py:4                     rows
 *   ── calls of leaf ──────────────────────────────────────────                   panel
 *    q quit   ? help  / filter ...                                                keys
 *
 * The window size decides which parts are drawn: see struct plan.
 */
#include "live/view.h"
#include "base/clock.h"

#include <math.h>
#include <stdio.h>

enum {
	LEAST_COLUMNS = 40,
	LEAST_ROWS = 10,
	GRAPH_WIDTH = FZ_LIVE_BINS,
	BAR_WIDTH = 12,
};

/* ---- the top ---- */

static void format_clock(int64_t ns, char *out, size_t size)
{
	int64_t s = FZ_MAX(ns, 0) / FZ_SECOND;

	if (s >= 3600)
		snprintf(out, size, "%lld:%02d:%02d", (long long)(s / 3600), (int)(s / 60 % 60),
			 (int)(s % 60));
	else
		snprintf(out, size, "%d:%02d", (int)(s / 60), (int)(s % 60));
}

static void draw_title(struct fz_live_view *v)
{
	struct fz_live_screen *s = &v->screen;
	const struct fz_live_model *m = &v->model;
	char right[128], clock[32], python[32] = "", pid[32] = "";
	int number = (int)(m->pid ? m->pid : v->options->pid);
	int64_t until = v->ended[0] || v->frozen ? m->last : fz_clock_now();

	format_clock(until - v->began, clock, sizeof(clock));
	if (m->python[0])
		snprintf(python, sizeof(python), "  Python %u.%u.%u", m->python[0], m->python[1],
			 m->python[2]);
	/* The whole machine has no pid. */
	if (number)
		snprintf(pid, sizeof(pid), "PID %d", number);
	snprintf(right, sizeof(right), "%s%s  %s ", pid, s->columns >= 60 ? python : "", clock);
	fz_live_fill(s, 0, 0, s->columns, FZ_LIVE_TITLE);
	int width = (int)strlen(right), x = 1;
	x += fz_live_put(s, 0, x, s->columns - x, FZ_LIVE_TITLE, FZ_STR("fizeau  "));
	fz_live_put(s, 0, x, s->columns - width - x - 1, FZ_LIVE_TITLE,
		    fz_str_of(v->options->title));
	fz_live_put(s, 0, s->columns - width, width, FZ_LIVE_TITLE, fz_str_of(right));
}

static uint32_t number_of_scope(const struct fz_live_model *m, uint32_t scope, uint32_t *ret_n)
{
	uint32_t n = 0, number = 0;

	for (uint32_t i = 0; i < m->scope_n; i++)
		if (m->scopes[i].kind == m->scopes[scope].kind) {
			n++;
			if (i == scope)
				number = n;
		}
	*ret_n = n;
	return number;
}

static void describe_scope(const struct fz_live_view *v, uint32_t scope, char *out, size_t size)
{
	const struct fz_live_model *m = &v->model;
	const struct fz_live_scope *s = &m->scopes[scope];
	char count[FZ_NUMBER_SIZE];
	uint32_t n, number = number_of_scope(m, scope, &n);

	if (s->kind == FZ_LIVE_SCOPE_ALL) {
		snprintf(out, size, "%s", fz_format_plural(s->threads, "thread", count));
	} else if (s->kind == FZ_LIVE_SCOPE_PROCESS) {
		snprintf(out, size, "process %llu (%u of %u)", (unsigned long long)s->pid, number,
			 n);
	} else {
		const struct fz_thread *t = &m->mirror->threads[s->thread];
		struct fz_str name = fz_profile_text(m->mirror, t->name);
		snprintf(out, size, "thread %llu %.*s (%u of %u)", (unsigned long long)t->tid,
			 (int)FZ_MIN(name.n, (size_t)40), name.p, number, n);
	}
}

/* Add a piece of text if it fits. */
static void add_piece(struct fz_live_screen *s, int y, int *x, enum fz_live_style style,
		      const char *text)
{
	char safe[512];
	size_t n = fz_str_printable(text, strlen(text), safe, sizeof(safe));
	int width = (int)fz_str_columns((struct fz_str){ safe, n });

	if (*x + width > s->columns)
		return;
	*x += fz_live_put(s, y, *x, width, style, fz_str_of(text)) + 2;
}

static void draw_status(struct fz_live_view *v, uint32_t scope)
{
	struct fz_live_screen *s = &v->screen;
	const struct fz_live_model *m = &v->model;
	const struct fz_quality *q = &m->quality;
	char text[160], number[FZ_NUMBER_SIZE];
	double seconds = (double)(m->last - v->began) / 1e9;
	int x = 1;

	if (v->ended[0])
		add_piece(s, 1, &x, FZ_LIVE_BAD, "ENDED");
	else if (v->frozen)
		add_piece(s, 1, &x, FZ_LIVE_BAD, "FROZEN");
	else if (m->last)
		add_piece(s, 1, &x, FZ_LIVE_GOOD, "LIVE");
	else
		add_piece(s, 1, &x, FZ_LIVE_BAD, "WAITING");
	if (v->ended[0])
		add_piece(s, 1, &x, FZ_LIVE_BOLD, v->ended);
	if (!m->last && !v->ended[0]) {
		add_piece(s, 1, &x, FZ_LIVE_TEXT,
			  v->options->pid ? "for Python code to run" : "for a sample");
		return;
	}
	describe_scope(v, scope, text, sizeof(text));
	add_piece(s, 1, &x, FZ_LIVE_BOLD, text);
	snprintf(text, sizeof(text), "%s",
		 fz_format_plural((int64_t)m->scopes[scope].samples, "sample", number));
	add_piece(s, 1, &x, FZ_LIVE_TEXT, text);
	if (seconds > 0.2) {
		snprintf(text, sizeof(text), "%s/s",
			 fz_format_count((int64_t)((double)q->taken / seconds), number));
		add_piece(s, 1, &x, FZ_LIVE_DIM, text);
	}
	snprintf(text, sizeof(text), "%s missed", fz_format_count((int64_t)q->missed, number));
	add_piece(s, 1, &x, q->missed * 20 > q->taken ? FZ_LIVE_BAD : FZ_LIVE_DIM, text);
	snprintf(text, sizeof(text), "%s unreadable",
		 fz_format_count((int64_t)fz_quality_rejected(q), number));
	add_piece(s, 1, &x, fz_quality_rejected(q) * 20 > q->taken ? FZ_LIVE_BAD : FZ_LIVE_DIM,
		  text);
}

/* Number of instants of the scope: the largest number of samples of one of its threads. */
static uint64_t instants_of(const struct fz_live_view *v, uint32_t scope)
{
	const struct fz_live_model *m = &v->model;
	uint64_t most = 1;

	if (v->options->clock == FZ_CLOCK_CPU)
		return FZ_MAX(m->scopes[scope].states.samples, 1);
	for (uint32_t i = 0; i < m->scope_n; i++) {
		const struct fz_live_scope *s = &m->scopes[i];
		bool inside = scope == FZ_LIVE_ALL || i == scope ||
			      (m->scopes[scope].kind == FZ_LIVE_SCOPE_PROCESS &&
			       s->pid == m->scopes[scope].pid);
		if (s->kind == FZ_LIVE_SCOPE_THREAD && inside)
			most = FZ_MAX(most, s->states.samples);
	}
	return most;
}

static void draw_meters(struct fz_live_view *v, int y, uint32_t scope)
{
	struct fz_live_screen *s = &v->screen;
	const struct fz_live_scope *sc = &v->model.scopes[scope];
	const struct fz_live_states *st = &sc->states;
	double all = (double)FZ_MAX(st->samples, 1);
	double instants = (double)instants_of(v, scope),
	       gil = FZ_MIN((double)st->has_gil / instants, 1);
	double history[FZ_LIVE_BINS], scale = all / instants;
	char text[80];
	int x = 1;

	add_piece(s, y, &x, FZ_LIVE_TEXT, "GIL");
	x--;
	if (s->columns >= 90) {
		for (uint32_t i = 0; i < FZ_LIVE_BINS; i++) {
			uint32_t age = FZ_LIVE_BINS - i;
			history[i] = age > v->model.bin
					     ? NAN
					     : FZ_MIN((double)sc->gil_bins[(v->model.bin - age) %
									   FZ_LIVE_BINS] *
							      scale,
						      1.0);
		}
		fz_live_graph(s, y, x, fz_live_heat(gil), history, FZ_LIVE_BINS);
		x += GRAPH_WIDTH + 1;
	}
	fz_live_bar(s, y, x, BAR_WIDTH, fz_live_heat(gil), gil);
	x += BAR_WIDTH + 1;
	snprintf(text, sizeof(text), "%5.1f %% of the time", 100 * gil);
	add_piece(s, y, &x, FZ_LIVE_BOLD, text);
	if (st->cpu_known) {
		snprintf(text, sizeof(text), "on CPU %.1f %%",
			 100 * (double)st->on_cpu / (double)st->cpu_known);
		add_piece(s, y, &x, FZ_LIVE_TEXT, text);
	}
	snprintf(text, sizeof(text), "waiting for it %.1f %%", 100 * (double)st->waits_gil / all);
	add_piece(s, y, &x, FZ_LIVE_TEXT, text);
	snprintf(text, sizeof(text), "GC %.1f %%", 100 * (double)st->collecting / all);
	add_piece(s, y, &x, FZ_LIVE_TEXT, text);
	if (st->exception) {
		snprintf(text, sizeof(text), "exception %.1f %%",
			 100 * (double)st->exception / all);
		add_piece(s, y, &x, FZ_LIVE_TEXT, text);
	}
}

/* ---- the table ---- */

/* Columns of the table, left to right; x is where the names begin. */
struct plan {
	bool times, total_time, bar, graph, change, arrow;
	int name_x, name_width, file_x, file_width;
};

static struct plan make_plan(const struct fz_live_view *v)
{
	int columns = v->screen.columns, x = 18;
	struct plan p = { .change = v->model.marked != 0, .arrow = v->trends };

	p.times = !p.change && columns >= 56;
	p.total_time = p.times && columns >= 100;
	p.bar = columns >= 100;
	p.graph = v->trends && columns >= 120;
	x += p.change ? 9 : 0;
	x += p.times ? 10 : 0;
	x += p.total_time ? 10 : 0;
	x += p.graph ? GRAPH_WIDTH + 1 : 0;
	x += p.bar ? BAR_WIDTH + 1 : 0;
	x += p.arrow ? 2 : 0;
	p.name_x = x;
	int left = columns - x;
	p.file_width = left >= 30 ? FZ_MAX(left * 2 / 5, 14) : 0;
	p.name_width = left - p.file_width - (p.file_width ? 1 : 0);
	p.file_x = columns - p.file_width;
	return p;
}

static void head(struct fz_live_view *v, int y, int x, int width, bool right, bool sorted,
		 const char *text)
{
	struct fz_live_screen *s = &v->screen;
	char with_mark[64];
	const char *mark = s->style.ascii ? "v" : "\xe2\x96\xbc";

	snprintf(with_mark, sizeof(with_mark), "%s%s", sorted ? mark : "", text);
	if (right)
		fz_live_print_right(s, y, x, width, FZ_LIVE_HEAD, "%s", with_mark);
	else
		fz_live_put(s, y, x, width, FZ_LIVE_HEAD, fz_str_of(with_mark));
}

static void draw_head(struct fz_live_view *v, int y, const struct plan *p)
{
	struct fz_live_screen *s = &v->screen;
	int x = 18;

	fz_live_fill(s, y, 0, s->columns, FZ_LIVE_HEAD);
	head(v, y, 1, 8, true, v->sort == FZ_LIVE_SORT_SELF, "SELF%");
	head(v, y, 9, 8, true, v->sort == FZ_LIVE_SORT_TOTAL, "TOTAL%");
	if (p->change) {
		head(v, y, x, 8, true, v->sort == FZ_LIVE_SORT_CHANGE,
		     v->by_total ? "+-TOTAL" : "+-SELF");
		x += 9;
	}
	if (p->times) {
		head(v, y, x, 9, true, false, "SELF");
		x += 10;
	}
	if (p->total_time) {
		head(v, y, x, 9, true, false, "TOTAL");
		x += 10;
	}
	if (p->bar)
		x += BAR_WIDTH + 1;
	if (p->graph || p->arrow)
		head(v, y, x, p->graph ? GRAPH_WIDTH : 2, false, v->sort == FZ_LIVE_SORT_TREND,
		     p->graph ? "TREND" : "");
	head(v, y, p->name_x, p->name_width, false, v->sort == FZ_LIVE_SORT_NAME, "FUNCTION");
	if (p->file_width)
		head(v, y, p->file_x, p->file_width, false, false, "FILE:LINE");
}

static void draw_place(struct fz_live_view *v, int y, const struct plan *p, bool selected,
		       const struct fz_function *fn)
{
	struct fz_live_screen *s = &v->screen;
	const struct fz_profile *m = v->model.mirror;
	enum fz_live_style style = selected ? FZ_LIVE_SELECTED : FZ_LIVE_TEXT;
	struct fz_str file = fz_profile_text(m, fn->file);
	char place[1024];

	if (selected)
		fz_live_fill(s, y, p->name_x, s->columns - p->name_x, style);
	fz_live_put(s, y, p->name_x, p->name_width, style, fz_profile_text(m, fn->name));
	if (!p->file_width || fn->kind == FZ_KIND_MARKER || fn->kind == FZ_KIND_TASK)
		return;
	if (file.n > sizeof(place) - 32) {
		file.p += file.n - (sizeof(place) - 32);
		file.n = sizeof(place) - 32;
	}
	if (fn->first_line > 0)
		snprintf(place, sizeof(place), "%.*s:%d", (int)file.n, file.p, fn->first_line);
	else
		snprintf(place, sizeof(place), "%.*s", (int)file.n, file.p);
	fz_live_put_end(s, y, p->file_x, p->file_width, selected ? style : FZ_LIVE_DIM,
			fz_str_of(place));
}

/* Smaller trends and changes of a share are dimmed. */
#define NOTABLE 0.02

static int draw_change(struct fz_live_view *v, int y, int x, const struct fz_live_row *r)
{
	struct fz_live_shares now = fz_live_since(&v->model, r),
			      before = fz_live_before(&v->model, r);
	double change = v->by_total ? now.total - before.total : now.self - before.self;
	enum fz_live_style style = fabs(change) < NOTABLE ? FZ_LIVE_DIM
				   : change > 0           ? FZ_LIVE_MORE
							  : FZ_LIVE_LESS;

	fz_live_print_right(&v->screen, y, x, 8, style, "%+.1f", 100 * change);
	return x + 9;
}

static void draw_trend(struct fz_live_view *v, int y, int x, const struct plan *p,
		       const struct fz_live_row *r)
{
	struct fz_live_screen *s = &v->screen;
	double trend = fz_live_trend(&v->model, r, v->by_total), history[FZ_LIVE_BINS];

	if (p->graph) {
		fz_live_history(&v->model, r, v->by_total, history);
		fz_live_graph(s, y, x, FZ_LIVE_DIM, history, FZ_LIVE_BINS);
		x += GRAPH_WIDTH + 1;
	}
	if (fabs(trend) < NOTABLE)
		return;
	const char *up = s->style.ascii ? "^" : "\xe2\x96\xb2";
	const char *down = s->style.ascii ? "v" : "\xe2\x96\xbc";
	fz_live_put(s, y, x, 1, trend > 0 ? FZ_LIVE_MORE : FZ_LIVE_LESS,
		    fz_str_of(trend > 0 ? up : down));
}

static void draw_row(struct fz_live_view *v, int y, const struct plan *p,
		     const struct fz_live_row *r, bool selected)
{
	struct fz_live_screen *s = &v->screen;
	const struct fz_live_model *m = &v->model;
	struct fz_live_shares shares = fz_live_since(m, r);
	double main_share = v->by_total ? shares.total : shares.self;
	char number[FZ_NUMBER_SIZE];
	int x = 18;

	if (selected)
		fz_live_put(s, y, 0, 1, FZ_LIVE_BOLD,
			    fz_str_of(s->style.ascii ? ">" : "\xe2\x96\xb8"));
	fz_live_print_right(s, y, 1, 8, fz_live_heat(shares.self), "%.1f", 100 * shares.self);
	fz_live_print_right(s, y, 9, 8, fz_live_heat(shares.total), "%.1f", 100 * shares.total);
	if (p->change)
		x = draw_change(v, y, x, r);
	if (p->times) {
		fz_live_print_right(s, y, x, 9, FZ_LIVE_TEXT, "%s",
				    fz_format_ns((double)r->now.self, number));
		x += 10;
	}
	if (p->total_time) {
		fz_live_print_right(s, y, x, 9, FZ_LIVE_DIM, "%s",
				    fz_format_ns((double)r->now.total, number));
		x += 10;
	}
	if (p->bar) {
		fz_live_bar(s, y, x, BAR_WIDTH, fz_live_heat(main_share), main_share);
		x += BAR_WIDTH + 1;
	}
	if (p->arrow)
		draw_trend(v, y, x, p, r);
	draw_place(v, y, p, selected, &m->mirror->functions[r->function]);
}

/* Once moved, the cursor follows its function; it is always visible. */
static void place_cursor(struct fz_live_view *v, const struct fz_live_row *const *rows, uint32_t n)
{
	if (v->chosen && v->selected != FZ_NONE)
		for (uint32_t i = 0; i < n; i++)
			if (rows[i]->function == v->selected) {
				v->row = i;
				break;
			}
	v->row = n ? FZ_MIN(v->row, n - 1) : 0;
	v->selected = n ? rows[v->row]->function : FZ_NONE;
	if (v->row < v->top)
		v->top = v->row;
	if (v->page_rows && v->row >= v->top + v->page_rows)
		v->top = v->row - v->page_rows + 1;
	if (v->top + v->page_rows > n)
		v->top = n > v->page_rows ? n - v->page_rows : 0;
}

static void draw_table(struct fz_live_view *v, int y, int height, uint32_t scope)
{
	const struct plan p = make_plan(v);
	const struct fz_live_query q = { .scope = scope,
					 .sort = v->sort,
					 .by_total = v->by_total,
					 .filter = { v->filter, v->filter_n } };
	fz_auto(fz_free_ptr) const struct fz_live_row **rows = NULL;
	uint32_t n = fz_live_rows(&v->model, &q, &rows);

	v->page_rows = (uint32_t)FZ_MAX(height - 1, 0);
	v->shown = n;
	place_cursor(v, rows, n);
	draw_head(v, y, &p);
	for (uint32_t i = 0; i < v->page_rows && v->top + i < n; i++)
		draw_row(v, y + 1 + (int)i, &p, rows[v->top + i], v->top + i == v->row);
	if (n == 0 && v->filter_n)
		fz_live_put(&v->screen, y + 1, 2, v->screen.columns, FZ_LIVE_DIM,
			    FZ_STR("no function or file contains this text"));
}

/* ---- the bottom ---- */

static void draw_keys(struct fz_live_view *v, int y)
{
	static const char *const keys[][2] = {
		{ "q", "quit" },      { "?", "help" },    { "/", "filter" }, { "s", "sort" },
		{ "Enter", "calls" }, { "t", "threads" }, { "m", "mark" },   { "p", "freeze" },
		{ "w", "save" },      { "o", "output" },  { "x", "trends" }, { "r", "reset" },
	};
	struct fz_live_screen *s = &v->screen;
	int x = 1;

	for (size_t i = 0; i < FZ_ARRAY_LEN(keys); i++) {
		int width = (int)(strlen(keys[i][0]) + strlen(keys[i][1])) + 3;
		if (x + width > s->columns)
			break;
		x += fz_live_printf(s, y, x, 10, FZ_LIVE_KEY, " %s ", keys[i][0]);
		x += fz_live_put(s, y, x, 20, FZ_LIVE_TEXT, fz_str_of(keys[i][1])) + 1;
	}
}

static void draw_bottom(struct fz_live_view *v)
{
	struct fz_live_screen *s = &v->screen;
	int y = s->rows - 1;

	if (v->typing)
		fz_live_printf(s, y, 0, s->columns, FZ_LIVE_BOLD, " Filter: %s%s", v->filter,
			       s->style.ascii ? "_" : "\xe2\x96\x8f");
	else if (v->message[0] && fz_clock_now() < v->message_until)
		fz_live_printf(s, y, 0, s->columns, FZ_LIVE_BOLD, " %s", v->message);
	else if (v->filter_n)
		fz_live_printf(s, y, 0, s->columns, FZ_LIVE_BOLD, " Only: %s   (c shows all)",
			       v->filter);
	else
		draw_keys(v, y);
}

/* ---- everything ---- */

static void draw_too_small(struct fz_live_view *v)
{
	struct fz_live_screen *s = &v->screen;

	fz_live_put(s, 0, 0, s->columns, FZ_LIVE_BOLD, FZ_STR("fizeau: window too small"));
	fz_live_printf(s, 1, 0, s->columns, FZ_LIVE_TEXT, "%dx%d, needs %dx%d; q quits", s->columns,
		       s->rows, LEAST_COLUMNS, LEAST_ROWS);
}

static void draw_page(struct fz_live_view *v)
{
	struct fz_live_screen *s = &v->screen;
	uint32_t scope = fz_live_view_scope(v);
	int y = 2, bottom = s->rows - 1;

	draw_title(v);
	draw_status(v, scope);
	if (s->rows >= 16 && v->model.last)
		draw_meters(v, y++, scope);
	int panel = v->panel ? FZ_MAX((bottom - y) / 2, 4) : 0;
	draw_table(v, y, bottom - y - panel, scope);
	if (panel)
		fz_live_view_draw_panel(v, bottom - panel, panel);
	draw_bottom(v);
}

void fz_live_view_draw(struct fz_live_view *v)
{
	erase();
	if (v->screen.columns < LEAST_COLUMNS || v->screen.rows < LEAST_ROWS)
		draw_too_small(v);
	else if (v->page == FZ_LIVE_PAGE_HELP)
		fz_live_view_draw_help(v);
	else if (v->page == FZ_LIVE_PAGE_OUTPUT)
		fz_live_view_draw_output(v);
	else
		draw_page(v);
	move(v->screen.rows - 1, 0);
	refresh();
}
