/* SPDX-License-Identifier: MIT */
/* Variables follow the fields of a frame, in the order of the names in its code object:
 *
 *   frame {code, ..., variable, variable, ..., cell, ...} -> object
 *                                               '-> cell {object}
 *
 * A running program keeps changing. So a sample is taken, then the variables of its frames are read
 * as of one moment (pages.h), then a second sample is taken: a frame at the same place in both,
 * whose callers did not move either, was there all the time.
 *
 * Two equal copies are not enough for a value: a loop may free an object and create another at the
 * same address, over and over, so that a stale value looks the same in every iteration. So copies
 * are taken at many random moments, and a value is shown only if all agree. A stopped program is
 * read once.
 */
#include "locals.h"

#include <time.h>

#include "base/clock.h"
#include "python_state.h"
#include "value.h"

enum {
	ROUNDS_MAX = 4,
	VARIABLES_MAX = 4096,
	LOOKS = 16,             /* by chance, at most half of them agree */
	READ_PAUSE_NS = 100000, /* the longest */
};

/* Flags of cells and free variables in co_localspluskinds. */
enum { IN_CELL = 0x40 | 0x80 };

static const struct fz_py_value_limits limits[] = {
	{ .levels = 1, .items = 5, .characters = 80, .digits = 40, .bytes = 400 },
	{ .levels = 2, .items = 20, .characters = 400, .digits = 400, .bytes = 4000 },
	{ .levels = 3, .items = 100, .characters = 4000, .digits = 4000, .bytes = 40000 },
};

/* ---- lists ---- */

static void locals_reset(struct fz_locals *l)
{
	l->n = 0;
	fz_buf_reset(&l->text);
}

static void locals_release(struct fz_locals *l)
{
	free(l->list);
	fz_buf_release(&l->text);
}

static size_t add_text(struct fz_locals *l, const char *text)
{
	size_t at = l->text.n;

	fz_buf_add(&l->text, text, strlen(text) + 1);
	return at;
}

static struct fz_local *add_local(struct fz_locals *l, uint32_t depth, const char *name)
{
	fz_grow(l->list, l->n, l->cap);
	size_t at = add_text(l, name);
	l->list[l->n] = (struct fz_local){ .depth = depth, .name = at };
	return &l->list[l->n++];
}

static void set_value(struct fz_locals *l, struct fz_local *local, const char *type,
		      const char *value)
{
	local->type = add_text(l, type);
	local->value = add_text(l, value);
	local->known = true;
}

static void threads_reset(struct fz_py_locals *l)
{
	for (uint32_t i = 0; i < l->thread_n; i++) {
		struct fz_py_locals_thread *t = &l->threads[i];
		free(t->frames);
		free(t->addresses);
		free(t->ends);
		locals_release(&t->locals);
	}
	l->thread_n = 0;
}

void fz_py_locals_release(struct fz_py_locals *l)
{
	threads_reset(l);
	for (uint32_t i = 0; i < l->cap; i++)
		locals_release(&l->list[i]);
	fz_py_pages_release(&l->pages);
	free(l->threads);
	free(l->list);
	*l = (struct fz_py_locals){ 0 };
}

/* ---- the names of a code object ---- */

struct names {
	uint64_t tuples[3]; /* in the order of the variables */
	uint64_t sizes[3];
	uint64_t kinds; /* bytes object, one byte per name; 0: only the first tuple has no cells */
	uint64_t n;
};

static bool names_of(struct fz_py_value_reader *r, uint64_t code, struct names *ret)
{
	const uint32_t at[] = { r->layout->code.names, r->layout->code.cells,
				r->layout->code.frees };

	*ret = (struct names){ 0 };
	for (size_t i = 0; i < FZ_ARRAY_LEN(at); i++) {
		if (at[i] == FZ_PY_ABSENT)
			continue;
		if (!fz_py_pages_read(r->pages, code + at[i], &ret->tuples[i], 8) ||
		    !fz_py_value_tuple_size(r, ret->tuples[i], &ret->sizes[i]) ||
		    ret->sizes[i] > VARIABLES_MAX)
			return false;
		ret->n += ret->sizes[i];
	}
	return r->layout->code.kinds == FZ_PY_ABSENT ||
	       fz_py_pages_read(r->pages, code + r->layout->code.kinds, &ret->kinds, 8);
}

static bool name_at(struct fz_py_value_reader *r, const struct names *names, uint64_t i,
		    struct fz_buf *out)
{
	uint64_t object;
	size_t k = 0;

	for (; i >= names->sizes[k]; k++)
		i -= names->sizes[k];
	return fz_py_value_tuple_item(r, names->tuples[k], i, &object) &&
	       fz_py_value_name(r, object, out);
}

static bool is_in_cell(struct fz_py_value_reader *r, const struct names *names, uint64_t i)
{
	uint8_t kind = 0;

	if (!names->kinds)
		return i >= names->sizes[0];
	return fz_py_pages_read(r->pages, names->kinds + r->layout->bytes.data + i, &kind, 1) &&
	       (kind & IN_CELL);
}

/* ---- values ---- */

/* From 3.14 on the low bits of a frame's values are a tag: of an object (whether its references are
 * counted), or of a small integer stored in place of one. */
enum { TAG_MASK = 3, TAG_INT = 3, TAG_BITS = 2, TAGS_FROM = 14 };

enum found { FOUND_NOTHING, FOUND_VALUE, FOUND_TROUBLE };

/* Read the value of variable i; FOUND_NOTHING if it is unbound. */
static enum found read_variable(struct fz_py_value_reader *r, const struct names *names, uint64_t i,
				uint64_t slot, struct fz_buf *type, struct fz_buf *value)
{
	uint64_t object;

	if (!fz_py_pages_read(r->pages, slot, &object, sizeof(object)))
		return FOUND_TROUBLE;
	if (r->layout->minor >= TAGS_FROM) {
		if ((object & TAG_MASK) == TAG_INT) {
			fz_buf_str(type, "int");
			fz_buf_printf(value, "%lld", (long long)((int64_t)object >> TAG_BITS));
			return FOUND_VALUE;
		}
		object &= ~(uint64_t)TAG_MASK;
	}
	if (object && is_in_cell(r, names, i) && !fz_py_value_open_cell(r, &object))
		return FOUND_TROUBLE;
	if (!object)
		return FOUND_NOTHING;
	return fz_py_value_read(r, object, type, value) ? FOUND_VALUE : FOUND_TROUBLE;
}

/* State while reading the variables of one thread. */
struct reading {
	struct fz_py_value_reader r;
	struct fz_locals *into;
	struct fz_py_pages *pages;
	struct span {
		uint32_t from, to; /* pieces that one of the variables was read from */
	} * spans;
	uint32_t span_cap;
};

/* Add a frame's variables; only their names if `address` is 0. False if the names are unreadable.
 */
static bool read_frame(struct reading *g, uint64_t code, uint64_t address, uint32_t depth)
{
	fz_auto(fz_buf_release) struct fz_buf name = { 0 }, type = { 0 }, value = { 0 };
	uint64_t first = address + g->r.layout->frame.locals;
	struct names names;

	if (!names_of(&g->r, code, &names))
		return false;
	for (uint64_t i = 0; i < names.n; i++) {
		struct span span = { .from = g->pages->piece_n };
		fz_buf_reset(&name);
		fz_buf_reset(&type);
		fz_buf_reset(&value);
		if (!name_at(&g->r, &names, i, &name))
			return false;
		enum found found = FOUND_TROUBLE;
		if (address)
			found = read_variable(&g->r, &names, i, first + 8 * i, &type, &value);
		if (found == FOUND_NOTHING)
			continue;
		struct fz_local *local = add_local(g->into, depth, fz_buf_view(&name).p);
		if (found == FOUND_VALUE)
			set_value(g->into, local, fz_buf_view(&type).p, fz_buf_view(&value).p);
		span.to = g->pages->piece_n;
		g->spans = fz_reallocarray(g->spans, g->into->cap, sizeof(*g->spans));
		g->spans[g->into->n - 1] = span;
	}
	return true;
}

/* ---- frames ---- */

static struct reading begin(struct fz_python *py, struct fz_locals *into)
{
	py->locals.pages.process = &py->process;
	return (struct reading){
		.r = { .pages = &py->locals.pages,
		       .layout = py->layout,
		       .limits = limits[FZ_MIN(py->options.locals, FZ_ARRAY_LEN(limits)) - 1] },
		.into = into,
		.pages = &py->locals.pages,
	};
}

/* The walk that a stack comes from; NULL if its frames are uncertain, or there are none. */
static const struct fz_py_walk *walk_of(const struct fz_python *py,
					const struct fz_python_stack *stack)
{
	if (stack->rejected || stack->stack == FZ_NONE)
		return NULL;
	for (uint32_t i = 0; i < py->threads.n; i++) {
		const struct fz_py_walk *w = &py->threads.list[i].walk;
		if (py->threads.list[i].thread == stack->thread && w->now.n == w->last.n)
			return w;
	}
	return NULL;
}

static const struct fz_py_raw_frame *raw_frame(const struct fz_py_walk *w, uint32_t i)
{
	return &w->now.frames[w->now.n - 1 - i];
}

static bool is_marker(const struct fz_py_raw_frame *f)
{
	return f->code == FZ_PY_CODE_GC || f->code == FZ_PY_CODE_NATIVE;
}

static uint64_t address_of(const struct fz_py_walk *w, uint32_t i)
{
	return is_marker(raw_frame(w, i)) ? 0 : w->addresses[w->now.n - 1 - i];
}

static uint64_t code_of(const struct fz_py_raw_frame *f)
{
	return f->code & ((1ull << FZ_PY_CODE_BITS) - 1);
}

/* Is frame i of the walk, counted from the root, in the stack, and a frame of code? */
static bool is_shown(const struct fz_py_walk *w, uint32_t i)
{
	return !is_marker(raw_frame(w, i)) &&
	       w->last_stacks[i] != (i ? w->last_stacks[i - 1] : FZ_NONE);
}

static uint32_t depth_of(const struct fz_python *py, const struct fz_py_walk *w, uint32_t i)
{
	return py->into->stacks[w->last_stacks[i]].depth;
}

/* Read again at a later moment; variables that changed become unknown. Returns true if none did. */
static bool read_again(struct reading *g)
{
	bool ok = true;

	fz_py_pages_confirm(g->pages);
	for (uint32_t i = 0; i < g->into->n; i++) {
		const struct span *s = &g->spans[i];
		struct fz_local *local = &g->into->list[i];
		local->known = local->known && fz_py_pages_agree(g->pages, s->from, s->to, true);
		ok &= local->known;
	}
	return ok;
}

static bool confirm(struct reading *g)
{
	bool ok = true;

	for (unsigned i = 0; i < LOOKS; i++) {
		uint64_t pause = fz_hash64((uint64_t)fz_clock_now()) % READ_PAUSE_NS;
		nanosleep(&(struct timespec){ .tv_nsec = (long)pause }, NULL);
		ok = read_again(g);
	}
	return ok;
}

static void read_thread(struct fz_python *py, const struct fz_py_walk *w,
			struct fz_py_locals_thread *t)
{
	struct reading g = begin(py, &t->locals);
	bool done = false;

	for (unsigned round = 0; round < ROUNDS_MAX && !done; round++) {
		fz_py_pages_begin(g.pages, round == 0);
		locals_reset(&t->locals);
		for (uint32_t i = 0; i < t->n; i++) {
			if (is_shown(w, i))
				read_frame(&g, code_of(&t->frames[i]), t->addresses[i],
					   depth_of(py, w, i));
			t->ends[i] = t->locals.n;
		}
		/* The first round only collects the addresses. */
		done = py->options.stopped || (round && confirm(&g));
	}
	free(g.spans);
}

void fz_py_locals_read(struct fz_python *py)
{
	struct fz_py_locals *l = &py->locals;

	threads_reset(l);
	for (size_t k = 0; k < py->stack_n; k++) {
		const struct fz_python_stack *stack = &py->stacks[k];
		const struct fz_py_walk *w = walk_of(py, stack);
		if (!w)
			continue;
		fz_grow(l->threads, l->thread_n, l->thread_cap);
		struct fz_py_locals_thread *t = &l->threads[l->thread_n++];
		*t = (struct fz_py_locals_thread){ .thread = stack->thread, .n = w->now.n };
		t->frames = fz_calloc(t->n + 1, sizeof(*t->frames));
		t->addresses = fz_calloc(t->n + 1, sizeof(*t->addresses));
		t->ends = fz_calloc(t->n + 1, sizeof(*t->ends));
		for (uint32_t i = 0; i < t->n; i++) {
			t->frames[i] = *raw_frame(w, i);
			t->addresses[i] = address_of(w, i);
		}
		read_thread(py, w, t);
	}
}

/* ---- after the second sample ---- */

static void copy_frame(struct fz_locals *to, const struct fz_py_locals_thread *t, uint32_t i,
		       bool *torn)
{
	for (uint32_t k = i ? t->ends[i - 1] : 0; k < t->ends[i]; k++) {
		const struct fz_local *from = &t->locals.list[k];
		struct fz_local *local =
			add_local(to, from->depth, fz_locals_text(&t->locals, from->name));
		*torn |= !from->known;
		if (from->known)
			set_value(to, local, fz_locals_text(&t->locals, from->type),
				  fz_locals_text(&t->locals, from->value));
	}
}

/* Set the variables of a stack: the thread's for frames that are still the same, else names only.
 */
static void settle(struct fz_python *py, const struct fz_py_walk *w,
		   const struct fz_py_locals_thread *t, struct fz_locals *to)
{
	struct reading names = begin(py, to);
	bool same = t != NULL;

	fz_py_pages_begin(names.pages, true);
	for (uint32_t i = 0; i < w->now.n; i++) {
		const struct fz_py_raw_frame *now = raw_frame(w, i);
		same = same && i < t->n && now->code == t->frames[i].code &&
		       address_of(w, i) == t->addresses[i];
		if (same) {
			copy_frame(to, t, i, &py->locals.torn);
		} else if (is_shown(w, i)) {
			read_frame(&names, code_of(now), 0, depth_of(py, w, i));
			py->locals.torn = true;
		}
		/* If a caller moved, all frames that it called are new. */
		same = same && now->position == t->frames[i].position;
	}
	free(names.spans);
}

void fz_py_locals_settle(struct fz_python *py)
{
	struct fz_py_locals *l = &py->locals;

	l->n = 0;
	l->torn = false;
	for (size_t k = 0; k < py->stack_n; k++) {
		const struct fz_python_stack *stack = &py->stacks[k];
		const struct fz_py_walk *w = walk_of(py, stack);
		const struct fz_py_locals_thread *t = NULL;
		for (uint32_t i = 0; i < l->thread_n; i++)
			if (l->threads[i].thread == stack->thread)
				t = &l->threads[i];
		uint32_t cap = l->cap;
		fz_grow(l->list, l->n, l->cap);
		memset(l->list + cap, 0, (l->cap - cap) * sizeof(*l->list));
		struct fz_locals *to = &l->list[l->n++];
		locals_reset(to);
		if (w)
			settle(py, w, t, to);
	}
}
