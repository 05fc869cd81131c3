/* SPDX-License-Identifier: MIT */
/* Tracebacks; see traceback.h.
 *
 *   Stack dump for PID 4711, thread 4713 "worker 1" (has GIL, on CPU; most recent call last):
 *     File "app.py", line 12, in handle
 *       return parse(request) + render(request)
 *              ^^^^^^^^^^^^^^
 *       request: bytes = b'GET / HTTP/1.1'
 *
 * Marks follow CPython's rule: none if they would underline the whole line, and up to the end of
 * the first line if an expression spans several. Columns are bytes of the source, marks are columns
 * of the terminal.
 */
#include "report/traceback.h"

#include "symbol/opcode.h"

#include <stdio.h>

enum { LINE_MAX_BYTES = 2000, DEPTH_MAX = 1 << 20 };

/* ---- states of a thread ---- */

static const char *const state_names[] = { "main thread",     "has GIL", "on CPU",
					   "waiting for GIL", "idle",    "has exception" };

/* Bits of the state_names that apply. */
static unsigned states_of(const struct fz_traceback *t)
{
	bool holds = t->status & FZ_STATUS_HAS_GIL, waits = t->status & FZ_STATUS_GIL_REQUESTED;
	bool on_cpu =
		(t->state & FZ_TRACEBACK_ON_CPU) ||
		(!t->state && !(t->status & FZ_STATUS_UNKNOWN) && (t->status & FZ_STATUS_ON_CPU));
	bool idle = (t->state & FZ_TRACEBACK_OFF_CPU) && !holds && !waits;
	const bool is[] = {
		t->status & FZ_STATUS_MAIN_THREAD,  holds, on_cpu && !waits, waits && !holds, idle,
		t->status & FZ_STATUS_HAS_EXCEPTION
	};
	unsigned bits = 0;

	for (size_t i = 0; i < FZ_ARRAY_LEN(is); i++)
		bits |= (unsigned)is[i] << i;
	return bits;
}

/* ---- source lines ---- */

/* Line number `line` of a stored text, without its newline. False if there is none. */
static bool source_line(const struct fz_profile *p, uint32_t file, int32_t line, struct fz_str *ret)
{
	const struct fz_source_text *source = fz_profile_source(p, file);

	if (!source || line < 1)
		return false;
	const char *at = source->text, *end = at + source->size;
	for (int32_t i = 1; at && i < line; i++) {
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	if (!at || at >= end)
		return false;
	const char *stop = memchr(at, '\n', (size_t)(end - at));
	*ret = (struct fz_str){ at, (size_t)((stop ? stop : end) - at) };
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f';
}

/* The text between two offsets in printable form: tabs become spaces, control characters are
 * escaped. */
static struct fz_str shown(struct fz_str line, size_t from, size_t to, char *out, size_t size)
{
	char plain[LINE_MAX_BYTES];
	size_t n = FZ_MIN(to, line.n) - FZ_MIN(from, line.n);

	n = FZ_MIN(n, sizeof(plain));
	for (size_t i = 0; i < n; i++)
		plain[i] = line.p[from + i] == '\t' ? ' ' : line.p[from + i];
	return (struct fz_str){ out, fz_str_printable(plain, n, out, size) };
}

/* The part of a line to mark for a frame, inside [first, last). False if there is none. */
static bool marked_part(const struct fz_frame *f, size_t first, size_t last, size_t *ret_from,
			size_t *ret_to)
{
	if (f->column < 0 || f->end_column < 0)
		return false;
	size_t from = FZ_MAX((size_t)f->column, first);
	size_t to = f->end_line == f->line ? FZ_MIN((size_t)f->end_column, last) : last;
	if (from >= to || (from == first && to == last))
		return false;
	*ret_from = from;
	*ret_to = to;
	return true;
}

static void add_source(const struct fz_profile *p, const struct fz_frame *f,
		       const struct fz_style *style, struct fz_buf *out)
{
	char text[4 * LINE_MAX_BYTES];
	struct fz_str line;
	size_t first = 0, from, to;

	if (!source_line(p, p->functions[f->function].file, f->line, &line))
		return;
	size_t last = line.n;
	while (last > 0 && is_blank(line.p[last - 1]))
		last--;
	while (first < last && is_blank(line.p[first]))
		first++;
	if (first == last)
		return;
	fz_buf_printf(out, "    %s\n", shown(line, first, last, text, sizeof(text)).p);
	if (!marked_part(f, first, last, &from, &to))
		return;
	size_t before = fz_str_columns(shown(line, first, from, text, sizeof(text)));
	size_t width = fz_str_columns(shown(line, from, to, text, sizeof(text)));
	fz_buf_printf(out, "    %*s%s", (int)before, "", fz_hue_on(style, FZ_HUE_RED));
	for (size_t i = 0; i < width; i++)
		fz_buf_char(out, '^');
	fz_buf_printf(out, "%s\n", fz_hue_off(style, FZ_HUE_RED));
}

/* ---- frames ---- */

static void add_printable(const struct fz_profile *p, uint32_t string, struct fz_buf *out)
{
	struct fz_str s = fz_profile_text(p, string);
	char safe[4096];

	fz_buf_add(out, safe, fz_str_printable(s.p, s.n, safe, sizeof(safe)));
}

/* Format "CALL_PY_EXACT_ARGS (CALL)". False if the opcode was not recorded. */
static bool opcode_name(const struct fz_traceback *t, uint8_t opcode, char *out, size_t size)
{
	const struct fz_opcode *o = fz_opcode_find(t->python, opcode);
	const struct fz_opcode *base = o ? fz_opcode_find(t->python, o->base) : NULL;

	if (opcode == FZ_NO_OPCODE)
		return false;
	if (!o)
		snprintf(out, size, "%u", opcode);
	else if (base && o->base != opcode)
		snprintf(out, size, "%s (%s)", o->name, base->name);
	else
		snprintf(out, size, "%s", o->name);
	return true;
}

static void add_frame(const struct fz_profile *p, const struct fz_traceback *t, uint32_t frame,
		      const struct fz_style *style, struct fz_buf *out)
{
	char opcode[96];
	const struct fz_frame *f = &p->frames[frame];
	const struct fz_function *fn = &p->functions[f->function];

	if (fn->kind == FZ_KIND_MARKER || fn->kind == FZ_KIND_TASK) {
		fz_buf_str(out, "  ");
		add_printable(p, fn->name, out);
		fz_buf_char(out, '\n');
		return;
	}
	fz_buf_printf(out, "  File \"%s", fz_hue_on(style, FZ_HUE_PURPLE));
	add_printable(p, fn->file, out);
	fz_buf_printf(out, "%s\", line ", fz_hue_off(style, FZ_HUE_PURPLE));
	if (f->line > 0)
		fz_buf_printf(out, "%d, in %s", f->line, fz_hue_on(style, FZ_HUE_BOLD));
	else
		fz_buf_printf(out, "?, in %s", fz_hue_on(style, FZ_HUE_BOLD));
	add_printable(p, fn->name, out);
	fz_buf_str(out, fz_hue_off(style, FZ_HUE_BOLD));
	if (opcode_name(t, f->opcode, opcode, sizeof(opcode)))
		fz_buf_printf(out, "  opcode=%s", opcode);
	fz_buf_char(out, '\n');
	add_source(p, f, style, out);
}

/* ---- variables ---- */

static void add_safe(const char *text, struct fz_buf *out)
{
	size_t n = strlen(text), room = 4 * n + 1;
	fz_auto(fz_free_ptr) char *safe = fz_malloc(room);

	fz_buf_add(out, safe, fz_str_printable(text, n, safe, room));
}

static void add_local(const struct fz_locals *l, const struct fz_local *local,
		      const struct fz_style *style, struct fz_buf *out)
{
	fz_buf_str(out, "      ");
	add_safe(fz_locals_text(l, local->name), out);
	if (!local->known) {
		fz_buf_str(out, " = ?\n");
		return;
	}
	fz_buf_printf(out, ": %s", fz_hue_on(style, FZ_HUE_DIM));
	add_safe(fz_locals_text(l, local->type), out);
	fz_buf_printf(out, "%s = ", fz_hue_off(style, FZ_HUE_DIM));
	add_safe(fz_locals_text(l, local->value), out);
	fz_buf_char(out, '\n');
}

static void add_locals(const struct fz_locals *l, uint32_t depth, const struct fz_style *style,
		       struct fz_buf *out)
{
	for (uint32_t i = 0; l && i < l->n; i++)
		if (l->list[i].depth == depth)
			add_local(l, &l->list[i], style, out);
}

static void add_locals_json(const struct fz_locals *l, uint32_t depth, struct fz_json *json)
{
	if (!l)
		return;
	fz_json_kopen(json, "locals", '[');
	for (uint32_t i = 0; i < l->n; i++) {
		const struct fz_local *local = &l->list[i];
		if (local->depth != depth)
			continue;
		fz_json_open(json, '{');
		fz_json_kstr(json, "name", fz_str_of(fz_locals_text(l, local->name)));
		if (local->known) {
			fz_json_kstr(json, "type", fz_str_of(fz_locals_text(l, local->type)));
			fz_json_kstr(json, "value", fz_str_of(fz_locals_text(l, local->value)));
		}
		fz_json_close(json, '}');
	}
	fz_json_close(json, ']');
}

/* Frames of a stack, outermost first; freed by the caller. */
static uint32_t *frames_of(const struct fz_profile *p, uint32_t stack, uint32_t *ret_n)
{
	uint32_t n = stack == FZ_NONE ? 0 : FZ_MIN(p->stacks[stack].depth, (uint32_t)DEPTH_MAX);
	uint32_t *frames = fz_calloc(n + 1, sizeof(*frames)), k = n;

	for (; stack != FZ_NONE && k > 0; stack = p->stacks[stack].parent)
		frames[--k] = p->stacks[stack].frame;
	*ret_n = n;
	return frames;
}

void fz_report_traceback(const struct fz_profile *p, const struct fz_traceback *t,
			 const struct fz_style *style, struct fz_buf *out)
{
	const struct fz_thread *thread = &p->threads[t->thread];
	unsigned states = states_of(t);
	uint32_t n;
	fz_auto(fz_free_ptr) uint32_t *frames = frames_of(p, t->stack, &n);

	fz_buf_printf(out, "Stack dump for PID %llu, thread %llu", (unsigned long long)t->pid,
		      (unsigned long long)thread->tid);
	if (fz_profile_text(p, thread->name).n) {
		fz_buf_str(out, " \"");
		add_printable(p, thread->name, out);
		fz_buf_char(out, '"');
	}
	if (thread->interp)
		fz_buf_printf(out, " of interpreter %u", thread->interp);
	fz_buf_str(out, " (");
	for (size_t i = 0, shown_n = 0; i < FZ_ARRAY_LEN(state_names); i++)
		if (states >> i & 1)
			fz_buf_printf(out, "%s%s", shown_n++ ? ", " : "", state_names[i]);
	fz_buf_printf(out, "%smost recent call last):\n", states ? "; " : "");
	for (uint32_t i = 0; i < n; i++) {
		add_frame(p, t, frames[i], style, out);
		add_locals(t->locals, i + 1, style, out);
	}
	if (n == 0)
		fz_buf_str(out, "  (runs no Python code)\n");
}

/* ---- JSON ---- */

static void add_position(struct fz_json *json, const char *key, int32_t v)
{
	if (v >= 0)
		fz_json_kint(json, key, v);
}

static void add_frame_json(const struct fz_profile *p, const struct fz_traceback *t, uint32_t frame,
			   uint32_t depth, struct fz_json *json)
{
	char opcode[96];
	const struct fz_frame *f = &p->frames[frame];
	const struct fz_function *fn = &p->functions[f->function];
	struct fz_str line;

	fz_json_open(json, '{');
	fz_json_kstr(json, "function", fz_profile_text(p, fn->name));
	if (fn->kind != FZ_KIND_MARKER && fn->kind != FZ_KIND_TASK) {
		fz_json_kstr(json, "file", fz_profile_text(p, fn->file));
		add_position(json, "line", f->line);
		add_position(json, "end_line", f->end_line);
		add_position(json, "column", f->column);
		add_position(json, "end_column", f->end_column);
		if (source_line(p, fn->file, f->line, &line) && line.n <= LINE_MAX_BYTES)
			fz_json_kstr(json, "source", line);
		if (opcode_name(t, f->opcode, opcode, sizeof(opcode)))
			fz_json_kstr(json, "opcode", fz_str_of(opcode));
		add_locals_json(t->locals, depth, json);
	}
	fz_json_close(json, '}');
}

void fz_report_traceback_json(const struct fz_profile *p, const struct fz_traceback *t,
			      struct fz_json *json)
{
	const struct fz_thread *thread = &p->threads[t->thread];
	unsigned states = states_of(t);
	uint32_t n;
	fz_auto(fz_free_ptr) uint32_t *frames = frames_of(p, t->stack, &n);

	fz_json_open(json, '{');
	fz_json_kint(json, "tid", (int64_t)thread->tid);
	fz_json_kstr(json, "name", fz_profile_text(p, thread->name));
	fz_json_kint(json, "interpreter", thread->interp);
	fz_json_kbool(json, "unreadable", t->unreadable);
	fz_json_kopen(json, "states", '[');
	for (size_t i = 0; i < FZ_ARRAY_LEN(state_names); i++)
		if (states >> i & 1)
			fz_json_str(json, fz_str_of(state_names[i]));
	fz_json_close(json, ']');
	fz_json_kopen(json, "frames", '[');
	for (uint32_t i = 0; i < n; i++)
		add_frame_json(p, t, frames[i], i + 1, json);
	fz_json_close(json, ']');
	fz_json_close(json, '}');
}
