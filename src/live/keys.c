/* SPDX-License-Identifier: MIT */
/* Key bindings. One table drives the dispatch and the help page. */
#include "live/view.h"
#include "base/clock.h"

#include <stdarg.h>
#include <stdio.h>

#define MESSAGE_NS (4000 * FZ_MS)

void fz_live_view_message(struct fz_live_view *v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(v->message, sizeof(v->message), fmt, ap);
	va_end(ap);
	v->message_until = fz_clock_now() + MESSAGE_NS;
}

/* ---- scopes ---- */

static bool is_shown_scope(const struct fz_live_view *v, const struct fz_live_scope *s)
{
	return s->kind == v->scope_kind &&
	       (s->kind == FZ_LIVE_SCOPE_ALL ||
		(s->kind == FZ_LIVE_SCOPE_PROCESS ? s->pid == v->scope_pid
						  : s->thread == v->scope_thread));
}

uint32_t fz_live_view_scope(const struct fz_live_view *v)
{
	for (uint32_t i = 0; i < v->model.scope_n; i++)
		if (is_shown_scope(v, &v->model.scopes[i]))
			return i;
	return FZ_LIVE_ALL;
}

static void show_scope(struct fz_live_view *v, uint32_t scope)
{
	const struct fz_live_scope *s = &v->model.scopes[scope];

	v->scope_kind = s->kind;
	v->scope_pid = s->pid;
	v->scope_thread = s->thread;
	v->row = v->top = 0;
	v->chosen = false;
}

static uint32_t count_scopes(const struct fz_live_view *v, enum fz_live_scope_kind kind)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->model.scope_n; i++)
		n += v->model.scopes[i].kind == kind;
	return n;
}

/* The next scope of a kind after `from`, cyclically; FZ_NONE if there is none. */
static uint32_t next_scope(const struct fz_live_view *v, enum fz_live_scope_kind kind,
			   uint32_t from, int step)
{
	uint32_t n = v->model.scope_n;

	for (uint32_t i = 1; i <= n; i++) {
		uint32_t at = step > 0 ? (from + i) % n : (from + n - i) % n;
		if (v->model.scopes[at].kind == kind)
			return at;
	}
	return FZ_NONE;
}

/* all -> processes, if there are several -> threads -> all */
static void cycle_kind(struct fz_live_view *v)
{
	static const enum fz_live_scope_kind after[] = {
		[FZ_LIVE_SCOPE_ALL] = FZ_LIVE_SCOPE_PROCESS,
		[FZ_LIVE_SCOPE_PROCESS] = FZ_LIVE_SCOPE_THREAD,
		[FZ_LIVE_SCOPE_THREAD] = FZ_LIVE_SCOPE_ALL,
	};
	enum fz_live_scope_kind kind = after[v->scope_kind];

	if (kind == FZ_LIVE_SCOPE_PROCESS && count_scopes(v, kind) < 2)
		kind = FZ_LIVE_SCOPE_THREAD;
	uint32_t scope = next_scope(v, kind, FZ_LIVE_ALL, 1);
	if (scope != FZ_NONE)
		show_scope(v, scope);
}

static void move_scope(struct fz_live_view *v, int step)
{
	if (v->scope_kind == FZ_LIVE_SCOPE_ALL) {
		uint32_t first = next_scope(v, FZ_LIVE_SCOPE_THREAD, FZ_LIVE_ALL, step);
		if (first != FZ_NONE)
			show_scope(v, first);
		return;
	}
	show_scope(v, next_scope(v, v->scope_kind, fz_live_view_scope(v), step));
}

/* ---- what keys do ---- */

static void do_quit(struct fz_live_view *v)
{
	v->quit = true;
}

static void do_suspend(struct fz_live_view *v)
{
	v->suspend = true;
}

static void do_help(struct fz_live_view *v)
{
	v->page = FZ_LIVE_PAGE_HELP;
}

static void do_output(struct fz_live_view *v)
{
	v->page = FZ_LIVE_PAGE_OUTPUT;
}

static void set_sort(struct fz_live_view *v, int step)
{
	v->sort = (enum fz_live_sort)(((int)v->sort + step + FZ_LIVE_SORTS) % FZ_LIVE_SORTS);
	if (v->sort == FZ_LIVE_SORT_CHANGE && !v->model.marked)
		v->sort =
			(enum fz_live_sort)(((int)v->sort + step + FZ_LIVE_SORTS) % FZ_LIVE_SORTS);
	if (v->sort == FZ_LIVE_SORT_TOTAL || v->sort == FZ_LIVE_SORT_SELF)
		v->by_total = v->sort == FZ_LIVE_SORT_TOTAL;
	v->chosen = false;
	v->row = v->top = 0;
}

static void do_sort(struct fz_live_view *v)
{
	set_sort(v, 1);
}

static void do_sort_back(struct fz_live_view *v)
{
	set_sort(v, -1);
}

static void do_threads(struct fz_live_view *v)
{
	cycle_kind(v);
}

static void do_left(struct fz_live_view *v)
{
	move_scope(v, -1);
}

static void do_right(struct fz_live_view *v)
{
	move_scope(v, 1);
}

static void move_row(struct fz_live_view *v, int64_t by)
{
	int64_t last = v->shown ? (int64_t)v->shown - 1 : 0;

	v->row = (uint32_t)FZ_MIN(FZ_MAX((int64_t)v->row + by, 0), last);
	v->chosen = true;
	/* Set to the function in that row when drawing. */
	v->selected = FZ_NONE;
}

static void do_down(struct fz_live_view *v)
{
	move_row(v, 1);
}

static void do_up(struct fz_live_view *v)
{
	move_row(v, -1);
}

static void do_page_down(struct fz_live_view *v)
{
	move_row(v, v->page_rows);
}

static void do_page_up(struct fz_live_view *v)
{
	move_row(v, -(int64_t)v->page_rows);
}

static void do_end(struct fz_live_view *v)
{
	move_row(v, v->shown);
}

static void do_home(struct fz_live_view *v)
{
	v->row = v->top = 0;
	v->chosen = false;
}

static void do_freeze(struct fz_live_view *v)
{
	v->frozen = !v->frozen;
}

static void do_reset(struct fz_live_view *v)
{
	if (v->ended[0]) {
		fz_live_view_message(v, "the program has ended; there are no new samples");
		return;
	}
	fz_live_model_reset(&v->model);
	v->row = v->top = 0;
	v->chosen = false;
	if (v->sort == FZ_LIVE_SORT_CHANGE)
		v->sort = FZ_LIVE_SORT_SELF;
	fz_live_view_message(v, "counts reset; the recording continues");
}

static void do_filter(struct fz_live_view *v)
{
	v->typing = true;
}

static void do_clear(struct fz_live_view *v)
{
	v->filter_n = 0;
	v->filter[0] = 0;
}

static void do_trends(struct fz_live_view *v)
{
	v->trends = !v->trends;
}

static void do_faster(struct fz_live_view *v)
{
	v->refresh = FZ_MAX(v->refresh - (v->refresh > 100 * FZ_MS ? 100 : 50) * FZ_MS, 50 * FZ_MS);
	fz_live_view_message(v, "refresh every %.2f s", (double)v->refresh / 1e9);
}

static void do_slower(struct fz_live_view *v)
{
	v->refresh =
		FZ_MIN(v->refresh + (v->refresh >= 100 * FZ_MS ? 100 : 50) * FZ_MS, 1000 * FZ_MS);
	fz_live_view_message(v, "refresh every %.2f s", (double)v->refresh / 1e9);
}

static void do_mark(struct fz_live_view *v)
{
	if (!v->model.last) {
		fz_live_view_message(v, "no samples to mark yet");
		return;
	}
	fz_live_model_mark(&v->model);
	fz_live_view_message(v, "mark set: columns show changes from now on (M removes it)");
}

static void do_unmark(struct fz_live_view *v)
{
	fz_live_model_unmark(&v->model);
	if (v->sort == FZ_LIVE_SORT_CHANGE)
		v->sort = FZ_LIVE_SORT_SELF;
}

static void do_save(struct fz_live_view *v)
{
	v->save = true;
}

static void do_panel(struct fz_live_view *v)
{
	v->panel = v->panel ? FZ_LIVE_PANEL_NONE : FZ_LIVE_PANEL_CALLS;
}

static void do_next_panel(struct fz_live_view *v)
{
	if (v->panel == FZ_LIVE_PANEL_OPCODES ||
	    (v->panel == FZ_LIVE_PANEL_LINES && v->calls.opcode_n == 0))
		v->panel = FZ_LIVE_PANEL_CALLS;
	else
		v->panel++;
}

static void do_escape(struct fz_live_view *v)
{
	if (v->panel)
		v->panel = FZ_LIVE_PANEL_NONE;
	else if (v->filter_n)
		do_clear(v);
	else
		do_home(v);
}

struct binding {
	wint_t keys[3];
	bool codes[3];    /* the key is a KEY_ constant */
	const char *name; /* in the help; NULL: described by the previous entry */
	const char *help;
	void (*act)(struct fz_live_view *v);
};

#define CONTROL(letter) ((wint_t)((letter)&31))

static const struct binding bindings[] = {
	{ { 'q', CONTROL('C') }, { 0 }, "q", "quit", do_quit },
	{ { 'h', '?' }, { 0 }, "h ?", "this help", do_help },
	{ { 's' }, { 0 }, "s S", "sort by the next or previous column", do_sort },
	{ { 'S' }, { 0 }, NULL, NULL, do_sort_back },
	{ { 'j', KEY_DOWN },
	  { 0, 1 },
	  "j k",
	  "next or previous function (also arrow keys)",
	  do_down },
	{ { 'k', KEY_UP }, { 0, 1 }, NULL, NULL, do_up },
	{ { ' ', KEY_NPAGE },
	  { 0, 1 },
	  "PgUp PgDn",
	  "page up or down (Home, End: first, last)",
	  do_page_down },
	{ { KEY_PPAGE }, { 1 }, NULL, NULL, do_page_up },
	{ { 'g', KEY_HOME }, { 0, 1 }, NULL, NULL, do_home },
	{ { 'G', KEY_END }, { 0, 1 }, NULL, NULL, do_end },
	{ { 't' }, { 0 }, "t", "all threads, or one thread at a time", do_threads },
	{ { KEY_LEFT }, { 1 }, "Left Right", "previous, next thread", do_left },
	{ { KEY_RIGHT }, { 1 }, NULL, NULL, do_right },
	{ { '/' }, { 0 }, "/", "show functions and files that contain text", do_filter },
	{ { 'c' }, { 0 }, "c", "clear that filter", do_clear },
	{ { '\n', '\r', KEY_ENTER },
	  { 0, 0, 1 },
	  "Enter",
	  "callees and callers of the selected function",
	  do_panel },
	{ { '\t' }, { 0 }, "Tab", "switch between calls, lines and bytecode", do_next_panel },
	{ { 'm' }, { 0 }, "m M", "set a mark and show changes since; remove it", do_mark },
	{ { 'M' }, { 0 }, NULL, NULL, do_unmark },
	{ { 'x' }, { 0 }, "x", "toggle trends", do_trends },
	{ { 'p' }, { 0 }, "p", "freeze the view; sampling continues", do_freeze },
	{ { 'r' }, { 0 }, "r", "reset counts", do_reset },
	{ { '+', '=' }, { 0 }, "+ -", "refresh faster or slower", do_faster },
	{ { '-' }, { 0 }, NULL, NULL, do_slower },
	{ { 'w' }, { 0 }, "w", "save the recording so far", do_save },
	{ { 'o' }, { 0 }, "o", "output of the program", do_output },
	{ { 27 }, { 0 }, "Esc", "close the panel, clear the filter, return to the top", do_escape },
	{ { CONTROL('Z') }, { 0 }, NULL, NULL, do_suspend },
	{ { CONTROL('L') }, { 0 }, NULL, NULL, NULL },
};

/* ---- typing the filter ---- */

static void erase_character(struct fz_live_view *v)
{
	while (v->filter_n > 0 && ((unsigned char)v->filter[v->filter_n - 1] & 0xc0) == 0x80)
		v->filter_n--;
	v->filter_n -= v->filter_n > 0;
	v->filter[v->filter_n] = 0;
}

static void type_key(struct fz_live_view *v, wint_t key, bool code)
{
	char utf8[4];

	if (code && key == KEY_BACKSPACE) {
		erase_character(v);
	} else if ((code && key == KEY_ENTER) || (!code && (key == '\n' || key == '\r'))) {
		v->typing = false;
	} else if (code) {
		return;
	} else if (key == 27 || key == CONTROL('C')) {
		v->typing = false;
		do_clear(v);
	} else if (key == 127 || key == 8) {
		erase_character(v);
	} else if (key == CONTROL('U')) {
		do_clear(v);
	} else if (key >= 32 && v->filter_n < FZ_LIVE_FILTER_MAX) {
		size_t n = fz_utf8_encode((uint32_t)key, utf8);
		memcpy(v->filter + v->filter_n, utf8, n);
		v->filter_n += n;
		v->filter[v->filter_n] = 0;
	}
	v->row = v->top = 0;
	v->chosen = false;
}

void fz_live_view_key(struct fz_live_view *v, wint_t key, bool code)
{
	if (v->typing) {
		type_key(v, key, code);
		return;
	}
	bool ends = !code && (key == CONTROL('C') || key == CONTROL('Z'));
	if (v->page != FZ_LIVE_PAGE_TABLE && !ends) {
		v->page = FZ_LIVE_PAGE_TABLE;
		return;
	}
	for (size_t i = 0; i < FZ_ARRAY_LEN(bindings); i++)
		for (size_t k = 0; k < FZ_ARRAY_LEN(bindings[i].keys); k++)
			if (bindings[i].keys[k] && bindings[i].keys[k] == key &&
			    bindings[i].codes[k] == code && bindings[i].act) {
				bindings[i].act(v);
				return;
			}
}

/* ---- the help page ---- */

void fz_live_view_draw_help(struct fz_live_view *v)
{
	struct fz_live_screen *s = &v->screen;
	int y = 2, x = 2, widest = 0, from = y;

	fz_live_put(s, 0, 0, s->columns, FZ_LIVE_BOLD, FZ_STR(" Keys"));
	for (size_t i = 0; i < FZ_ARRAY_LEN(bindings); i++) {
		if (!bindings[i].name)
			continue;
		/* Start a second column if the window is low. */
		if (y >= s->rows - 1 && x + widest + 20 < s->columns) {
			x += widest + 2;
			y = from;
			widest = 0;
		}
		if (y >= s->rows - 1)
			break;
		fz_live_put(s, y, x, 11, FZ_LIVE_BOLD, fz_str_of(bindings[i].name));
		int used = fz_live_put(s, y, x + 11, s->columns - x - 11, FZ_LIVE_TEXT,
				       fz_str_of(bindings[i].help));
		widest = FZ_MAX(widest, 11 + used);
		y++;
	}
	fz_live_put(s, s->rows - 1, 0, s->columns, FZ_LIVE_DIM,
		    FZ_STR(" Press any key to return to the table."));
}
