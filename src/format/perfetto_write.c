/* SPDX-License-Identifier: MIT */
/* Writes Perfetto's trace protobuf, for ui.perfetto.dev.
 *
 * Each thread is a track, and its samples are consecutive pieces with the length of their weight in
 * the default metric. Frames that consecutive samples share continue as one slice:
 *
 *   main;parse 3, main;parse 2, main;draw 4  ->  main 0..9, parse 0..5, draw 5..9
 *
 * Functions are interned: defined once, then referred to by number. Tracks need time: other metrics
 * are refused, except samples with a known interval.
 */
#include "format.h"

#include "metric_fit.h"
#include "import.h"
#include "wire.h"

enum { SEQUENCE = 1, CLEARED = 1, NEEDS_NAMES = 2, TYPE_BEGIN = 1, TYPE_END = 2 };

/* State of a thread. Time starts at 1, because 0 means no time. */
struct track {
	uint64_t now;
	uint32_t stack; /* the open one */
};

struct writer {
	const struct fz_profile *p;
	struct fz_output *out;
	struct track *tracks;
	uint32_t *before, *after; /* functions of two stacks, the outermost first */
	bool *named;              /* by function */
	double ns;                /* per unit of the metric */
	struct fz_buf bytes, packet, part, inner;
	uint64_t flags, main; /* main: number of the main thread */
};

static void put_in(struct fz_buf *to, uint32_t field, struct fz_buf *message)
{
	fz_wire_put_message(to, field, message);
	message->n = 0;
}

static void end_packet(struct writer *w)
{
	fz_wire_put(&w->packet, 10, SEQUENCE);
	fz_wire_put(&w->packet, 13, w->flags);
	w->flags = NEEDS_NAMES;
	put_in(&w->bytes, 1, &w->packet);
	fz_output_add(w->out, w->bytes.p, w->bytes.n);
	w->bytes.n = 0;
}

/* ---- tracks ---- */

/* Whether all threads have numbers; those without would be merged. */
static bool all_numbered(const struct fz_profile *p)
{
	for (uint32_t i = 0; i < p->thread_count; i++)
		if (!p->threads[i].tid)
			return false;
	return true;
}

/* The process of threads whose process is unknown: the main thread's id. */
static uint64_t main_number(const struct fz_profile *p)
{
	for (uint32_t i = 0; i < p->thread_count; i++)
		if (p->threads[i].is_main)
			return p->threads[i].tid;
	return p->thread_count ? p->threads[0].tid : 0;
}

static void write_track(struct writer *w, uint32_t thread, bool numbered)
{
	const struct fz_thread *t = &w->p->threads[thread];
	struct fz_str name = fz_profile_text(w->p, t->name);

	fz_wire_put(&w->part, 1, thread + 1);
	if (numbered) {
		fz_wire_put(&w->inner, 1, t->pid ? t->pid : w->main);
		fz_wire_put(&w->inner, 2, t->tid);
		if (name.n)
			fz_wire_put_bytes(&w->inner, 5, name);
		put_in(&w->part, 4, &w->inner);
	} else {
		fz_wire_put_bytes(&w->part, 2, name.n ? name : FZ_STR("thread"));
	}
	put_in(&w->packet, 60, &w->part);
	end_packet(w);
}

/* ---- slices ---- */

/* "f (file.py:3)", which readers of traces parse. */
static void put_name(struct fz_buf *b, const struct fz_profile *p, const struct fz_function *f)
{
	struct fz_str name = fz_profile_text(p, f->name), file = fz_profile_text(p, f->file);

	fz_buf_add(b, name.p, name.n);
	if (!file.n || f->first_line <= 0)
		return;
	fz_buf_str(b, " (");
	fz_buf_add(b, file.p, file.n);
	fz_buf_printf(b, ":%d)", f->first_line);
}

static void name_function(struct writer *w, uint32_t function)
{
	fz_auto(fz_buf_release) struct fz_buf name = { 0 };

	if (w->named[function])
		return;
	w->named[function] = true;
	put_name(&name, w->p, &w->p->functions[function]);
	fz_wire_put(&w->inner, 1, (uint64_t)function + 1);
	fz_wire_put_bytes(&w->inner, 2, fz_buf_view(&name));
	put_in(&w->part, 2, &w->inner);
	put_in(&w->packet, 12, &w->part);
}

static void write_slice(struct writer *w, uint32_t thread, uint64_t type, uint32_t function)
{
	if (function != FZ_NONE) {
		name_function(w, function);
		fz_wire_put(&w->part, 10, (uint64_t)function + 1);
	}
	fz_wire_put(&w->part, 9, type);
	fz_wire_put(&w->part, 11, thread + 1);
	put_in(&w->packet, 11, &w->part);
	fz_wire_put(&w->packet, 8, w->tracks[thread].now + 1);
	end_packet(w);
}

static uint32_t functions_of(const struct fz_profile *p, uint32_t stack, uint32_t *out)
{
	uint32_t depth = stack == FZ_NONE ? 0 : p->stacks[stack].depth;

	for (uint32_t i = depth; i-- > 0; stack = p->stacks[stack].parent)
		out[i] = p->frames[p->stacks[stack].frame].function;
	return depth;
}

static void change_stack(struct writer *w, uint32_t thread, uint32_t stack)
{
	struct track *t = &w->tracks[thread];
	uint32_t open = functions_of(w->p, t->stack, w->before);
	uint32_t depth = functions_of(w->p, stack, w->after), common = 0;

	while (common < open && common < depth && w->before[common] == w->after[common])
		common++;
	for (; open > common; open--)
		write_slice(w, thread, TYPE_END, FZ_NONE);
	for (uint32_t i = common; i < depth; i++)
		write_slice(w, thread, TYPE_BEGIN, w->after[i]);
	t->stack = stack;
}

/* ---- all of it ---- */

static int find_scale(struct writer *w, struct fz_error *err)
{
	const struct fz_profile *p = w->p;
	int r = fz_fit_time(p, "a Perfetto trace", &w->ns, err);

	for (size_t row = 0; row < p->samples.n && !r; row++)
		if (fz_sample_weight(p, p->default_metric, row) < 0)
			return fz_fail(err, FZ_EUNSUPPORTED,
				       "a Perfetto trace cannot store negative times");
	return r;
}

static void make_tables(struct writer *w)
{
	const struct fz_profile *p = w->p;
	uint32_t deepest = 0;

	for (uint32_t i = 0; i < p->stack_count; i++)
		deepest = FZ_MAX(deepest, p->stacks[i].depth);
	w->before = fz_calloc((size_t)deepest + 1, sizeof(*w->before));
	w->after = fz_calloc((size_t)deepest + 1, sizeof(*w->after));
	w->named = fz_calloc((size_t)p->function_count + 1, sizeof(*w->named));
	w->tracks = fz_calloc((size_t)p->thread_count + 1, sizeof(*w->tracks));
	for (uint32_t i = 0; i < p->thread_count; i++)
		w->tracks[i].stack = FZ_NONE;
}

static void release(struct writer *w)
{
	free(w->tracks);
	free(w->before);
	free(w->after);
	free(w->named);
	fz_buf_release(&w->bytes);
	fz_buf_release(&w->packet);
	fz_buf_release(&w->part);
	fz_buf_release(&w->inner);
}

int fz_perfetto_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	fz_auto(release) struct writer w = {
		.p = p, .out = out, .flags = CLEARED, .main = main_number(p)
	};
	int code = find_scale(&w, err);

	if (code)
		return code;
	make_tables(&w);
	bool numbered = all_numbered(p);
	for (uint32_t i = 0; i < p->thread_count; i++)
		write_track(&w, i, numbered);
	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t thread = p->samples.thread[row];
		int64_t weight = fz_sample_weight(p, p->default_metric, row);
		if (!weight)
			continue;
		change_stack(&w, thread, p->samples.stack[row]);
		w.tracks[thread].now += (uint64_t)fz_import_scaled_int(weight, w.ns);
	}
	for (uint32_t i = 0; i < p->thread_count; i++)
		change_stack(&w, i, FZ_NONE);
	return 0;
}
