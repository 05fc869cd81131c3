/* SPDX-License-Identifier: MIT */
/* The panel of the selected function (callees, lines, bytecode), and the program's output. */
#include "live/view.h"
#include "base/clock.h"
#include "symbol/opcode.h"

#include <stdio.h>
#include <unistd.h>

#define CALLS_EVERY ((int64_t)500000000)

enum { CALLS_MAX = 200, BAR_WIDTH = 10 };

/* Counting callers and callees reads every stack, so they are not counted at each drawing. */
static void refresh_calls(struct fz_live_view *v, uint32_t scope)
{
	int64_t now = fz_clock_now();

	if (v->calls_of == v->selected && v->calls_scope == scope &&
	    now - v->calls_time < CALLS_EVERY)
		return;
	fz_live_calls_release(&v->calls);
	v->calls_of = v->selected;
	v->calls_scope = scope;
	v->calls_time = now;
	if (v->selected != FZ_NONE)
		fz_live_calls_of(&v->model, scope, v->selected, CALLS_MAX, &v->calls);
}

static struct fz_str function_name(const struct fz_live_view *v, uint32_t function)
{
	const struct fz_profile *p = v->model.mirror;

	return fz_profile_text(p, p->functions[function].name);
}

/* "── calls of leaf() ── called by work 80 %, main 20 % ──── Tab: lines " */
static void draw_heading(struct fz_live_view *v, int y, const char *what, const char *next)
{
	struct fz_live_screen *s = &v->screen;
	int x = 3;

	fz_live_rule(s, y);
	x += fz_live_printf(s, y, x, s->columns - x, FZ_LIVE_BOLD, " %s ", what);
	x += fz_live_put(s, y, x, s->columns / 2, FZ_LIVE_BOLD, function_name(v, v->selected));
	fz_live_put(s, y, x, 1, FZ_LIVE_TEXT, FZ_STR(" "));
	fz_live_print_right(s, y, x, s->columns - x - 2, FZ_LIVE_DIM, " Tab: %s ", next);
}

static void draw_callers(struct fz_live_view *v, int y)
{
	struct fz_live_screen *s = &v->screen;
	const struct fz_live_calls *c = &v->calls;
	int x = 1;

	x += fz_live_put(s, y, x, s->columns, FZ_LIVE_DIM, FZ_STR("called by "));
	for (uint32_t i = 0; i < c->caller_n && x < s->columns - 12; i++) {
		const struct fz_live_caller *caller = &c->callers[i];
		if (i)
			x += fz_live_put(s, y, x, 2, FZ_LIVE_DIM, FZ_STR(", "));
		if (caller->function == FZ_NONE)
			x += fz_live_put(s, y, x, s->columns - x, FZ_LIVE_DIM,
					 FZ_STR("(outermost function)"));
		else
			x += fz_live_put(s, y, x, s->columns - x - 8, FZ_LIVE_TEXT,
					 function_name(v, caller->function));
		x += fz_live_printf(s, y, x, s->columns - x, FZ_LIVE_DIM, " %.0f %%",
				    100 * fz_live_share(caller->total, c->total));
	}
}

static void draw_share(struct fz_live_view *v, int y, double share)
{
	struct fz_live_screen *s = &v->screen;

	fz_live_print_right(s, y, 1, 6, fz_live_heat(share), "%.1f", 100 * share);
	fz_live_bar(s, y, 8, BAR_WIDTH, fz_live_heat(share), share);
}

static void draw_calls(struct fz_live_view *v, int y, int rows)
{
	struct fz_live_screen *s = &v->screen;
	const struct fz_live_calls *c = &v->calls;

	draw_heading(v, y, "calls of", "lines");
	if (rows > 2)
		draw_callers(v, y + 1);
	for (uint32_t i = 0; i < c->call_n && (int)i + 2 < rows; i++) {
		const struct fz_live_call *call = &c->calls[i];
		int row = y + 2 + (int)i, x = 9 + BAR_WIDTH + 2 * (int)FZ_MIN(call->depth, 30u);
		draw_share(v, row, fz_live_share(call->total, c->total));
		if (call->depth)
			x += fz_live_put(s, row, x - 2, 2, FZ_LIVE_DIM,
					 fz_str_of(s->style.ascii ? "\\" : "\xe2\x94\x94")) -
			     1;
		x += fz_live_put(s, row, x, s->columns - x - 14, FZ_LIVE_TEXT,
				 function_name(v, call->function));
		if (call->self)
			fz_live_printf(s, row, x + 2, s->columns - x - 2, FZ_LIVE_DIM,
				       "self %.1f %%", 100 * fz_live_share(call->self, c->total));
	}
}

/* ---- lines ---- */

static void know_sources(struct fz_live_view *v)
{
	if (!v->sources || !v->model.pid)
		return;
	if (v->sources_pid != v->model.pid) {
		fz_sources_process(v->sources, v->model.pid, v->options->started);
		v->sources_pid = v->model.pid;
	}
	fz_sources_finish(v->sources);
}

static struct fz_str source_line(const struct fz_live_view *v, int32_t line)
{
	const struct fz_profile *p = v->model.mirror;
	const struct fz_source_text *source = fz_profile_source(p, p->functions[v->selected].file);

	if (!source || line < 1)
		return FZ_STR("");
	const char *at = source->text, *end = at + source->size;
	for (int32_t i = 1; at && i < line; i++) {
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	if (!at || at >= end)
		return FZ_STR("");
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	const char *stop = memchr(at, '\n', (size_t)(end - at));
	return (struct fz_str){ at, (size_t)((stop ? stop : end) - at) };
}

static void draw_lines(struct fz_live_view *v, int y, int rows)
{
	struct fz_live_screen *s = &v->screen;
	const struct fz_live_calls *c = &v->calls;

	know_sources(v);
	draw_heading(v, y, "lines of", c->opcode_n ? "bytecode" : "calls");
	for (uint32_t i = 0; i < c->line_n && (int)i + 1 < rows; i++) {
		const struct fz_live_line *line = &c->lines[i];
		int row = y + 1 + (int)i, x = 9 + BAR_WIDTH;
		draw_share(v, row, fz_live_share(line->total, c->total));
		if (line->line > 0)
			fz_live_print_right(s, row, x, 6, FZ_LIVE_DIM, "%d", line->line);
		fz_live_put(s, row, x + 8, s->columns - x - 8, FZ_LIVE_TEXT,
			    source_line(v, line->line));
	}
}

static void draw_opcode(struct fz_live_view *v, int y, uint8_t opcode)
{
	struct fz_live_screen *s = &v->screen;
	const struct fz_opcode *o = fz_opcode_find(v->model.python, opcode);
	const struct fz_opcode *base = o ? fz_opcode_find(v->model.python, o->base) : NULL;
	int x = 10 + BAR_WIDTH;

	if (!o) {
		fz_live_printf(s, y, x, s->columns - x, FZ_LIVE_TEXT, "instruction %u", opcode);
		return;
	}
	x += fz_live_put(s, y, x, s->columns - x, FZ_LIVE_TEXT, fz_str_of(o->name));
	if (base && o->base != opcode)
		fz_live_printf(s, y, x, s->columns - x, FZ_LIVE_DIM, " (%s)", base->name);
}

static void draw_opcodes(struct fz_live_view *v, int y, int rows)
{
	const struct fz_live_calls *c = &v->calls;
	int64_t sum = 0;

	draw_heading(v, y, "bytecode of", "calls");
	for (uint32_t i = 0; i < c->opcode_n; i++)
		sum += c->opcodes[i].self;
	for (uint32_t i = 0; i < c->opcode_n && (int)i + 1 < rows; i++) {
		draw_share(v, y + 1 + (int)i, fz_live_share(c->opcodes[i].self, sum));
		draw_opcode(v, y + 1 + (int)i, c->opcodes[i].opcode);
	}
}

void fz_live_view_draw_panel(struct fz_live_view *v, int y, int rows)
{
	if (v->selected == FZ_NONE)
		return;
	refresh_calls(v, fz_live_view_scope(v));
	if (v->panel == FZ_LIVE_PANEL_LINES)
		draw_lines(v, y, rows);
	else if (v->panel == FZ_LIVE_PANEL_OPCODES)
		draw_opcodes(v, y, rows);
	else
		draw_calls(v, y, rows);
}

/* ---- the program's output ---- */

/* The end of a file, from the start of a line on; the caller frees. */
static char *read_tail(int fd, size_t *ret_n)
{
	enum { TAIL_MAX = 64 << 10 };
	off_t end = lseek(fd, 0, SEEK_END), from = end > TAIL_MAX ? end - TAIL_MAX : 0;
	char *text = fz_malloc(TAIL_MAX + 1);
	ssize_t n = pread(fd, text, TAIL_MAX, from);

	*ret_n = n > 0 ? (size_t)n : 0;
	return text;
}

static void draw_tail(struct fz_live_view *v, const char *text, size_t n)
{
	struct fz_live_screen *s = &v->screen;
	int rows = s->rows - 3;
	const char *at = text + n, *end = at;

	if (n && at[-1] == '\n')
		end = --at;
	for (int lines = 0; at > text; at--)
		if (at[-1] == '\n' && ++lines >= rows)
			break;
	for (int y = 2; at < end && y < s->rows - 1; y++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop ? stop : end;
		fz_live_put(s, y, 1, s->columns - 1, FZ_LIVE_TEXT,
			    (struct fz_str){ at, (size_t)(stop - at) });
		at = stop + 1;
	}
}

void fz_live_view_draw_output(struct fz_live_view *v)
{
	struct fz_live_screen *s = &v->screen;
	size_t n = 0;

	fz_live_put(s, 0, 0, s->columns, FZ_LIVE_BOLD, FZ_STR(" Last output of the program"));
	if (v->options->output < 0) {
		fz_live_put(
			s, 2, 1, s->columns - 1, FZ_LIVE_DIM,
			fz_str_of(v->options->started
					  ? "it goes to fizeau's own output"
					  : "not captured: the program was not started by fizeau"));
	} else {
		fz_auto(fz_free_ptr) char *text = read_tail(v->options->output, &n);
		draw_tail(v, text, n);
		if (n == 0)
			fz_live_put(s, 2, 1, s->columns - 1, FZ_LIVE_DIM, FZ_STR("nothing yet"));
	}
	fz_live_put(s, s->rows - 1, 0, s->columns, FZ_LIVE_DIM,
		    FZ_STR(" Press any key to return; all output is printed at the end."));
}
