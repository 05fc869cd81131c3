/* SPDX-License-Identifier: MIT */
/* The steps of a walk over a heap that an image of a few objects is enough for: the roots, and each
 * of these objects alone. Its recorder (tests/record_heap.c) takes the same steps as the test that
 * takes them again, so that the image has all that they read. */
#pragma once

#include "heap/walk.h"

/* An empty walk over the memory of w->process. */
static inline void heap_image_begin(struct fz_heap_walk *w, struct fz_process *process,
				    const struct fz_py_layout *layout, uint64_t runtime)
{
	w->process = process;
	w->layout = layout;
	w->shape = fz_heap_layout_of(layout->minor);
	w->runtime = runtime;
	w->profile = fz_profile_new();
	fz_heap_view(w);
}

static inline void heap_image_end(struct fz_heap_walk *w)
{
	fz_profile_free(w->profile);
	fz_heap_walk_release(w);
}

/* Queue what the roots of an interpreter hold. Returns how many lists the collector has. */
static inline uint32_t heap_image_roots(struct fz_heap_walk *w, uint64_t interp)
{
	uint64_t modules, heads[FZ_HEAP_LISTS];

	w->values_type =
		fz_heap_add_owner(w, FZ_STR("[attribute values]"), FZ_STR(""), 0, FZ_KIND_MARKER);
	if (!fz_heap_word(w, interp + w->layout->interp.modules, &modules) ||
	    !fz_heap_find_type_type(w, modules))
		return 0;
	fz_heap_add_modules(w, modules);
	fz_heap_add_threads(w, interp);
	return fz_heap_lists(w, interp, heads);
}

/* Forget what was queued. */
static inline void heap_image_reset(struct fz_heap_walk *w)
{
	for (uint32_t i = 0; i < w->memory.n; i++) {
		const struct fz_heap_segment *s = &w->memory.list[i];
		memset(s->seen, 0, (s->end - s->start + 511) / 512 * 8);
	}
	w->head = w->tail = 0;
}

/* Queue what one object holds, and nothing else. Returns its size, 0 if it is not an object. */
static inline uint64_t heap_image_take(struct fz_heap_walk *w, uint64_t object, uint32_t *ret_type)
{
	struct fz_heap_item item = { object, FZ_NONE, FZ_NONE };
	uint32_t type = fz_heap_type_of(w, object);

	*ret_type = type;
	heap_image_reset(w);
	uint64_t size = type == FZ_NONE ? 0 : fz_heap_size(w, &w->types[type], object);
	if (size)
		fz_heap_references(w, &item, type, size,
				   fz_heap_stack(w, FZ_NONE, w->types[type].frame));
	return size;
}
