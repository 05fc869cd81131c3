/* SPDX-License-Identifier: MIT */
/* The search through all objects, and its roots; walk.h has the picture. */
#include "walk.h"

#include "heap/layout.h"
#include "record/python/object.h"

enum {
	DEPTH_MAX = 48, /* frames of a stack; longer chains of holders end there */
	MODULES_MAX = 1 << 16,
	INTERPRETERS_MAX = 256,
	THREADS_MAX = 1 << 14,
	FRAMES_MAX = 1 << 14,
	VARIABLES_MAX = 1 << 12,
	LISTS = 4,        /* of the collector: three generations, and what is never collected */
	LISTS_SPAN = 192, /* bytes that they are in */
};

void fz_heap_walk_release(struct fz_heap_walk *w)
{
	fz_heap_memory_release(&w->memory);
	fz_map_release(&w->by_address);
	fz_map_release(&w->attributes);
	free(w->types);
	free(w->queue);
	free(w->bytes);
	free(w->objects);
}

/* ---- stacks ---- */

static bool is_attribute(const struct fz_profile *p, uint32_t frame)
{
	return p->functions[p->frames[frame].function].kind == FZ_KIND_UNKNOWN;
}

/* Lists of lists, and objects linked by an attribute, stay on the stack of the first. */
uint32_t fz_heap_stack(struct fz_heap_walk *w, uint32_t parent, uint32_t frame)
{
	struct fz_profile *p = w->profile;

	if (parent != FZ_NONE) {
		const struct fz_stack *s = &p->stacks[parent];
		if (s->frame == frame)
			return parent;
		if (s->parent != FZ_NONE && p->stacks[s->parent].frame == frame &&
		    is_attribute(p, s->frame))
			return s->parent;
		while (p->stacks[parent].depth >= DEPTH_MAX)
			parent = p->stacks[parent].parent;
	}
	return fz_profile_stack(p, parent, frame);
}

uint32_t fz_heap_attribute(struct fz_heap_walk *w, uint32_t owner, uint64_t name, uint32_t stack)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	struct fz_profile *p = w->profile;
	uint64_t key = (uint64_t)owner << 44 | (name >> 3 & ((1ull << 44) - 1));
	uint32_t frame = fz_map_get(&w->attributes, key);

	if (frame == FZ_NONE) {
		struct fz_str of = fz_profile_text(p, w->types[owner].name);
		fz_buf_add(&text, of.p, of.n);
		fz_buf_char(&text, '.');
		if (!fz_py_read_text(&w->view, w->layout, name, &text))
			fz_buf_char(&text, '?');
		frame = fz_profile_frame_named(p, fz_buf_view(&text), FZ_STR(""), FZ_NO_LINE,
					       FZ_KIND_UNKNOWN);
		fz_map_put(&w->attributes, key, frame);
	}
	return fz_heap_stack(w, stack, frame);
}

void fz_heap_count(struct fz_heap_walk *w, uint32_t type, uint32_t stack, uint64_t bytes)
{
	while (stack >= w->stack_cap) {
		uint32_t cap = w->stack_cap ? w->stack_cap * 2 : 1024;
		w->bytes = fz_reallocarray(w->bytes, cap, 8);
		w->objects = fz_reallocarray(w->objects, cap, 8);
		memset(w->bytes + w->stack_cap, 0, (cap - w->stack_cap) * 8ul);
		memset(w->objects + w->stack_cap, 0, (cap - w->stack_cap) * 8ul);
		w->stack_cap = cap;
	}
	w->bytes[stack] += bytes;
	w->objects[stack]++;
	w->types[type].bytes += bytes;
	w->types[type].objects++;
}

/* ---- the queue ---- */

bool fz_heap_queue(struct fz_heap_walk *w, uint64_t object, uint32_t stack, uint32_t owner)
{
	if (fz_heap_type_of(w, object) == FZ_NONE)
		return false;
	if (!fz_heap_memory_mark(&w->memory, object))
		return true;
	if (w->tail == w->queue_cap && w->head > w->queue_cap / 2) {
		memmove(w->queue, w->queue + w->head, (w->tail - w->head) * sizeof(*w->queue));
		w->tail -= w->head;
		w->head = 0;
	}
	fz_grow(w->queue, w->tail, w->queue_cap);
	w->queue[w->tail++] = (struct fz_heap_item){ object, stack, owner };
	return true;
}

void fz_heap_refer(struct fz_heap_walk *w, uint64_t object, uint32_t stack)
{
	if (object && !fz_heap_queue(w, object, stack, FZ_NONE))
		w->changed++;
}

static void take(struct fz_heap_walk *w, const struct fz_heap_item *item)
{
	uint32_t type = fz_heap_type_of(w, item->object);
	uint64_t size = fz_heap_size(w, &w->types[type], item->object);
	uint32_t stack = fz_heap_stack(w, item->stack, w->types[type].frame);

	if (!size) {
		w->changed++;
		return;
	}
	fz_heap_count(w, type, stack, size);
	fz_heap_references(w, item, type, size, stack);
}

static void take_all(struct fz_heap_walk *w)
{
	while (w->head < w->tail) {
		struct fz_heap_item item = w->queue[w->head++];
		take(w, &item);
	}
}

/* ---- roots ---- */

static uint32_t root(struct fz_heap_walk *w, const char *name)
{
	return fz_profile_stack(w->profile, FZ_NONE,
				fz_profile_frame_named(w->profile, fz_str_of(name), FZ_STR(""),
						       FZ_NO_LINE, FZ_KIND_MARKER));
}

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

/* Modules first, so that none is held by another that imports it; then their variables. */
static void add_modules(struct fz_heap_walk *w, uint64_t dict)
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

/* Names of the variables of a code object: one tuple after the other. */
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

/* A function that runs, as the owner of its variables. */
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

/* The innermost frame of a thread. */
static bool innermost(struct fz_heap_walk *w, uint64_t thread, uint64_t *ret)
{
	const struct fz_py_layout *l = w->layout;

	return fz_heap_word(w, thread + l->thread.frame, ret) &&
	       (l->frames != FZ_PY_FRAMES_CFRAME || fz_heap_word(w, *ret + l->cframe.current, ret));
}

static void add_threads(struct fz_heap_walk *w, uint64_t interpreter)
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

/* Next and previous, whose lowest two bits are the collector's own. The heads of lists need not be
 * at a multiple of eight. */
static bool links(struct fz_heap_walk *w, uint64_t at, uint64_t ret[2])
{
	const uint8_t *p = at % 4 ? NULL : fz_heap_memory_at(&w->memory, at, 16);

	if (!p)
		return false;
	memcpy(ret, p, 16);
	ret[0] &= ~3ull;
	ret[1] &= ~3ull;
	return true;
}

/* Objects of one of the collector's lists that nothing else led to. */
static void add_list(struct fz_heap_walk *w, uint64_t head, uint32_t stack)
{
	uint64_t at, link[2], previous = head, left = w->memory.bytes / FZ_HEAP_PREFIX;

	if (!links(w, head, link))
		return;
	for (at = link[0]; at != head && left; left--, at = link[0]) {
		if (!links(w, at, link) || link[1] != previous) {
			w->changed++;
			return;
		}
		fz_heap_refer(w, at + FZ_HEAP_PREFIX, stack);
		take_all(w);
		previous = at;
	}
}

/* A ring leads back to its head, at least from one side: it may change while it is copied. */
static bool is_head(struct fz_heap_walk *w, uint64_t at)
{
	uint64_t head[2], next[2], previous[2];

	return links(w, at, head) && ((links(w, head[0], next) && next[1] == at) ||
				      (links(w, head[1], previous) && previous[0] == at));
}

/* The lists have heads somewhere before the field that says whether the collector runs. Where, and
 * what lies between them, changes from one patch release to the next (3.13, 3.14), so they are
 * found by what they are. */
static void add_lists(struct fz_heap_walk *w, uint64_t interpreter, uint32_t stack)
{
	const struct fz_py_layout *l = w->layout;
	uint64_t end = l->interp.gc_collecting == FZ_PY_ABSENT
			       ? w->runtime + l->runtime.gc_collecting
			       : interpreter + l->interp.gc_collecting;
	int n = 0;

	for (uint64_t at = end - LISTS_SPAN; at < end; at += 4)
		if (is_head(w, at)) {
			add_list(w, at, stack);
			n++;
			at += FZ_HEAP_PREFIX - 4;
		}
	w->changed += n < LISTS;
}

int fz_heap_walk(struct fz_heap_walk *w, struct fz_error *err)
{
	const struct fz_py_layout *l = w->layout;
	uint64_t interpreters[INTERPRETERS_MAX], at, modules;
	uint32_t n = 0;

	if (!fz_heap_word(w, w->runtime + l->runtime.interpreters_head, &at))
		at = 0;
	for (; at && n < INTERPRETERS_MAX; n++) {
		interpreters[n] = at;
		if (!fz_heap_word(w, at + l->interp.next, &at))
			at = 0;
	}
	if (!n || !fz_heap_word(w, interpreters[n - 1] + l->interp.modules, &modules) ||
	    !fz_heap_find_type_type(w, modules))
		return fz_fail(err, FZ_EAGAIN, "process %d changed while it was read; try again",
			       (int)w->process->pid);
	w->values_type =
		fz_heap_add_owner(w, FZ_STR("[attribute values]"), FZ_STR(""), 0, FZ_KIND_MARKER);
	/* The list begins with the newest; the main interpreter is its last. */
	for (uint32_t i = n; i-- > 0;)
		if (fz_heap_word(w, interpreters[i] + l->interp.modules, &modules) && modules)
			add_modules(w, modules);
	for (uint32_t i = n; i-- > 0;)
		add_threads(w, interpreters[i]);
	take_all(w);
	uint32_t stack = root(w, "[held by C code]");
	for (uint32_t i = n; i-- > 0;)
		add_lists(w, interpreters[i], stack);
	return 0;
}
