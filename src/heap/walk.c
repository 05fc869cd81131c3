/* SPDX-License-Identifier: MIT */
/* Searches all objects; see the picture in walk.h. */
#include "walk.h"

enum { INTERPRETERS_MAX = 256 };

void fz_heap_walk_release(struct fz_heap_walk *w)
{
	fz_heap_memory_release(&w->memory);
	fz_map_release(&w->by_address);
	fz_map_release(&w->attributes);
	free(w->types);
	free(w->queue);
	for (uint32_t i = 0; i < w->arena_n; i++)
		free(w->arenas[i].used);
	free(w->arenas);
	free(w->blocks);
	free(w->bytes);
	free(w->objects);
}

/* ---- the queue ---- */

static void take(struct fz_heap_walk *w, const struct fz_heap_item *item)
{
	uint32_t type = fz_heap_type_of(w, item->object);
	fz_assert(type != FZ_NONE);
	uint64_t size = fz_heap_size(w, &w->types[type], item->object);
	uint32_t stack = fz_heap_stack(w, item->stack, w->types[type].frame);

	if (!size) {
		w->changed++;
		return;
	}
	fz_heap_count(w, type, stack, size);
	fz_heap_references(w, item, type, size, stack);
}

static void add_objects(struct fz_heap_walk *w)
{
	while (w->head < w->tail) {
		struct fz_heap_item item = w->queue[w->head++];
		take(w, &item);
	}
}

static void add_all(struct fz_heap_walk *w)
{
	do
		add_objects(w);
	while (fz_heap_take_block(w));
}

/* ---- unreached objects ---- */

/* The stack of objects that no root reaches. */
static uint32_t held_by_c(struct fz_heap_walk *w)
{
	return fz_profile_stack(w->profile, FZ_NONE,
				fz_profile_frame_named(w->profile, FZ_STR("[held by C code]"),
						       FZ_STR(""), FZ_NO_LINE, FZ_KIND_MARKER));
}

/* Adds unreached objects in one of the collector's lists, forwards or backwards. If a link changed,
 * an object may be in another list, whose further objects are added, too. False if it does not lead
 * back to its head. */
static bool add_list(struct fz_heap_walk *w, uint64_t head, bool backwards, uint32_t stack)
{
	uint64_t at, link[2], previous = head, left = w->memory.bytes / FZ_HEAP_PREFIX;
	bool changed = false;

	if (!fz_heap_links(w, head, link))
		return false;
	for (at = link[backwards]; at != head && left; left--, at = link[backwards]) {
		if (!fz_heap_links(w, at, link) ||
		    !fz_heap_queue(w, at + FZ_HEAP_PREFIX, stack, FZ_NONE))
			return false;
		changed |= link[!backwards] != previous;
		add_objects(w);
		previous = at;
	}
	return !changed;
}

static void add_lists(struct fz_heap_walk *w, uint64_t interpreter, uint32_t stack)
{
	uint64_t heads[FZ_HEAP_LISTS];
	uint32_t n = fz_heap_lists(w, interpreter, heads);

	for (uint32_t i = 0; i < n; i++)
		if (!add_list(w, heads[i], false, stack)) {
			w->changed++;
			add_list(w, heads[i], true, stack);
		}
	w->changed += n < FZ_HEAP_LISTS;
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
	w->block_type =
		fz_heap_add_owner(w, FZ_STR("[memory of C code]"), FZ_STR(""), 0, FZ_KIND_MARKER);
	fz_heap_find_arenas(w);
	/* The list starts with the newest; the main interpreter is last. */
	for (uint32_t i = n; i-- > 0;)
		if (fz_heap_word(w, interpreters[i] + l->interp.modules, &modules) && modules)
			fz_heap_add_modules(w, modules);
	for (uint32_t i = n; i-- > 0;)
		fz_heap_add_threads(w, interpreters[i]);
	add_all(w);
	uint32_t stack = held_by_c(w);
	for (uint32_t i = n; i-- > 0;)
		add_lists(w, interpreters[i], stack);
	add_all(w);
	return 0;
}
