/* SPDX-License-Identifier: MIT */
/* Roots of the search: modules and executing functions with their variables, and the heads of the
 * collector's lists. References are queued below a stack that names their root. */
#include "walk.h"

#include "record/python/object.h"

enum {
	MODULES_MAX = 1 << 16,
	THREADS_MAX = 1 << 14,
	FRAMES_MAX = 1 << 14,
	VARIABLES_MAX = 1 << 12,
	LISTS_SPAN = 192, /* bytes that contain the heads of lists */
};

/* ---- modules ---- */

struct module {
	uint64_t object;
	uint32_t owner, stack;
};

static bool read_module(struct fz_heap_walk *w, uint64_t name, uint64_t object, struct module *ret)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	if (!name || !object || !fz_py_read_text(&w->view, w->layout, name, &text))
		return false;
	uint32_t owner = fz_heap_add_owner(w, fz_buf_view(&text), FZ_STR(""), 0, FZ_KIND_PYTHON);
	*ret = (struct module){ object, owner, fz_heap_stack(w, FZ_NONE, w->types[owner].frame) };
	return true;
}

/* Queues all modules first, so that none counts as held by a module that imports it; then their
 * variables. */
void fz_heap_add_modules(struct fz_heap_walk *w, uint64_t dict)
{
	struct module *list = NULL;
	struct fz_py_entries e;
	uint64_t keys, name, object;
	uint32_t n = 0, cap = 0;

	if (!fz_heap_word(w, dict + w->layout->dict.keys, &keys) || !fz_heap_entries(w, keys, &e))
		return;
	for (uint64_t i = 0; i < FZ_MIN(e.n, (uint64_t)MODULES_MAX); i++) {
		if (!fz_heap_entry(w, &e, i, &name, &object))
			break;
		fz_grow(list, n, cap);
		n += read_module(w, name, object, &list[n]);
	}
	for (uint32_t i = 0; i < n; i++)
		fz_heap_refer(w, list[i].object, list[i].stack);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t type = fz_heap_type_of(w, list[i].object);
		if (type != FZ_NONE && w->types[type].kind == FZ_HEAP_MODULE &&
		    fz_heap_word(w, list[i].object + FZ_HEAP_MODULE_DICT, &object) && object)
			fz_heap_queue(w, object, list[i].stack, list[i].owner);
	}
	free(list);
}

/* ---- executing functions ---- */

/* Names of the variables of a code object, in consecutive tuples. */
struct names {
	uint64_t items[3], n[3];
};

static void find_names(struct fz_heap_walk *w, uint64_t code, struct names *ret)
{
	const struct fz_py_layout *l = w->layout;
	const uint32_t at[] = { l->code.names, l->code.cells, l->code.frees };
	uint64_t tuple;

	*ret = (struct names){ 0 };
	for (size_t i = 0; i < FZ_ARRAY_LEN(at); i++) {
		if (at[i] == FZ_PY_ABSENT || !fz_heap_word(w, code + at[i], &tuple) ||
		    !fz_heap_word(w, tuple + l->object.var_size, &ret->n[i]))
			continue;
		ret->items[i] = tuple + l->tuple.items;
	}
}

static bool name_at(struct fz_heap_walk *w, const struct names *names, uint64_t i, uint64_t *ret)
{
	for (size_t k = 0; k < FZ_ARRAY_LEN(names->n); k++) {
		if (i < names->n[k])
			return fz_heap_word(w, names->items[k] + i * 8, ret);
		i -= names->n[k];
	}
	return false;
}

/* Adds an executing function as the owner of its variables. */
static uint32_t add_code(struct fz_heap_walk *w, uint64_t code)
{
	const struct fz_py_layout *l = w->layout;
	fz_auto(fz_buf_release) struct fz_buf name = { 0 }, file = { 0 };
	uint64_t text;
	const uint8_t *line;
	int32_t first = 0;

	if (!fz_heap_word(
		    w, code + (l->code.qualname == FZ_PY_ABSENT ? l->code.name : l->code.qualname),
		    &text) ||
	    !fz_py_read_text(&w->view, l, text, &name) ||
	    !fz_heap_word(w, code + l->code.filename, &text) ||
	    !fz_py_read_text(&w->view, l, text, &file))
		return FZ_NONE;
	if ((line = fz_heap_memory_at(&w->memory, code + l->code.first_line, 4)))
		memcpy(&first, line, 4);
	return fz_heap_add_owner(w, fz_buf_view(&name), fz_buf_view(&file), first, FZ_KIND_PYTHON);
}

static void add_frame(struct fz_heap_walk *w, uint64_t at)
{
	const struct fz_py_layout *l = w->layout;
	uint64_t code, locals, all, word, text;
	struct names names;

	if (!fz_heap_word(w, at + l->frame.code, &code))
		return;
	code = fz_heap_untag(w, code);
	uint32_t owner = fz_heap_code_slots(w, code, &locals, &all) ? add_code(w, code) : FZ_NONE;
	if (owner == FZ_NONE)
		return;
	uint32_t stack = fz_heap_stack(w, FZ_NONE, w->types[owner].frame);
	find_names(w, code, &names);
	for (uint64_t i = 0; i < FZ_MIN(all, (uint64_t)VARIABLES_MAX); i++) {
		if (!fz_heap_word(w, at + l->frame.locals + i * 8, &word) || !word)
			continue;
		bool named = i < locals && name_at(w, &names, i, &text);
		fz_heap_queue(w, fz_heap_untag(w, word),
			      named ? fz_heap_attribute(w, owner, text, stack) : stack, FZ_NONE);
	}
	if (l->frames == FZ_PY_FRAMES_HEAP) {
		fz_heap_queue(w, at, stack, FZ_NONE);
		return;
	}
	for (uint64_t i = 0; i < l->frame.position; i += 8)
		if (fz_heap_word(w, at + i, &word) && word)
			fz_heap_queue(w, fz_heap_untag(w, word), stack, FZ_NONE);
}

/* Sets *ret to the innermost frame of a thread. */
static bool innermost(struct fz_heap_walk *w, uint64_t thread, uint64_t *ret)
{
	const struct fz_py_layout *l = w->layout;

	return fz_heap_word(w, thread + l->thread.frame, ret) &&
	       (l->frames != FZ_PY_FRAMES_CFRAME || fz_heap_word(w, *ret + l->cframe.current, ret));
}

void fz_heap_add_threads(struct fz_heap_walk *w, uint64_t interpreter)
{
	const struct fz_py_layout *l = w->layout;
	uint64_t thread, frame;

	if (!fz_heap_word(w, interpreter + l->interp.threads_head, &thread))
		return;
	for (int i = 0; thread && i < THREADS_MAX; i++) {
		if (innermost(w, thread, &frame))
			for (int n = 0; frame && n < FRAMES_MAX; n++) {
				add_frame(w, frame);
				if (!fz_heap_word(w, frame + l->frame.previous, &frame))
					break;
			}
		if (!fz_heap_word(w, thread + l->thread.next, &thread))
			break;
	}
}

/* ---- the collector's lists ---- */

/* The heads of lists need not be 8-aligned. */
bool fz_heap_links(struct fz_heap_walk *w, uint64_t at, uint64_t ret[2])
{
	const uint8_t *p = at % 4 ? NULL : fz_heap_memory_at(&w->memory, at, 16);

	if (!p)
		return false;
	memcpy(ret, p, 16);
	ret[0] &= ~3ull;
	ret[1] &= ~3ull;
	return true;
}

/* Whether a ring leads back to its head in at least one direction; it may have changed while it was
 * copied. */
static bool is_head(struct fz_heap_walk *w, uint64_t at)
{
	uint64_t head[2], next[2], previous[2];

	return fz_heap_links(w, at, head) &&
	       ((fz_heap_links(w, head[0], next) && next[1] == at) ||
		(fz_heap_links(w, head[1], previous) && previous[0] == at));
}

/* Offsets and distances of the heads differ between patch releases (3.13, 3.14), so heads are
 * recognized by their contents. */
uint32_t fz_heap_lists(struct fz_heap_walk *w, uint64_t interpreter, uint64_t ret[FZ_HEAP_LISTS])
{
	const struct fz_py_layout *l = w->layout;
	uint64_t end = l->interp.gc_collecting == FZ_PY_ABSENT
			       ? w->runtime + l->runtime.gc_collecting
			       : interpreter + l->interp.gc_collecting;
	uint32_t n = 0;

	for (uint64_t at = end - LISTS_SPAN; at < end && n < FZ_HEAP_LISTS; at += 4)
		if (is_head(w, at)) {
			ret[n++] = at;
			at += FZ_HEAP_PREFIX - 4;
		}
	return n;
}
